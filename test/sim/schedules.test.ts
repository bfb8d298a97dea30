// Schedules while the gateway is up: when they run, what becomes of it, what waits for what, and with whose rights.

import { beforeEach, describe, expect, it } from "vitest";
import { SysError } from "../../src/lib/sys-error.ts";
import type { ScheduleExpression } from "../../src/protocol/schedule-records.ts";
import {
  addSchedule,
  countTexts,
  DAY_MS,
  endRuns,
  EVERY_MINUTE,
  findSchedule,
  HOUR_MS,
  INIT,
  listNotifications,
  listPids,
  listRuns,
  listTexts,
  MINUTE_MS,
  readBlocks,
  sayAlone,
  SECOND_MS,
  tellInit,
} from "./scheduling.ts";
import { START_MS, TimedWorld } from "./timed-world.ts";

let world: TimedWorld;

beforeEach(async () => {
  world = await TimedWorld.make();
});

/** Each runs next ten minutes after the start. */
const KINDS: readonly { expression: () => ScheduleExpression; isOnce: boolean }[] = [
  { expression: () => ({ kind: "at", atMs: START_MS + 10 * MINUTE_MS }), isOnce: true },
  { expression: () => ({ kind: "after", afterMs: START_MS + 10 * MINUTE_MS - world.now }), isOnce: true },
  { expression: () => ({ kind: "every", everyMs: 10 * MINUTE_MS, anchorMs: START_MS }), isOnce: false },
  { expression: () => ({ kind: "cron", expr: "*/10 * * * *", timezone: "Europe/Berlin" }), isOnce: false },
];
const named = KINDS.map((kind) => [["at", "after", "every", "cron"][KINDS.indexOf(kind)]!, kind] as const);

