// Watches: who is told of which signal, that each is told once whatever happens, and what ends a watch that would never end.

import { beforeEach, describe, expect, it } from "vitest";
import { SysError } from "../../src/lib/sys-error.ts";
import type { SignalWatch } from "../../src/protocol/watch-records.ts";
import type { Data } from "./requests.ts";
import { DAY_MS, INIT, listNotifications, listTexts, MINUTE_MS, readBlocks, SECOND_MS } from "./scheduling.ts";
import { type DeathPoint, TimedWorld } from "./timed-world.ts";

const FINISHED = "proc.run.finished";

let world: TimedWorld;
/** A process of Alice. */
let worker: string;

beforeEach(async () => {
  world = await TimedWorld.make();
  worker = await spawn();
});

async function spawn(): Promise<string> {
  return (await world.call<{ pid: string }>("proc.spawn", { profile: "task" })).pid;
}

function watch(args: Data = {}): Promise<{ watchId: string; created: boolean; expiresAt: number }> {
  return world.call("signal.watch", { signal: FINISHED, processId: worker, ...args });
}

async function listWatches(): Promise<SignalWatch[]> {
  return (await world.call<{ watches: SignalWatch[] }>("signal.list")).watches;
}

/** The process answers the messages, together or one by one. */
async function work(pid = worker, count = 1): Promise<void> {
  for (let at = 0; at < count; at++) await world.call("proc.send", { pid, message: `work ${at}` });
  await world.pass(SECOND_MS);
}

const told = async (pid = INIT) => (await listTexts(world, pid)).filter((text) => text.startsWith("[process event: signal.watch]"));

async function checkToldInOrder(count: number): Promise<void> {
  const times = (await told()).map((text) => Number(readBlocks(text)[0]!.timestamp));
  expect(times.length).toBe(count);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
}

describe("a watch", () => {
  it("tells a process of one signal, with its payload and what the watch remembers, and ends", async () => {
    const { watchId } = await watch({ key: "notes", state: { step: 2 } });
    await work();
    await work();
    const [text, ...others] = await told();
    expect(others).toEqual([]);
    expect(text).toContain(`Process ${worker} has emitted ${FINISHED}, which you watch since 2026-01-05T08:00:00`);
    expect(text).toContain(`Watch: ${watchId} (key notes).`);
    expect(text).toMatch(/State of the watch:[^]*Payload:/);
    expect(readBlocks(text!)).toEqual([{ step: 2 }, expect.objectContaining({ pid: worker, status: "ok", text: "done" })]);
    expect(await listWatches()).toEqual([]);
    // The process has answered it.
    expect(JSON.stringify(await world.call("proc.history", { pid: INIT }))).toContain("done");
  });

  it("that repeats tells of every signal, in their order", async () => {
    await watch({ once: false });
    for (let at = 0; at < 5; at++) await work();
    await checkToldInOrder(5);
    expect(await listWatches()).toMatchObject([{ status: "active", once: false }]);
  });

  it("with the same key replaces the one before", async () => {
    const first = await watch({ key: "mine", state: "old" });
    const second = await watch({ key: "mine", state: "new", once: false });
    expect([first.created, second.created, second.watchId === first.watchId]).toEqual([true, false, true]);
    await work();
    expect(await told()).toMatchObject([expect.stringContaining('"new"')]);
  });

  it("ends after a day, or when it says", async () => {
    const { expiresAt } = await watch();
    expect(expiresAt - world.now).toBeGreaterThan(DAY_MS - SECOND_MS);
    const other = await watch({ key: "short", ttlMs: MINUTE_MS, once: false });
    expect(other.expiresAt - world.now).toBeLessThanOrEqual(MINUTE_MS);
    await world.pass(MINUTE_MS);
    expect((await listWatches()).length).toBe(1);
    await world.pass(DAY_MS);
    await work();
    expect([await told(), await listWatches()]).toEqual([[], []]);
  });

  it("for all processes does not tell a process of itself", async () => {
    await world.call("signal.watch", { signal: FINISHED, once: false });
    await expect(world.call("signal.watch", { signal: FINISHED, processId: INIT })).rejects.toThrow(
      "A process cannot watch its own signals",
    );
    await work(INIT);
    expect(await told()).toEqual([]);
    await work();
    expect((await told()).length).toBe(1);
  });

  it("that was removed tells nothing", async () => {
    const { watchId } = await watch();
    await watch({ key: "mine" });
    expect(await world.call("signal.unwatch", { watchId })).toEqual({ removed: 1 });
    expect(await world.call("signal.unwatch", { key: "mine" })).toEqual({ removed: 1 });
    await work();
    expect(await told()).toEqual([]);
  });

  it("of a process is for itself and for one other process", async () => {
    const made = await world.callAs(worker, "signal.watch", { signal: FINISHED, processId: INIT, state: { why: "curious" } });
    expect(made).toMatchObject({ created: true });
    await expect(world.callAs(worker, "signal.watch", { signal: FINISHED })).rejects.toThrow("Name the process to watch");
    await expect(world.callAs(worker, "signal.watch", { signal: FINISHED, processId: INIT, pid: await spawn() })).rejects.toThrow(
      "A process can watch only for itself",
    );
    await work(INIT);
    expect(await told(worker)).toMatchObject([expect.stringContaining("curious")]);
  });

  it("does not show what other users' processes do", async () => {
    await world.call("signal.watch", { signal: FINISHED, once: false });
    await world.call("proc.send", { message: "hello" }, world.root);
    await world.pass(SECOND_MS);
    expect(await told()).toEqual([]);
    await expect(watch({ processId: "init:0" })).rejects.toThrow("404 Unknown process: init:0");
  });
});

