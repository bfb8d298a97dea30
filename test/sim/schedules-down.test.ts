// Schedules of a gateway that was down, whose clock was set, that died at the worst moment, or whose disk was full.

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
  listPids,
  listRuns,
  listTexts,
  MINUTE_MS,
  sayAlone,
  SECOND_MS,
  tellInit,
  YEAR_MS,
} from "./scheduling.ts";
import { type DeathPoint, START_MS, TimedWorld } from "./timed-world.ts";

let world: TimedWorld;

beforeEach(async () => {
  world = await TimedWorld.make();
});

const TEN_MINUTES: Record<string, ScheduleExpression> = {
  at: { kind: "at", atMs: START_MS + 10 * MINUTE_MS },
  every: { kind: "every", everyMs: 10 * MINUTE_MS, anchorMs: START_MS },
  cron: { kind: "cron", expr: "*/10 * * * *", timezone: "UTC" },
};

/** No time of a schedule has run twice, and the next one is in the future, no later than `withinMs` from now. */
async function checkTimes(id: string, withinMs: number | null): Promise<void> {
  const times = (await listRuns(world, id)).map(({ dueAtMs }) => dueAtMs);
  expect(new Set(times).size).toBe(times.length);
  expect(times).not.toContain((await findSchedule(world, id)).state.nextRunAtMs);
  const { nextRunAtMs } = (await findSchedule(world, id)).state;
  if (withinMs === null) return expect(nextRunAtMs).toBeNull();
  expect(nextRunAtMs! - world.now).toBeGreaterThan(0);
  expect(nextRunAtMs! - world.now).toBeLessThanOrEqual(withinMs);
}

describe("after the gateway was down", () => {
  const cases = Object.keys(TEN_MINUTES).flatMap((kind) =>
    ["once", "skip"].flatMap((catchUp) => [0, 1, 50].map((slots) => ({ kind, catchUp, slots }))),
  );

  it.each(cases)("over $slots times, a schedule of kind $kind with catch-up $catchUp", async ({ kind, catchUp, slots }) => {
    const isOnce = kind === "at";
    const id = await addSchedule(world, TEN_MINUTES[kind]!, { catchUp });
    await world.pass(5 * MINUTE_MS);
    await world.restart(slots === 0 ? 2 * MINUTE_MS : slots * 10 * MINUTE_MS);
    const runs = await endRuns(world, id);
    const missed = isOnce ? Math.min(slots, 1) : slots;
    const dueAtMs = START_MS + 10 * MINUTE_MS;
    if (slots === 0) expect(runs).toEqual([]);
    else if (catchUp === "once") expect(runs).toMatchObject([{ status: "ok", dueAtMs, missed: missed - 1, summary: "done" }]);
    else expect(runs).toMatchObject([{ status: "skipped", dueAtMs, missed, error: "The gateway was not running at this time", pid: null }]);
    expect((await listPids(world)).length).toBe(slots > 0 && catchUp === "once" ? 1 : 0);
    const isOver = isOnce && slots > 0;
    await checkTimes(id, isOver ? null : 10 * MINUTE_MS);
    expect((await findSchedule(world, id)).enabled).toBe(!isOver);
    // And it goes on as if nothing had happened.
    await world.pass(20 * MINUTE_MS);
    expect((await listRuns(world, id)).filter(({ status }) => status === "ok").length).toBe(
      (slots > 0 && catchUp === "once" ? 1 : 0) + (isOver ? 0 : isOnce ? 1 : 2),
    );
    await checkTimes(id, isOnce ? null : 10 * MINUTE_MS);
  });

  it.each(Object.keys(TEN_MINUTES))("for 13 seconds around its time, a schedule of kind %s that skips is in time", async (kind) => {
    const id = await addSchedule(world, TEN_MINUTES[kind]!, { catchUp: "skip" });
    await world.passTo(START_MS + 10 * MINUTE_MS - 5 * SECOND_MS);
    await world.restart(13 * SECOND_MS);
    const [run, ...others] = await endRuns(world, id);
    expect(others).toEqual([]);
    expect(run).toMatchObject({ status: "ok", dueAtMs: START_MS + 10 * MINUTE_MS, missed: 0 });
    await checkTimes(id, kind === "at" ? null : 10 * MINUTE_MS);
  });

  it("for a few of its times and less than a minute, a schedule runs for the latest of them", async () => {
    const id = await addSchedule(world, { kind: "every", everyMs: 5 * SECOND_MS, anchorMs: START_MS }, { catchUp: "skip" });
    await world.passTo(START_MS + 9 * SECOND_MS);
    await world.restart(20 * SECOND_MS);
    const runs = await endRuns(world, id);
    expect(runs.map(({ dueAtMs, missed }) => [(dueAtMs! - START_MS) / SECOND_MS, missed])).toEqual([
      [5, 0],
      [25, 3],
    ]);
  });

  it.each(["once", "skip"])("a time that came before, and waits for the run before, runs with catch-up %s too", async (catchUp) => {
    const atMs = START_MS + MINUTE_MS;
    const id = await addSchedule(world, { kind: "at", atMs }, { catchUp, target: sayAlone("this waits") });
    await world.call("sched.run", { id, mode: "force" });
    await world.pass(2 * MINUTE_MS);
    await world.stop();
    world.models.answersAtOnce = true;
    await world.start(10 * MINUTE_MS);
    await world.pass(10 * SECOND_MS);
    expect((await endRuns(world, id)).map((run) => [run.dueAtMs, run.status])).toEqual([
      [null, "ok"],
      [atMs, "ok"],
    ]);
  });

  it("more than a minute's share of schedules that skip are all skipped", async () => {
    const expression = { kind: "at" as const, atMs: START_MS + MINUTE_MS };
    const add = (catchUp: string) => addSchedule(world, expression, { catchUp, target: tellInit("go") });
    for (let at = 0; at < 65; at++) await add("once");
    const skipping: string[] = [];
    for (let at = 0; at < 20; at++) skipping.push(await add("skip"));
    await world.restart(HOUR_MS);
    await world.pass(5 * MINUTE_MS);
    expect((await listTexts(world, INIT)).length).toBe(65);
    for (const id of skipping) expect(await listRuns(world, id)).toMatchObject([{ status: "skipped" }]);
  });
});