describe("a schedule", () => {
  it.each(named)("of kind %s runs at its time, once, and its run ends with the run of its process", async (_, { expression, isOnce }) => {
    const id = await addSchedule(world, expression(), { target: sayAlone("this takes 7000 ms") });
    const dueAt = (await findSchedule(world, id)).state.nextRunAtMs!;
    expect(dueAt - START_MS - 10 * MINUTE_MS).toBeLessThan(10);
    await world.passTo(dueAt - 1);
    expect(await listPids(world)).toEqual([]);
    await world.passTo(dueAt + 6 * SECOND_MS);
    const [running, ...others] = await listRuns(world, id);
    expect(others).toEqual([]);
    expect(running).toMatchObject({ dueAtMs: dueAt, status: "running", finishedAtMs: null, pid: (await listPids(world))[0], missed: 0 });
    expect(running!.startedAtMs - dueAt).toBeLessThan(10);
    expect((await findSchedule(world, id)).state).toMatchObject({ runningAtMs: running!.startedAtMs, lastStatus: null });
    await world.passTo(dueAt + 8 * SECOND_MS);
    const [ended] = await listRuns(world, id);
    expect(ended).toMatchObject({ runId: running!.runId, status: "ok", error: null, summary: "done" });
    const lastDurationMs = ended!.finishedAtMs! - running!.startedAtMs;
    expect(lastDurationMs).toBeGreaterThanOrEqual(7_000);
    expect(lastDurationMs).toBeLessThan(7_020);
    const schedule = await findSchedule(world, id);
    const nextRunAtMs = isOnce ? null : dueAt + 10 * MINUTE_MS;
    expect(schedule).toMatchObject({ enabled: !isOnce, state: { nextRunAtMs, runningAtMs: null, lastStatus: "ok", lastDurationMs } });
    expect(await countTexts(world, "takes 7000")).toBe(1);
    await world.passTo(dueAt + 11 * MINUTE_MS);
    expect((await listRuns(world, id)).map(({ dueAtMs }) => dueAtMs! - dueAt)).toEqual(isOnce ? [0] : [0, 10 * MINUTE_MS]);
  });

  it.each(named)("of kind %s whose model fails records the error, and runs on only if it repeats", async (_, { expression, isOnce }) => {
    const id = await addSchedule(world, expression(), { target: tellInit("this fails") });
    await world.passTo(START_MS + 10 * MINUTE_MS + SECOND_MS);
    expect(await listRuns(world, id)).toMatchObject([{ status: "error", error: "The key was refused", summary: null, pid: INIT }]);
    const { enabled, state } = await findSchedule(world, id);
    expect([enabled, state.lastStatus, state.lastError]).toEqual([!isOnce, "error", "The key was refused"]);
    expect(await listNotifications(world)).toMatchObject([
      { title: "Schedule failed: report", body: "The key was refused", level: "error" },
    ]);
  });

  it("keeps its beat, however long its runs take", async () => {
    const id = await addSchedule(world, { kind: "every", everyMs: 10 * SECOND_MS }, { target: tellInit("this takes 9000 ms") });
    const first = (await findSchedule(world, id)).state.nextRunAtMs!;
    await world.pass(10 * MINUTE_MS);
    const runs = await listRuns(world, id);
    expect(runs.map(({ dueAtMs }) => dueAtMs! - first)).toEqual(Array.from({ length: 60 }, (_, at) => at * 10 * SECOND_MS));
    expect(runs.every(({ dueAtMs, startedAtMs }) => startedAtMs - dueAtMs! < 10)).toBe(true);
  });

  it("keeps its beat while it is disabled, and runs none of the times in between", async () => {
    const id = await addSchedule(world, EVERY_MINUTE);
    const first = (await findSchedule(world, id)).state.nextRunAtMs!;
    await world.call("sched.update", { id, patch: { enabled: false } });
    await world.pass(10.5 * MINUTE_MS);
    await world.call("sched.update", { id, patch: { enabled: true } });
    await world.pass(MINUTE_MS);
    expect((await listRuns(world, id)).map(({ dueAtMs }) => dueAtMs! - first)).toEqual([10 * MINUTE_MS]);
  });

  it("tells a process what it is about, and appends its data", async () => {
    await addSchedule(world, EVERY_MINUTE, { target: { ...tellInit("look at the mail"), data: { folder: "inbox" } } });
    await world.pass(61 * SECOND_MS);
    const [text] = await listTexts(world, INIT);
    expect(text).toMatch(/^\[process event: schedule\.event\] Schedule "report" .* has fired\.\nScheduled for: 2026-01-05T08:01/);
    expect(text).toContain("\nlook at the mail\n");
    expect(readBlocks(text!)).toEqual([{ folder: "inbox" }]);
  });

  it("that is removed while it works does not run again, and its process goes on", async () => {
    const id = await addSchedule(world, EVERY_MINUTE, { target: sayAlone("this waits") });
    await world.pass(61 * SECOND_MS);
    const [pid] = await listPids(world);
    await world.call("sched.remove", { id });
    world.models.release();
    await world.pass(5 * MINUTE_MS);
    expect(await listPids(world)).toEqual([pid]);
    expect(JSON.stringify(await world.call("proc.history", { pid: pid! }))).toContain("done");
    expect(world.incidents).toEqual([]);
  });
});

