// Schedules whose user has more of them than may run, and starts that fail or are lost: what they cost, and that others do not wait.

import { beforeEach, describe, expect, it } from "vitest";
import { SysError } from "../../src/lib/sys-error.ts";
import {
  addSchedule,
  countTexts,
  endRuns,
  findSchedule,
  HOUR_MS,
  INIT,
  listRuns,
  listTexts,
  MINUTE_MS,
  sayAlone,
  SECOND_MS,
  tellInit,
} from "./scheduling.ts";
import { START_MS, TimedWorld } from "./timed-world.ts";

const CRON = { kind: "cron" as const, expr: "* * * * *", timezone: "UTC" };
const BOB_INIT = "init:1001";
const TELL_BOB = { kind: "process.event", pid: BOB_INIT, message: "hello" };

let world: TimedWorld;

beforeEach(async () => {
  world = await TimedWorld.make();
});

async function enterBob(): Promise<string> {
  await world.call("sys.user.create", { username: "bob", password: "bob first" }, world.root);
  return world.enter("bob");
}

/** The user of a schedule has started as many runs as they may in a minute, `apartMs` apart. */
async function useAllStarts(apartMs: number): Promise<void> {
  const id = await addSchedule(world, { kind: "after", afterMs: 24 * HOUR_MS }, { target: tellInit("go") });
  for (let run = 0; run < 60; run++) {
    await world.call("sched.run", { id, mode: "force" });
    await endRuns(world, id);
    await world.passTo(START_MS + 10 * SECOND_MS + (run + 1) * apartMs);
  }
}

/** Counts the rows of schedules that are read from now on. */
function countLooks(): () => number {
  let looks = 0;
  const { sql } = world;
  const isSchedule = (row: object | undefined) => row !== undefined && "expression" in row && "target" in row;
  const [all, get] = [sql.all.bind(sql), sql.get.bind(sql)];
  sql.all = (query, ...bindings) => {
    const rows = all(query, ...bindings);
    looks += rows.filter(isSchedule).length;
    return rows;
  };
  sql.get = (query, ...bindings) => {
    const row = get(query, ...bindings);
    looks += Number(isSchedule(row));
    return row;
  };
  return () => looks;
}

describe("many schedules that wait for a free start", () => {
  it("are looked at as often as they start, the longest due first", async () => {
    const ids: string[] = [];
    for (let at = 0; at < 300; at++) ids.push(await addSchedule(world, CRON, { target: tellInit("go") }));
    await useAllStarts(500);
    // Two hours behind, each by another second.
    const behind = (at: number) => world.now - 2 * HOUR_MS - at * SECOND_MS;
    for (const [at, id] of ids.entries())
      world.sql.run(
        "UPDATE schedules SET next_at = ?1, wake_at = ?1, sort_at = ?1, queued_at = NULL WHERE schedule_id = ?2",
        behind(at),
        id,
      );
    const before = world.now;
    const looks = countLooks();
    world.kernel.onWake();
    await world.pass(70 * SECOND_MS);
    const count = looks();
    const started = world.sql
      .inspect(`SELECT schedule_id FROM schedule_runs WHERE started_at > ${before}`)
      .map((row) => String(row.schedule_id));
    expect(started.length).toBe(60);
    expect(new Set(started)).toEqual(new Set(ids.slice(-60)));
    // To plan, to start and to end a run.
    expect(count).toBeLessThanOrEqual(3 * 60);
  });

  it("use the share of their user: the schedule of another is planned before most of them", async () => {
    const bob = await enterBob();
    for (let at = 0; at < 50; at++) await addSchedule(world, { kind: "at", atMs: START_MS + MINUTE_MS }, { target: tellInit("go") });
    const id = await addSchedule(world, { kind: "at", atMs: START_MS + MINUTE_MS + 1 }, { target: TELL_BOB }, bob);
    // The wake comes late: all are due then.
    world.setClock(2 * MINUTE_MS);
    await world.pass(MINUTE_MS);
    const order = world.sql.inspect("SELECT schedule_id FROM schedule_runs ORDER BY rowid").map((row) => row.schedule_id);
    expect(order.length).toBe(51);
    expect(order.indexOf(id)).toBeLessThan(25);
  });

  it("do not lose their time if the clock is set back", async () => {
    const dueAtMs = START_MS + 45 * SECOND_MS;
    for (let at = 0; at < 2; at++) await addSchedule(world, { kind: "at", atMs: dueAtMs - SECOND_MS }, { target: tellInit("go") });
    const id = await addSchedule(world, { kind: "every", everyMs: HOUR_MS, anchorMs: dueAtMs }, { target: tellInit("report") });
    await useAllStarts(500);
    await world.passTo(dueAtMs + 20 * SECOND_MS);
    expect(await listRuns(world, id)).toEqual([]);
    world.setClock(-12 * SECOND_MS);
    world.kernel.onWake();
    await world.pass(3 * MINUTE_MS);
    expect(await listRuns(world, id)).toMatchObject([{ dueAtMs, status: "ok" }]);
    expect((await findSchedule(world, id)).state.nextRunAtMs).toBe(dueAtMs + HOUR_MS);
  });
});