describe("when the clock is set", () => {
  const jumps = [10 * SECOND_MS, HOUR_MS, YEAR_MS].flatMap((ms) => [ms, -ms]);
  const cases = jumps.flatMap((jump) => [
    { jump, by: `${jump / SECOND_MS} seconds`, isUp: true, where: "while the gateway is up" },
    { jump, by: `${jump / SECOND_MS} seconds`, isUp: false, where: "while it is down" },
  ]);

  it.each(cases)("by $by and back, $where, no time runs twice and none is far away", async ({ jump, isUp }) => {
    const expressions: ScheduleExpression[] = [EVERY_MINUTE, { kind: "cron", expr: "* * * * *", timezone: "UTC" }];
    const ids: string[] = [];
    for (const expression of expressions) ids.push(await addSchedule(world, expression));
    const single = await addSchedule(world, { kind: "at", atMs: world.now + 4 * MINUTE_MS });
    const set = async (ms: number) => {
      if (!isUp) await world.stop();
      world.setClock(ms);
      if (!isUp) await world.start();
      if (!isUp) for (const id of ids) await checkTimes(id, 2 * MINUTE_MS);
      await world.pass(110 * SECOND_MS);
    };
    // A few seconds after a run: its time comes again, if the clock is set back.
    await world.passTo(START_MS + 125 * SECOND_MS);
    await set(jump);
    for (const id of ids) await checkTimes(id, MINUTE_MS);
    await set(-jump);
    const counts = await Promise.all(ids.map(async (id) => (await listRuns(world, id)).length));
    // Less than six minutes have passed, and when the clock was set forward there was one run more.
    for (const count of counts) expect(count).toBeLessThanOrEqual(5 + 1);
    await world.pass(2 * MINUTE_MS);
    for (const [at, id] of ids.entries()) {
      await checkTimes(id, MINUTE_MS);
      expect((await listRuns(world, id)).length).toBe(counts[at]! + 2);
    }
    await world.pass(2 * MINUTE_MS);
    expect((await listRuns(world, single)).length).toBe(1);
    expect(world.incidents).toEqual([]);
  });

  it("back by a year, what was added before runs in time", async () => {
    const id = await addSchedule(world, { kind: "every", everyMs: 5 * MINUTE_MS });
    const single = await addSchedule(world, { kind: "after", afterMs: 5 * MINUTE_MS });
    world.setClock(-YEAR_MS);
    await world.pass(6 * MINUTE_MS);
    for (const one of [id, single]) expect((await listRuns(world, one)).length).toBe(1);
    await checkTimes(id, 5 * MINUTE_MS);
  });

  it("back, runs that were made meanwhile do not count as those of this minute", async () => {
    world.setClock(HOUR_MS);
    for (let at = 0; at < 60; at++) await addSchedule(world, { kind: "after", afterMs: 1 }, { target: tellInit("go") });
    await world.pass(MINUTE_MS);
    world.setClock(-HOUR_MS);
    const id = await addSchedule(world, EVERY_MINUTE);
    await world.pass(2.5 * MINUTE_MS);
    expect((await listRuns(world, id)).length).toBe(2);
  });

  it("forward by mistake and back, times that were skipped meanwhile run when they come", async () => {
    const expression = { kind: "cron" as const, expr: "0 9 * * *", timezone: "UTC" };
    const id = await addSchedule(world, expression, { catchUp: "skip", target: tellInit("go") });
    world.setClock(30 * DAY_MS);
    await world.pass(MINUTE_MS);
    expect(await listRuns(world, id)).toMatchObject([{ status: "skipped", dueAtMs: START_MS + HOUR_MS }]);
    world.setClock(-30 * DAY_MS);
    await world.pass(MINUTE_MS);
    expect((await findSchedule(world, id)).state.nextRunAtMs).toBe(START_MS + HOUR_MS);
    await world.passTo(START_MS + DAY_MS + 2 * HOUR_MS);
    expect(await listRuns(world, id)).toMatchObject([
      { status: "ok", dueAtMs: START_MS + HOUR_MS },
      { status: "ok", dueAtMs: START_MS + HOUR_MS + DAY_MS },
    ]);
  });

  it("back while the disk is full, the next runs are found once there is room", async () => {
    world.setClock(YEAR_MS);
    const id = await addSchedule(world, EVERY_MINUTE);
    await world.pass(90 * SECOND_MS);
    world.isDiskFull = true;
    world.setClock(-YEAR_MS);
    await world.pass(MINUTE_MS);
    world.isDiskFull = false;
    await world.pass(2 * MINUTE_MS);
    await checkTimes(id, MINUTE_MS);
  });
});