describe("a time at which the run before is still at work", () => {
  it("is skipped, and all of them are one entry of the history", async () => {
    const id = await addSchedule(world, { kind: "every", everyMs: 10 * SECOND_MS }, { target: sayAlone("this waits") });
    await world.pass(65 * SECOND_MS);
    const [run, skipped, ...others] = await listRuns(world, id);
    expect(others).toEqual([]);
    expect(run).toMatchObject({ status: "running" });
    expect(skipped).toMatchObject({ status: "skipped", error: "The run before was still at work", missed: 5, pid: null });
    expect((await findSchedule(world, id)).state.lastStatus).toBe("skipped");
    world.models.release();
    await world.pass(6 * SECOND_MS);
    expect((await listRuns(world, id)).map(({ status }) => status)).toEqual(["ok", "skipped", "running"]);
    expect(await countTexts(world, "this waits")).toBe(2);
    // What the next run skips is an entry of its own.
    await world.pass(20 * SECOND_MS);
    expect((await listRuns(world, id)).map(({ status, missed }) => `${status} ${missed}`)).toEqual([
      "ok 0",
      "skipped 5",
      "running 0",
      "skipped 2",
    ]);
  });

  it("waits if it is the only one", async () => {
    const atMs = world.now + MINUTE_MS;
    const id = await addSchedule(world, { kind: "at", atMs }, { target: sayAlone("this waits"), catchUp: "skip" });
    await world.call("sched.run", { id, mode: "force" });
    await world.pass(5 * MINUTE_MS);
    expect(await listRuns(world, id)).toMatchObject([{ status: "running", dueAtMs: null }]);
    world.models.release();
    await world.pass(10 * SECOND_MS);
    expect(await listRuns(world, id)).toMatchObject([
      { status: "ok", dueAtMs: null },
      { status: "running", dueAtMs: atMs },
    ]);
    expect((await findSchedule(world, id)).enabled).toBe(false);
  });

  it("runs if the run before was lost by its process", async () => {
    const id = await addSchedule(world, EVERY_MINUTE, { target: sayAlone("this waits") });
    await world.pass(61 * SECOND_MS);
    world.sql.run("UPDATE processes SET busy = 0");
    await world.restart();
    await world.pass(MINUTE_MS);
    expect((await listRuns(world, id)).map(({ status, error }) => error ?? status)).toEqual([
      "The process ended without an answer",
      "running",
    ]);
  });

  it("runs if the process of the run before was killed", async () => {
    const id = await addSchedule(world, EVERY_MINUTE, { target: sayAlone("this waits") });
    await world.pass(61 * SECOND_MS);
    await world.call("proc.kill", { pid: (await listPids(world))[0]! });
    await world.pass(MINUTE_MS);
    expect((await listRuns(world, id)).map(({ status }) => status)).toEqual(["error", "running"]);
  });
});

describe("more than 60 runs of a user in a minute", () => {
  const expression = { kind: "at" as const, atMs: START_MS + MINUTE_MS };

  it("wait, none is lost, and those of others are not delayed", async () => {
    await world.call("sys.user.create", { username: "bob", password: "bob first" }, world.root);
    const bob = await world.enter("bob");
    for (let at = 0; at < 130; at++) await addSchedule(world, expression, { target: tellInit(`number ${at}.`) });
    const tellBob = { kind: "process.event", pid: "init:1001", message: "hello" };
    for (let at = 0; at < 3; at++) await addSchedule(world, expression, { target: tellBob }, bob);
    const counts = async () => [(await listTexts(world, INIT)).length, (await listTexts(world, "init:1001")).length];
    await world.passTo(START_MS + MINUTE_MS + SECOND_MS);
    expect(await counts()).toEqual([60, 3]);
    await world.passTo(START_MS + 2 * MINUTE_MS + 5 * SECOND_MS);
    expect(await counts()).toEqual([120, 3]);
    await world.passTo(START_MS + 3 * MINUTE_MS + 10 * SECOND_MS);
    const texts = await listTexts(world, INIT);
    expect(texts.length).toBe(130);
    expect(new Set(texts.map((text) => /number \d+\./.exec(text)![0])).size).toBe(130);
  });
});

it("a user with more schedules than may run does not keep some of them from running at all", async () => {
  const ids: string[] = [];
  for (let at = 0; at < 90; at++)
    ids.push(await addSchedule(world, { kind: "every", everyMs: 30 * SECOND_MS }, { target: tellInit("go") }));
  await world.pass(10 * MINUTE_MS);
  const counts = await Promise.all(ids.map(async (id) => (await findSchedule(world, id)).state.runCount));
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(5);
});

