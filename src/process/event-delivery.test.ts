// When a process requests a wake, and how long it retries to deliver events to the kernel: over virtual time, on a host that
// keeps its memory and on one that evicts it whenever nothing happens.

import { afterEach, expect, it } from "vitest";
import { NO_SANDBOX } from "../../test/support/sandbox.ts";
import { ScriptedKernel } from "../../test/support/scripted-kernel.ts";
import { ScriptedModels } from "../../test/support/scripted-models.ts";
import { NodeSql } from "../hosts/node/sql.ts";
import { yieldToEventLoop } from "../lib/yield.ts";
import { deferred } from "../lib/deferred.ts";
import { Events } from "./rows/events.ts";
import { ProcessActor, type ProcessResult } from "./actor.ts";

const PID = "init:1";
const DAY_MS = 24 * 60 * 60_000;
const HOUR_MS = 60 * 60_000;
const BEAT_MS = 30_000;

/** A host for one process. `forgets`: each wake and each call starts a new instance with empty memory. */
class Host {
  readonly kernel = new ScriptedKernel();
  readonly models = new ScriptedModels();
  readonly log: string[] = [];
  readonly #sql = new NodeSql(":memory:", () => {});
  readonly #forgets: boolean;
  now = 1_000_000;
  wakeAt: number | null = null;
  /** When it was woken. */
  wakes: number[] = [];
  /** How often the kernel was asked for the last number it has received. */
  asked = 0;
  #actor: ProcessActor;

  constructor(forgets: boolean) {
    this.#forgets = forgets;
    this.#actor = this.#begin();
  }

  async call<T>(name: string, args: object = {}): Promise<T> {
    const value = await this.#currentActor().call(name, args);
    await this.settled();
    return value as T;
  }

  say(text: string, runId: string): Promise<unknown> {
    return this.call("send", { message: { role: "user", text }, reason: "proc.send", runId });
  }

  state(): Promise<ProcessResult<"state">> {
    return this.call("state");
  }

  /** Adds events without a run. */
  fill(count: number): void {
    const events = new Events(this.#sql);
    for (let i = 0; i < count; i++)
      events.add("proc.changed", { pid: "p", queuedCount: 0, timestamp: this.now, changes: ["usage"] }, this.now);
  }

  /** Waits until everything under way has ended or waits. */
  async settled(): Promise<void> {
    for (let i = 0; i < 20; i++) await yieldToEventLoop();
    await this.#actor.waitForDelivery();
  }

  async pass(ms: number): Promise<void> {
    const until = this.now + ms;
    while (this.wakeAt !== null && this.wakeAt <= until) {
      this.now = Math.max(this.now, this.wakeAt);
      this.wakeAt = null;
      this.wakes.push(this.now);
      expect(this.wakes.length).toBeLessThan(5_000);
      this.#currentActor().onWake();
      await this.settled();
    }
    this.now = until;
  }

  close(): void {
    this.#actor.close();
    this.#sql.close();
  }

  /** A host evicts no process while a model answers, as long as the heartbeat runs. */
  #currentActor(): ProcessActor {
    if (this.#forgets && this.models.holds === null) {
      this.#actor.close();
      this.#actor = this.#begin();
    }
    return this.#actor;
  }