const DEATHS: readonly DeathPoint[] = [
  "before the ledger is durable",
  "after the ledger",
  "before the message",
  "after the message",
  "before the outcome is durable",
];

describe("a gateway that dies", () => {
  const die = async (point: DeathPoint) => {
    await world.passToDeath(point);
    await world.start(SECOND_MS);
  };

  it.each(DEATHS)("%s sends the message of a schedule once", async (point) => {
    const id = await addSchedule(world, { kind: "after", afterMs: MINUTE_MS }, { target: tellInit("write a report") });
    await die(point);
    const [run, ...others] = await endRuns(world, id);
    expect(others).toEqual([]);
    expect(run).toMatchObject({ status: "ok", summary: "done", pid: INIT });
    expect(await countTexts(world, "write a report")).toBe(1);
  });

  it.each(DEATHS)("%s starts the process of a schedule once", async (point) => {
    const id = await addSchedule(world, EVERY_MINUTE, { target: sayAlone("write a report") });
    await die(point);
    const [run, ...others] = await endRuns(world, id);
    expect(others).toEqual([]);
    expect(run).toMatchObject({ status: "ok", summary: "done" });
    expect(await listPids(world)).toEqual([run!.pid]);
    expect(await countTexts(world, "write a report")).toBe(1);
  });

  it.each(DEATHS)("%s empties a process that is used again once", async (point) => {
    const id = await addSchedule(world, EVERY_MINUTE, { target: sayAlone("write a report") });
    await world.pass(20.5 * MINUTE_MS);
    const before = await listPids(world);
    await die(point);
    const run = (await endRuns(world, id))[20]!;
    expect(run).toMatchObject({ status: "ok", pid: before[0] });
    expect(await listPids(world)).toEqual(before);
    expect(await listTexts(world, before[0]!)).toEqual(["write a report"]);
  });

  it.each(DEATHS)("%s uses the user's own process once", async (point) => {
    const target = { ...sayAlone("write a report"), profile: "init" };
    const id = await addSchedule(world, { kind: "after", afterMs: MINUTE_MS }, { target });
    await die(point);
    expect(await endRuns(world, id)).toMatchObject([{ status: "ok", summary: "done", pid: INIT }]);
    expect(await countTexts(world, "write a report")).toBe(1);
  });

  it("again and again, at each of these points, sends it once", async () => {
    const id = await addSchedule(world, { kind: "after", afterMs: MINUTE_MS });
    for (const point of DEATHS) {
      if (!world.isUp) world.begin();
      await world.passToDeath(point);
    }
    await world.start();
    expect((await endRuns(world, id)).map(({ status }) => status)).toEqual(["ok"]);
    expect(await countTexts(world, "write a report")).toBe(1);
  });

  it("while many runs are being started, starts all of them later", async () => {
    await world.call("sys.user.create", { username: "bob", password: "bob first" }, world.root);
    const bob = await world.enter("bob");
    const expression = { kind: "at" as const, atMs: START_MS + MINUTE_MS };
    for (let at = 0; at < 40; at++) {
      await addSchedule(world, expression, { target: tellInit("go") });
      await addSchedule(world, expression, { target: { kind: "process.event", pid: "init:1001", message: "go" } }, bob);
    }
    world.onProcessCall = (_pid, name) => {
      if (name === "send" && world.now >= expression.atMs) throw new SysError(503, "not now");
    };
    await world.passTo(expression.atMs + SECOND_MS);
    world.crash();
    world.onProcessCall = () => {};
    await world.start();
    await world.pass(30 * SECOND_MS);
    expect([(await listTexts(world, INIT)).length, (await listTexts(world, "init:1001")).length]).toEqual([40, 40]);
    expect(world.sql.inspect("SELECT DISTINCT state FROM schedule_runs")).toEqual([{ state: "ok" }]);
  });
});