describe("a schedule that keeps failing", () => {
  const titles = async () => (await listNotifications(world)).map(({ title }) => title);

  it("is paused after five failures in a row, with one notification, until somebody enables it", async () => {
    const id = await addSchedule(world, EVERY_MINUTE, { target: tellInit("this fails") });
    await world.pass(4.5 * MINUTE_MS);
    expect(await titles()).toEqual(["Schedule failed: report"]);
    await world.pass(10 * MINUTE_MS);
    expect(await titles()).toEqual(["Schedule paused: report"]);
    expect((await listRuns(world, id)).length).toBe(5);
    const paused = await findSchedule(world, id);
    expect([paused.enabled, paused.state.nextRunAtMs]).toEqual([false, null]);
    expect(paused.state.pausedBecause).toContain("It failed 5 times in a row, the last time with: The key was refused");
    await world.call("sched.update", { id, patch: { enabled: true } });
    expect(await titles()).toEqual([]);
    expect((await findSchedule(world, id)).state.pausedBecause).toBeNull();
    await world.pass(4.3 * MINUTE_MS);
    expect((await findSchedule(world, id)).enabled).toBe(true);
    expect((await listRuns(world, id)).length).toBe(9);
  });

  it("was not paused by a person who disables it afterwards", async () => {
    const id = await addSchedule(world, EVERY_MINUTE, { target: tellInit("this fails") });
    await world.pass(6 * MINUTE_MS);
    await world.call("sched.update", { id, patch: { enabled: false } });
    expect((await findSchedule(world, id)).state.pausedBecause).toBeNull();
    expect(await titles()).toEqual([]);
  });

  it("goes on if it succeeds in between", async () => {
    const id = await addSchedule(world, EVERY_MINUTE, { target: sayAlone("this fails") });
    await world.pass(4.5 * MINUTE_MS);
    await world.call("sched.update", { id, patch: { target: sayAlone("this is easy") } });
    await world.pass(MINUTE_MS);
    await world.call("sched.update", { id, patch: { target: sayAlone("this fails") } });
    await world.pass(4 * MINUTE_MS);
    expect((await listRuns(world, id)).map(({ status }) => status)).toEqual([...Array(4).fill("error"), "ok", ...Array(4).fill("error")]);
    expect((await findSchedule(world, id)).enabled).toBe(true);
  });

  it("does not fail if a person stops its runs", async () => {
    const id = await addSchedule(world, EVERY_MINUTE, { target: sayAlone("this waits") });
    for (let run = 0; run < 6; run++) {
      await world.pass(MINUTE_MS);
      await world.call("proc.abort", { pid: (await listPids(world)).at(-1)! });
    }
    expect((await listRuns(world, id)).map(({ status, error }) => `${status}: ${error}`)).toEqual(Array(6).fill("error: It was stopped"));
    expect(await titles()).toEqual([]);
    expect((await findSchedule(world, id)).enabled).toBe(true);
  });
});

describe("whom a run is announced to", () => {
  const titlesWith = async (notify: string, prompt: string) => {
    await addSchedule(world, { kind: "after", afterMs: MINUTE_MS }, { target: sayAlone(prompt), notify });
    await world.pass(2 * MINUTE_MS);
    return (await listNotifications(world)).map(({ title, body }) => `${title}: ${body}`);
  };

  it.each([
    ["all", "this is easy", ["report: done"]],
    ["all", "this fails", ["Schedule failed: report: The key was refused"]],
    ["failures", "this is easy", []],
    ["failures", "this fails", ["Schedule failed: report: The key was refused"]],
    ["none", "this fails", []],
  ])("with notify %s, a run of which %s is announced as the owner wanted", async (notify, prompt, expected) => {
    expect(await titlesWith(notify, prompt)).toEqual(expected);
  });
});

describe("a run is made with the rights that its owner has at that time", () => {
  it("so it fails while its owner is locked, and starts nothing", async () => {
    const id = await addSchedule(world, EVERY_MINUTE);
    await world.call("sys.user.lock", { username: "alice", locked: true }, world.root);
    await world.pass(61 * SECOND_MS);
    expect(await listRuns(world, id)).toMatchObject([{ status: "error", error: "Permission denied: the owner is locked" }]);
    expect(await listPids(world)).toEqual([]);
    await world.call("sys.user.lock", { username: "alice", locked: false }, world.root);
    await world.pass(MINUTE_MS);
    expect((await listRuns(world, id)).map(({ status }) => status)).toEqual(["error", "ok"]);
  });

  it.each([
    ["proc.spawn", sayAlone("hello")],
    ["proc.send", tellInit("hello")],
  ])("so it fails without the capability %s, and starts nothing", async (capability, target) => {
    const id = await addSchedule(world, EVERY_MINUTE, { target });
    await world.call("sys.capability.revoke", { gid: 100, capability }, world.root);
    await world.pass(61 * SECOND_MS);
    expect(await listRuns(world, id)).toMatchObject([{ status: "error", error: `Permission denied: ${capability}` }]);
    expect(await countTexts(world, "hello")).toBe(0);
  });
});

