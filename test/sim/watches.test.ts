// Watches: who is told of which signal, that each is told once whatever happens, and what ends a watch that would never end.

import { beforeEach, describe, expect, it } from "vitest";
import { SysError } from "../../src/lib/sys-error.ts";
import type { SignalWatch } from "../../src/protocol/watch-records.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import type { Data } from "./requests.ts";
import { DAY_MS, HOUR_MS, INIT, listNotifications, listTexts, MINUTE_MS, readBlocks, SECOND_MS } from "./scheduling.ts";
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

/** A watch of root, who has processes too. Returns the process that it waits for. */
async function watchAsRoot(): Promise<string> {
  const { pid } = await world.call<{ pid: string }>("proc.spawn", { profile: "task" }, world.root);
  await world.call("signal.watch", { signal: FINISHED, processId: pid }, world.root);
  return pid;
}

/** Messages to these processes of watches are never answered. */
function neverAnswer(pids: readonly string[]): void {
  world.onProcessCall = (pid, name, { runId }) => {
    if (name === "send" && pids.includes(pid) && String(runId).startsWith("watch:")) return new Promise(() => {});
  };
}

const countRows = (table: string) => Number(world.sql.inspect(`SELECT count(*) AS count FROM ${table}`)[0]!.count);

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

  it("stays behind an earlier one that waits for the same process", async () => {
    await watch({ once: false });
    refuse(new SysError(503, "not now"));
    await work();
    refuse(null);
    await work();
    await world.pass(10 * SECOND_MS);
    await checkToldInOrder(2);
  });

  it("is refused like others of the same watch, of which the owner is told once", async () => {
    await watch({ once: false });
    refuse(new SysError(503, "not now"));
    await work(worker, 3);
    refuse(new SysError(400, "no such message"));
    await world.pass(MINUTE_MS);
    expect([countRows("signal_deliveries"), (await listWatches())[0]!.status]).toEqual([0, "failed"]);
    expect(world.heard.get(world.alice)!.filter(({ signal }) => signal === "notification.created").length).toBe(1);
  });

  it("is looked at again soon if the gateway forgets that it is being delivered", async () => {
    await watch();
    neverAnswer([INIT]);
    await world.call("proc.send", { pid: worker, message: "this takes 60000 ms" });
    // Connections are looked at every few seconds.
    for (const socketId of [world.alice, world.root]) world.cut(socketId);
    await world.pass(MINUTE_MS);
    await world.pass(SECOND_MS);
    expect(countRows("signal_deliveries")).toBe(1);
    world.wakes = 0;
    await world.pass(31 * SECOND_MS);
    expect(world.wakes).toBeGreaterThan(0);
    world.wakes = 0;
    await world.pass(31 * SECOND_MS);
    expect(world.wakes).toBeGreaterThan(0);
  });

  it("does not wait for processes that do not answer: neither of other users, nor a few of the same", async () => {
    const others = [await spawn(), await spawn()];
    for (const pid of [INIT, ...others]) await watch({ pid });
    neverAnswer([INIT, others[0]!]);
    const source = await watchAsRoot();
    await work();
    await world.call("proc.send", { pid: source, message: "work" }, world.root);
    await world.pass(SECOND_MS);
    expect([(await told(others[1])).length, (await told("init:0")).length]).toEqual([1, 1]);
  });

  it("is delivered to few processes of a user at once", async () => {
    const others: string[] = [];
    for (let at = 0; at < 10; at++) others.push(await spawn());
    for (const pid of others) await watch({ pid });
    const asked = new Set<string>();
    world.onProcessCall = (pid, name) => {
      if (name !== "send" || !others.includes(pid)) return;
      asked.add(pid);
      return new Promise(() => {});
    };
    await work();
    await world.pass(MINUTE_MS);
    expect(asked.size).toBe(4);
  });

  it("ends the watch if its owner may not send messages any more", async () => {
    await watch({ once: false });
    await world.call("proc.send", { pid: worker, message: "this takes 5000 ms" });
    await world.call("sys.capability.revoke", { gid: 100, capability: "proc.send" }, world.root);
    await world.pass(10 * SECOND_MS);
    expect(await told()).toEqual([]);
    expect(await listWatches()).toMatchObject([{ status: "failed", error: "Permission denied: proc.send" }]);
    expect((await listNotifications(world)).length).toBe(1);
  });

  it("is delivered by a watch that was replaced, as that was, and its failure is not that of the new one", async () => {
    await watch({ key: "mine", state: "old" });
    await watch({ key: "other", state: "old" });
    refuse(new SysError(503, "not now"));
    await work();
    const { watchId } = await watch({ key: "mine", state: "new", once: false });
    await watch({ key: "other", state: "new", once: false });
    let count = 0;
    world.onProcessCall = (pid, name) => {
      if (pid === INIT && name === "send" && ++count === 1) throw new SysError(400, "no such message");
    };
    await world.pass(10 * SECOND_MS);
    expect(await told()).toMatchObject([expect.stringMatching(/key other[^]*"old"/)]);
    expect(await listWatches()).toMatchObject([
      { watchId, state: "new", status: "active" },
      { state: "new", status: "active" },
    ]);
    expect(await listNotifications(world)).toMatchObject([
      { title: `A signal ${FINISHED} could not be delivered`, body: expect.stringContaining("no such message") },
    ]);
    await work();
    expect((await told()).slice(1)).toMatchObject([
      expect.stringMatching(/key mine[^]*"new"/),
      expect.stringMatching(/key other[^]*"new"/),
    ]);
    expect([countRows("signal_watches"), countRows("signal_deliveries")]).toEqual([2, 0]);
  });

  it("is stored once, without the states of the watches that it has matched", async () => {
    for (let at = 0; at < 50; at++) await watch({ state: "x".repeat(60_000), once: at % 2 === 0 });
    refuse(new SysError(503, "not now"));
    await work();
    expect(countRows("signal_deliveries")).toBe(50);
    const rows = world.sql.inspect("SELECT * FROM signal_deliveries");
    expect(JSON.stringify(rows).length).toBeLessThan(50 * 500);
    expect(countRows("signal_events")).toBe(1);
    refuse(null);
    await world.pass(MINUTE_MS);
    expect((await told()).length).toBe(50);
    expect((await told()).every((text) => readBlocks(text).length === 2)).toBe(true);
    expect([countRows("signal_deliveries"), countRows("signal_events"), countRows("signal_watches")]).toEqual([0, 0, 25]);
  });

  it("fails the watch if too many others wait, and the owner is told once for all of them", async () => {
    const { watchDeliveriesPerUser, watchesPerUser } = LIMITS;
    for (let at = 0; at < watchesPerUser; at++) await watch({ once: false });
    neverAnswer([INIT]);
    for (let left = watchDeliveriesPerUser; left > 0; left -= watchesPerUser) await work();
    expect(countRows("signal_deliveries")).toBe(watchDeliveriesPerUser);
    expect(await listNotifications(world)).toEqual([]);
    await work();
    expect(countRows("signal_deliveries")).toBe(watchDeliveriesPerUser);
    const watches = await listWatches();
    expect(watches[0]).toMatchObject({
      status: "failed",
      error: `More than ${watchDeliveriesPerUser} signals that were matched wait to be delivered`,
    });
    expect(watches.every(({ status }) => status === "failed")).toBe(true);
    expect((await listNotifications(world)).length).toBe(1);
  });

  it("does not wait longer because the clock is set back", async () => {
    await watch();
    refuse(new SysError(503, "not now"));
    await work();
    world.setClock(-HOUR_MS);
    refuse(null);
    await world.pass(MINUTE_MS);
    expect((await told()).length).toBe(1);
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

describe("all watches of a user", () => {
  it("are limited in number, and one that has expired does not make room for another with its key", async () => {
    const other = { signal: "proc.run.retrying" };
    await watch({ key: "short", ttlMs: MINUTE_MS });
    for (let at = 1; at < LIMITS.watchesPerUser; at++) await watch(other);
    await expect(watch(other)).rejects.toThrow(/^429 Too many watches/);
    await watch({ key: "short", ttlMs: MINUTE_MS });
    // It is kept for what it has matched.
    neverAnswer([INIT]);
    await work();
    await world.pass(MINUTE_MS);
    await watch(other);
    await expect(watch({ key: "short" })).rejects.toThrow(/^429 Too many watches/);
  });

  it("have states that are limited together, including those that are kept for what they have matched", async () => {
    const state = "x".repeat(63_000);
    const fit = Math.floor(LIMITS.watchBytesPerUser / 63_002);
    for (let at = 0; at < fit; at++) await watch({ state, key: `k${at}`, ttlMs: HOUR_MS });
    await expect(watch({ state })).rejects.toThrow(/^413 The states of all watches of a user are at most/);
    await watch({ state: "small" });
    await watch({ state, key: "k0", ttlMs: HOUR_MS });
    neverAnswer([INIT]);
    await work();
    // The one that was matched is still needed.
    await expect(watch({ state, key: "k0" })).rejects.toThrow(/^413/);
    world.onProcessCall = () => {};
    await world.restart(DAY_MS);
    await world.pass(MINUTE_MS);
    await watch({ state });
  });

  it("are listed in pages, which are shorter where states are long", async () => {
    const ids: string[] = [];
    for (let at = 0; at < 120; at++) ids.push((await watch({ state: "x".repeat(60_000) })).watchId);
    type Page = { watches: SignalWatch[]; count: number };
    const read = (args: Data) => world.call<Page>("signal.list", args);
    const few = await read({ limit: 3, offset: 2 });
    expect([few.count, few.watches.map(({ watchId }) => watchId)]).toEqual([120, ids.slice(2, 5)]);
    const listed: string[] = [];
    let pages = 0;
    while (listed.length < 120) {
      const page = await read({ limit: 500, offset: listed.length });
      listed.push(...page.watches.map(({ watchId }) => watchId));
      pages++;
    }
    expect([listed, pages]).toEqual([ids, 2]);
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