  #begin(): ProcessActor {
    const link = this.kernel.kernelPortFor(PID);
    const lastReceivedSeq = () => {
      this.asked++;
      return link.lastReceivedSeq();
    };
    const actor: ProcessActor = new ProcessActor(PID, {
      sql: this.#sql,
      models: this.models,
      sandbox: NO_SANDBOX,
      kernel: { ...link, lastReceivedSeq: lastReceivedSeq, ...(this.#forgets ? { emit: async (events) => link.emit(events) } : {}) },
      now: () => this.now,
      uuid: () => crypto.randomUUID(),
      archiveRoot: () => "/var/sessions/sam/1",
      wakeAt: (ms) => (this.wakeAt = ms),
      ...(this.#forgets ? { heartbeatMs: BEAT_MS } : {}),
      log: (message) => this.log.push(message),
    });
    return actor;
  }
}

let host: Host;
afterEach(() => host.close());

const HOSTS = [
  ["keeps memory", false],
  ["evicts memory", true],
] as const;

it.each(HOSTS)("requests no wake once its work is done, nor for reads: host %s", async (_, forgets) => {
  host = new Host(forgets);
  await host.state();
  expect(host.wakeAt).toBe(null);
  await host.say("hello", "r1");
  expect(host.kernel.ends(PID)).toEqual([["r1", "heard hello"]]);
  expect(host.wakeAt).toBe(null);
  await host.call("history");
  await host.call("follow", { after: null });
  await host.call("wake");
  expect(host.wakeAt).toBe(null);
  const { asked } = host;
  await host.pass(DAY_MS);
  expect([host.wakes, host.asked]).toEqual([[], asked]);
  expect(host.log).toEqual([]);
});

it("gets a heartbeat while it works if the host may evict it, and none after", async () => {
  host = new Host(true);
  host.models.holds = deferred();
  await host.say("think", "r1");
  expect(host.wakeAt).toBe(host.now + BEAT_MS);
  await host.pass(10 * BEAT_MS);
  expect(host.wakes).toHaveLength(10);
  host.models.holds.resolve();
  await host.settled();
  expect(host.kernel.ends(PID)).toEqual([["r1", "heard think"]]);
  expect(host.wakeAt).toBe(null);
});

it("delivers events without a run, and sleeps again", async () => {
  host = new Host(true);
  await host.call("openConversation", { title: "another" });
  expect(host.kernel.events(PID).map(({ signal }) => signal)).toEqual(["proc.changed"]);
  expect(host.wakeAt).toBe(null);
});

it.each(HOSTS)(
  "stops retrying if the kernel always refuses, logs it, and delivers everything at the next contact: host %s",
  async (_, forgets) => {
    host = new Host(forgets);
    host.kernel.isFull = true;
    await host.say("hello", "r1");
    expect(host.wakeAt).not.toBe(null);
    await host.pass(HOUR_MS / 2);
    const tries = host.wakes.length;
    expect(tries).toBeGreaterThan(5);
    await host.pass(7 * DAY_MS);
    expect(host.wakes.length).toBeLessThan(20);
    expect(host.wakes.at(-1)! - 1_000_000).toBeLessThan(3 * HOUR_MS);
    const waits = host.wakes.slice(1).map((at, index) => at - host.wakes[index]!);
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(host.wakeAt).toBe(null);
    expect(host.log).toContain("gave up delivering events until the kernel's next call");
    // A contact is one attempt and schedules no more of them. An instance that has not tried yet does not know what an earlier
    // one could not deliver.
    const { undelivered } = await host.state();
    if (!forgets) expect(undelivered).toMatchObject({ nextTryAt: null });
    await host.pass(DAY_MS);
    expect(host.wakeAt).toBe(null);
    expect(host.kernel.events(PID)).toEqual([]);

    host.kernel.isFull = false;
    await host.call("history");
    expect(host.kernel.ends(PID)).toEqual([["r1", "heard hello"]]);
    const seqs = host.kernel.events(PID).map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_seq, at) => at + 1));
    expect((await host.state()).undelivered).toBe(null);
    expect(host.wakeAt).toBe(null);
    if (!forgets) expect(host.log.at(-1)).toBe("delivered the events that had been given up");
  },
);

it("retries soon if a new event follows after the retries ended", async () => {
  host = new Host(false);
  host.kernel.isFull = true;
  await host.say("hello", "r1");
  await host.pass(DAY_MS);
  expect(host.wakeAt).toBe(null);
  await host.say("again", "r2");
  expect(host.wakeAt).toBeLessThanOrEqual(host.now + 5_000);
  host.kernel.isFull = false;
  await host.pass(5_000);
  expect(host.kernel.ends(PID)).toEqual([
    ["r1", "heard hello"],
    ["r2", "heard again"],
  ]);
  expect(host.wakeAt).toBe(null);
});

it("delivers the events that are kept if older ones were pruned while the kernel was unreachable", async () => {
  host = new Host(true);
  host.fill(2_400);
  await host.call("history");
  const seqs = host.kernel.events(PID).map(({ seq }) => seq);
  expect([seqs[0], seqs.at(-1), seqs.length]).toEqual([401, 2_400, 2_000]);
});