describe("the processes of a schedule", () => {
  it("are at most twenty: then the one that was used longest ago is emptied and used again, unless a person has used it", async () => {
    const id = await addSchedule(world, { kind: "every", everyMs: HOUR_MS });
    await world.pass(20.5 * HOUR_MS);
    const pids = await listPids(world);
    expect(pids.length).toBe(20);
    await world.call("proc.send", { pid: pids[0]!, message: "tell me more" });
    await world.pass(HOUR_MS);
    const other = (await endRuns(world, id)).at(-1)!.pid!;
    expect(pids).not.toContain(other);
    for (const left of [pids[1], pids[2], pids[3]]) {
      await world.pass(HOUR_MS);
      const last = (await endRuns(world, id)).at(-1)!;
      expect([last.status, last.pid]).toEqual(["ok", left]);
      expect(await listTexts(world, left!)).toEqual(["write a report"]);
    }
    expect(await listPids(world)).toEqual([...pids, other]);
    expect(await listTexts(world, pids[0]!)).toEqual(["write a report", "tell me more"]);
    const { directories } = await world.call<{ directories: string[] }>("fs.read", { path: `/var/sessions/alice/${pids[1]}` });
    expect(directories.length).toBe(1);
  });

  it("is the user's own if that is the profile", async () => {
    const id = await addSchedule(world, EVERY_MINUTE, { target: { ...sayAlone("look around"), profile: "init" } });
    await world.pass(61 * SECOND_MS);
    expect(await listRuns(world, id)).toMatchObject([{ status: "ok", pid: INIT }]);
    expect([await listPids(world), await listTexts(world, INIT)]).toEqual([[], ["look around"]]);
  });
});

describe("a schedule for one time", () => {
  it("that has not come stays, also if it was tried and then disabled", async () => {
    const id = await addSchedule(world, { kind: "at", atMs: world.now + 200 * DAY_MS });
    await world.call("sched.run", { id, mode: "force" });
    await endRuns(world, id);
    await world.call("sched.update", { id, patch: { enabled: false } });
    await world.restart(40 * DAY_MS);
    await world.pass(2 * HOUR_MS);
    expect(await findSchedule(world, id)).toMatchObject({ enabled: false, state: { runCount: 1 } });
    expect((await listRuns(world, id)).length).toBe(1);
  });

  it.each([
    ["once", "ok"],
    ["skip", "skipped"],
  ])("goes with its history a month after its time, which with catch-up %s was %s", async (catchUp, status) => {
    const id = await addSchedule(world, { kind: "after", afterMs: MINUTE_MS }, { catchUp });
    await world.restart(HOUR_MS);
    expect((await endRuns(world, id)).map((run) => run.status)).toEqual([status]);
    await world.restart(29 * DAY_MS);
    await world.pass(2 * HOUR_MS);
    expect((await listRuns(world, id)).length).toBe(1);
    await world.restart(2 * DAY_MS);
    await world.pass(2 * HOUR_MS);
    expect(await findSchedule(world, id)).toBeUndefined();
    expect(world.sql.inspect("SELECT 1 FROM schedule_runs")).toEqual([]);
  });

  it("gives its process to another after a week, and stays a month with its history", async () => {
    const addOne = async () => {
      const id = await addSchedule(world, { kind: "after", afterMs: MINUTE_MS });
      await world.pass(2 * MINUTE_MS);
      return [id, (await endRuns(world, id)).at(-1)!.pid] as const;
    };
    const [first, pid] = await addOne();
    await world.pass(8 * DAY_MS);
    const [second, taken] = await addOne();
    expect(taken).toBe(pid);
    for (const id of [first, second]) expect(await listRuns(world, id)).toMatchObject([{ status: "ok", summary: "done" }]);
    // It has none to give any more, and gets another if it is run again.
    const [, third] = await addOne();
    expect(third).not.toBe(pid);
    await world.call("sched.run", { id: first, mode: "force" });
    expect([pid, third]).not.toContain((await endRuns(world, first)).at(-1)!.pid);
  });
});