describe("a process that cannot be reached", () => {
  it("gets its message later, once", async () => {
    const id = await addSchedule(world, { kind: "after", afterMs: MINUTE_MS }, { target: tellInit("write a report") });
    world.onProcessCall = (_pid, name) => {
      if (name === "send") throw new SysError(503, "The process cannot be reached");
    };
    await world.pass(10 * MINUTE_MS);
    expect(await listRuns(world, id)).toMatchObject([{ status: "running" }]);
    world.onProcessCall = () => {};
    expect(await endRuns(world, id)).toMatchObject([{ status: "ok" }]);
    expect(await countTexts(world, "write a report")).toBe(1);
  });

  it("for an hour fails the run", async () => {
    const id = await addSchedule(world, { kind: "after", afterMs: MINUTE_MS }, { target: tellInit("write a report") });
    world.onProcessCall = (_pid, name) => {
      if (name === "send") throw new SysError(503, "The process cannot be reached");
    };
    await world.pass(62 * MINUTE_MS);
    expect(await listRuns(world, id)).toMatchObject([{ status: "error", error: "The process cannot be reached" }]);
  });
});

describe("a full disk", () => {
  it("delays a run without keeping the gateway busy, and nothing is lost or done twice", async () => {
    const id = await addSchedule(world, { kind: "after", afterMs: MINUTE_MS }, { target: tellInit("write a report"), catchUp: "skip" });
    await world.pass(59 * SECOND_MS);
    world.isDiskFull = true;
    world.wakes = 0;
    await world.pass(50 * SECOND_MS);
    expect(world.wakes).toBeLessThan(50);
    expect(await countTexts(world, "write a report")).toBe(0);
    world.isDiskFull = false;
    await world.pass(10 * SECOND_MS);
    expect(await endRuns(world, id)).toMatchObject([{ status: "ok" }]);
    expect(await countTexts(world, "write a report")).toBe(1);
  });
});

it("a schedule that cannot be computed any more is paused, and others run", async () => {
  const bad = await addSchedule(world, { kind: "cron", expr: "* * * * *", timezone: "Europe/Berlin" });
  const good = await addSchedule(world, EVERY_MINUTE);
  // As if a new version of Node did not know the zone.
  world.sql.run("UPDATE schedules SET expression = replace(expression, 'Europe/Berlin', 'Europe/Atlantis') WHERE schedule_id = ?", bad);
  await world.restart();
  await world.pass(3 * MINUTE_MS);
  expect((await listRuns(world, good)).length).toBe(3);
  const { enabled, state } = await findSchedule(world, bad);
  expect([enabled, state.nextRunAtMs]).toEqual([false, null]);
  expect(state.pausedBecause).toContain("timezone must be a valid IANA timezone");
});