describe("a schedule for one time that waits for a run", () => {
  it("wakes nobody meanwhile, and runs when that ends", async () => {
    const atMs = world.now + MINUTE_MS;
    const id = await addSchedule(world, { kind: "at", atMs }, { target: sayAlone("this waits") });
    await world.call("sched.run", { id, mode: "force" });
    await world.pass(2 * MINUTE_MS);
    world.wakes = 0;
    await world.pass(10 * MINUTE_MS);
    expect(world.wakes).toBeLessThan(5);
    world.models.answersAtOnce = true;
    world.models.release();
    await world.pass(SECOND_MS);
    expect(await listRuns(world, id)).toMatchObject([{ dueAtMs: null }, { dueAtMs: atMs, status: "ok" }]);
  });

  it("runs if the process has lost that run", async () => {
    const atMs = world.now + MINUTE_MS;
    const id = await addSchedule(world, { kind: "at", atMs }, { target: sayAlone("this waits") });
    await world.call("sched.run", { id, mode: "force" });
    await world.pass(2 * MINUTE_MS);
    const { pid } = (await listRuns(world, id))[0]!;
    // As if its database had been lost.
    await world.stop();
    world.processes.lose(pid!);
    world.models.answersAtOnce = true;
    await world.start();
    await world.pass(MINUTE_MS);
    expect((await endRuns(world, id)).map(({ dueAtMs, error, status }) => [dueAtMs, error ?? status])).toEqual([
      [null, "The process ended without an answer"],
      [atMs, "ok"],
    ]);
  });
});

describe("a start that gets no answer", () => {
  /** Everybody has gone. How long it takes until the host wakes the kernel. */
  const findNextWake = async (): Promise<number> => {
    for (const socket of [world.alice, world.root]) world.cut(socket);
    await world.pass(SECOND_MS);
    const from = world.now;
    world.wakes = 0;
    while (world.wakes === 0 && world.now - from < HOUR_MS) await world.pass(SECOND_MS);
    return world.now - from;
  };

  beforeEach(() => {
    world.onProcessCall = (_pid, name) => (name === "send" ? new Promise(() => {}) : undefined);
  });

  it.each(["by itself", "by force", "because it is due"])(
    "is looked at again soon if a schedule runs %s, and then resumed",
    async (how) => {
      const afterMs = how === "by itself" ? MINUTE_MS : HOUR_MS;
      const id = await addSchedule(world, { kind: "after", afterMs }, { target: tellInit("write a report") });
      // What connecting left to do is done.
      await world.pass(61 * SECOND_MS);
      if (how !== "by itself") {
        if (how === "because it is due") world.sql.run("UPDATE schedules SET next_at = ?1, wake_at = ?1", world.now);
        const args = how === "by force" ? { id, mode: "force" } : { id };
        world.kernel.onFrame(world.alice, JSON.stringify({ type: "req", id: "run", call: "sched.run", args }));
      }
      expect(await findNextWake()).toBeLessThan(31 * SECOND_MS);
      // The host has forgotten the gateway, and starts it for the wake.
      world.crash();
      world.onProcessCall = () => {};
      await world.start();
      await endRuns(world, id);
      expect(await countTexts(world, "write a report")).toBe(1);
    },
  );
});

it("starts of a user that keep failing do not delay those of others", async () => {
  const bob = await enterBob();
  const expression = { kind: "at" as const, atMs: START_MS + MINUTE_MS };
  for (let at = 0; at < 55; at++) await addSchedule(world, expression, { target: tellInit("go") });
  await addSchedule(world, { kind: "at", atMs: expression.atMs + SECOND_MS }, { target: TELL_BOB }, bob);
  let isInterrupted = false;
  world.onProcessCall = (pid, name) => {
    if (name !== "send" || world.now < expression.atMs) return;
    if (pid === INIT) throw new SysError(507, "The quota is full");
    if (isInterrupted) return;
    isInterrupted = true;
    throw new SysError(503, "not now");
  };
  await world.passTo(expression.atMs + 2 * MINUTE_MS);
  expect(isInterrupted).toBe(true);
  expect((await listTexts(world, BOB_INIT)).length).toBe(1);
  // And each is tried again, as long as that may help.
  world.onProcessCall = () => {};
  await world.pass(MINUTE_MS);
  expect((await listTexts(world, INIT)).length).toBe(55);
});