describe("a signal that was matched", () => {
  const refuse = (error: Error | null) => {
    world.onProcessCall = (pid, name) => {
      if (error !== null && pid === INIT && name === "send") throw error;
    };
  };

  it("is delivered after a restart, once", async () => {
    await watch();
    refuse(new SysError(503, "not now"));
    await work();
    await world.pass(MINUTE_MS);
    expect(await told()).toEqual([]);
    refuse(null);
    await world.restart(MINUTE_MS);
    await world.pass(SECOND_MS);
    expect((await told()).length).toBe(1);
    await world.restart();
    await world.pass(MINUTE_MS);
    expect([(await told()).length, await listWatches()]).toEqual([1, []]);
  });

  it.each(["before the message", "after the message", "before the outcome is durable"] satisfies DeathPoint[])(
    "is delivered once by a gateway that dies %s",
    async (point) => {
      await watch();
      await world.call("proc.send", { pid: worker, message: "this takes 100 ms" });
      await world.passToDeath(point);
      await world.start();
      await world.pass(10 * SECOND_MS);
      expect([(await told()).length, await listWatches()]).toEqual([1, []]);
    },
  );

  it("waits while the process cannot be reached, and the next ones behind it", async () => {
    await watch({ once: false });
    refuse(new SysError(503, "not now"));
    await work(worker, 3);
    await world.pass(10 * MINUTE_MS);
    refuse(null);
    await world.pass(10 * SECOND_MS);
    await checkToldInOrder(3);
  });

  it.each([
    ["that is refused", async () => refuse(new SysError(400, "no such message")), "no such message"],
    ["for a locked user", () => world.call("sys.user.lock", { username: "alice", locked: true }, world.root), "the owner is locked"],
  ])("and %s ends the watch, and its owner is told", async (_, prevent, why) => {
    await watch({ once: false });
    await world.call("proc.send", { pid: worker, message: "this takes 5000 ms" });
    await prevent();
    await world.pass(10 * SECOND_MS);
    refuse(null);
    await world.call("sys.user.lock", { username: "alice", locked: false }, world.root);
    world.alice = await world.enter("alice");
    expect(await listWatches()).toMatchObject([{ status: "failed", error: expect.stringContaining(why) }]);
    expect(await listNotifications(world)).toMatchObject([
      { title: `A watch for ${FINISHED} has failed`, body: expect.stringContaining(why), level: "warning" },
    ]);
    await work();
    expect(await told()).toEqual([]);
  });

  it("does not keep the gateway busy while the disk is full", async () => {
    await watch();
    await world.call("proc.send", { pid: worker, message: "this takes 5000 ms" });
    await world.pass(SECOND_MS);
    world.isDiskFull = true;
    world.wakes = 0;
    await world.pass(MINUTE_MS);
    expect(world.wakes).toBeLessThan(100);
    world.isDiskFull = false;
    await world.pass(2 * MINUTE_MS);
    expect((await told()).length).toBe(1);
  });
});

describe("a watch that would never end", () => {
  it.each([FINISHED, "proc.changed"])("because two processes watch each other for %s stops, and its owner is told", async (signal) => {
    await watch({ signal, once: false });
    await watch({ signal, processId: INIT, pid: worker, once: false });
    await work();
    await world.pass(10 * MINUTE_MS);
    const watches = await listWatches();
    expect(watches.some(({ status }) => status === "failed")).toBe(true);
    expect((await listNotifications(world))[0]!.title).toBe(`A watch for ${signal} has failed`);
    const counts = async () => [(await listTexts(world, INIT)).length, (await listTexts(world, worker)).length];
    const before = await counts();
    expect(Math.max(...before)).toBeLessThan(signal === FINISHED ? 10 : 100);
    await world.pass(10 * MINUTE_MS);
    expect(await counts()).toEqual(before);
  });

  it("because it matches more than 60 signals in a minute fails with the next one", async () => {
    await watch({ once: false });
    await world.passTo(world.now + MINUTE_MS - (world.now % MINUTE_MS));
    await work(worker, 60);
    expect((await told()).length).toBe(60);
    expect(await listWatches()).toMatchObject([{ status: "active" }]);
    await work();
    expect((await told()).length).toBe(60);
    expect(await listWatches()).toMatchObject([{ status: "failed", error: "It matched more than 60 signals in a minute" }]);
    expect((await listNotifications(world)).length).toBe(1);
  });

  it("goes on if its signals are spread over more than a minute", async () => {
    await watch({ once: false });
    for (let minute = 0; minute < 3; minute++) {
      await work(worker, 40);
      await world.pass(MINUTE_MS);
    }
    expect([(await told()).length, (await listWatches())[0]!.status]).toEqual([120, "active"]);
  });
});