describe("what an agent puts into a schedule", () => {
  const spawn = async () => (await world.call<{ pid: string }>("proc.spawn", { profile: "task" })).pid;
  const say = async (id: string) => {
    await world.call("sched.run", { id, mode: "force" });
    await endRuns(world, id);
    return (await listTexts(world, INIT)).at(-1)!;
  };

  it("is told as the agent's, also if a person made the schedule, until a person says something else", async () => {
    const pid = await spawn();
    const id = await addSchedule(world, { kind: "after", afterMs: DAY_MS }, { target: tellInit("one") });
    expect(await say(id)).not.toContain("from process");
    await world.callAs(pid, "sched.update", { id, patch: { target: tellInit("two") } });
    expect(await say(id)).toMatch(new RegExp(`^Its message is from process ${pid}\\.$`, "m"));
    // As a form does that changes something else.
    await world.call("sched.update", { id, patch: { description: "of the agent", target: tellInit("two") } });
    expect(await say(id)).toContain(`from process ${pid}`);
    await world.call("sched.update", { id, patch: { target: tellInit("three") } });
    expect(await say(id)).not.toContain("from process");
    // The message contains the name too.
    await world.callAs(pid, "sched.update", { id, patch: { name: "another" } });
    expect(await say(id)).toContain(`from process ${pid}`);
  });

  it("is told as the agent's, if a person changes it before the message has arrived", async () => {
    const pid = await spawn();
    const id = await addSchedule(world, { kind: "after", afterMs: MINUTE_MS }, { target: tellInit("one") });
    await world.callAs(pid, "sched.update", { id, patch: { target: tellInit("two") } });
    world.onProcessCall = (_pid, name) => {
      if (name === "send") throw new SysError(503, "not now");
    };
    await world.pass(61 * SECOND_MS);
    await world.call("sched.update", { id, patch: { target: tellInit("three") } });
    world.onProcessCall = () => {};
    await endRuns(world, id);
    expect((await listTexts(world, INIT)).at(-1)).toMatch(new RegExp(`Its message is from process ${pid}\\.[^]*\ntwo$`));
  });

  it("starts only what the agent may start itself", async () => {
    const pid = await spawn();
    const add = (profile: string) =>
      world.callAs(pid, "sched.add", { name: "work", expression: EVERY_MINUTE, target: { ...sayAlone("go"), profile } });
    await expect(add("app")).rejects.toThrow("A process cannot schedule work for profile app");
    await add("cron");
    await add("task");
    const id = await addSchedule(world, EVERY_MINUTE);
    const patch = { target: { ...sayAlone("go"), profile: "app" } };
    await expect(world.callAs(pid, "sched.update", { id, patch })).rejects.toThrow("A process cannot schedule work for profile app");
    await world.call("sched.update", { id, patch });
  });
});

describe("sched.run", () => {
  const run = async (args: object) => {
    const { ran, results } = await world.call<{ ran: number; results: { status: string; error?: string }[] }>("sched.run", { ...args });
    return [ran, ...results.map(({ status, error }) => (error === undefined ? status : `${status}: ${error}`))];
  };

  it("does not run what is disabled or not due", async () => {
    const id = await addSchedule(world, EVERY_MINUTE);
    expect(await run({ id })).toEqual([0, "skipped: it is not due yet"]);
    expect(await run({})).toEqual([0]);
    await world.call("sched.update", { id, patch: { enabled: false } });
    expect(await run({ id, mode: "due" })).toEqual([0, "skipped: the schedule is disabled"]);
    expect(await listRuns(world, id)).toEqual([]);
  });

  it("runs what is due and had to wait", async () => {
    const atMs = world.now + MINUTE_MS;
    const [first, second] = [await addSchedule(world, { kind: "at", atMs }), await addSchedule(world, { kind: "at", atMs: atMs + 1 })];
    // The host's wake comes late.
    world.setClock(2 * MINUTE_MS);
    expect(await run({ id: second })).toEqual([1, "ok"]);
    expect(await run({})).toEqual([1, "ok"]);
    for (const id of [first, second]) expect((await listRuns(world, id)).length).toBe(1);
  });

  it("with force runs it now, due or not, and leaves its next run as it is", async () => {
    const id = await addSchedule(world, EVERY_MINUTE);
    const { state } = await findSchedule(world, id);
    expect(await run({ id, mode: "force" })).toEqual([1, "ok"]);
    expect((await findSchedule(world, id)).state.nextRunAtMs).toBe(state.nextRunAtMs);
    await world.call("sched.update", { id, patch: { enabled: false } });
    expect(await run({ id, mode: "force" })).toEqual([1, "ok"]);
    expect(await listRuns(world, id)).toMatchObject([{ dueAtMs: null }, { dueAtMs: null }]);
    expect(await findSchedule(world, id)).toMatchObject({ enabled: false, state: { nextRunAtMs: null, runCount: 2 } });
    expect((await listPids(world)).length).toBe(2);
  });

  describe("with force and a key", () => {
    let count = 0;
    const send = (args: object, key: string) => {
      const id = `keyed-${++count}`;
      world.kernel.onFrame(world.alice, JSON.stringify({ type: "req", id, call: "sched.run", args: { mode: "force", ...args }, key }));
      return () => world.heard.get(world.alice)!.find((frame) => frame.type === "res" && frame.id === id);
    };
    const sendAndWait = (args: object, key: string) => world.passUntil(send(args, key), "an answer");

    it("runs once, and a repeat gets the same answer", async () => {
      const id = await addSchedule(world, EVERY_MINUTE);
      const first = await sendAndWait({ id }, "one");
      expect(first).toMatchObject({ ok: true, data: { ran: 1, results: [{ status: "ok" }] } });
      await endRuns(world, id);
      expect((await sendAndWait({ id }, "one")).data).toEqual(first.data);
      expect((await listRuns(world, id)).length).toBe(1);
      await sendAndWait({ id }, "two");
      expect((await listRuns(world, id)).length).toBe(2);
      expect(await sendAndWait({ id: await addSchedule(world, EVERY_MINUTE) }, "one")).toMatchObject({ ok: false, error: { code: 409 } });
    });

    it("runs once if the repeat comes while it starts, or after the gateway has died before it answered", async () => {
      const id = await addSchedule(world, { kind: "after", afterMs: DAY_MS }, { target: tellInit("write a report") });
      world.onProcessCall = (_pid, name) => (name === "send" ? new Promise(() => {}) : undefined);
      send({ id }, "one");
      send({ id }, "one");
      await world.pass(SECOND_MS);
      expect((await listRuns(world, id)).length).toBe(1);
      world.crash();
      world.onProcessCall = () => {};
      await world.start();
      expect(await sendAndWait({ id }, "one")).toMatchObject({ ok: true, data: { ran: 1, results: [{ status: "ok" }] } });
      await endRuns(world, id);
      expect((await listRuns(world, id)).length).toBe(1);
      expect(await countTexts(world, "write a report")).toBe(1);
      await world.call("sched.run", { id, mode: "force" });
      expect((await listRuns(world, id)).length).toBe(2);
    });
  });

  it("with force does not run it while its last run is at work", async () => {
    const id = await addSchedule(world, { kind: "after", afterMs: DAY_MS }, { target: sayAlone("this waits") });
    expect(await run({ id, mode: "force" })).toEqual([1, "ok"]);
    expect(await run({ id, mode: "force" })).toEqual([0, "skipped: its last run is still at work"]);
    expect((await listRuns(world, id)).length).toBe(1);
  });

  it("needs an id to force, and finds no schedule of others", async () => {
    await expect(run({ mode: "force" })).rejects.toThrow("400 sched.run force requires an id");
    const id = await addSchedule(world, EVERY_MINUTE, {}, world.root);
    await expect(run({ id })).rejects.toThrow(`404 Schedule not found: ${id}`);
    await expect(run({ id: "none" })).rejects.toThrow("404 Schedule not found: none");
  });

  it("reports why it failed", async () => {
    const id = await addSchedule(world, EVERY_MINUTE);
    await world.call("sys.capability.revoke", { gid: 100, capability: "proc.spawn" }, world.root);
    expect(await run({ id, mode: "force" })).toEqual([1, "error: Permission denied: proc.spawn"]);
  });
});
