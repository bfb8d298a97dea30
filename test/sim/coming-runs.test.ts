// What is shown of the coming runs of a schedule is what happens.

import { beforeEach, expect, it } from "vitest";
import { addSchedule, DAY_MS, EVERY_MINUTE, findSchedule, HOUR_MS, listRuns, MINUTE_MS, sayAlone } from "./scheduling.ts";
import { START_MS, TimedWorld } from "./timed-world.ts";

type Upcoming = { runs: { scheduleId: string; name: string; atMs: number }[] };

let world: TimedWorld;

beforeEach(async () => {
  world = await TimedWorld.make();
});

const preview = async (id: string) => (await world.call<{ nextRunsMs: number[] }>("sched.preview", { id })).nextRunsMs;
const nextOf = async (id: string) => (await findSchedule(world, id)).state.nextRunAtMs!;

it("the next runs of a schedule are those that it runs at, whenever they are asked for", async () => {
  const every = await addSchedule(world, { kind: "every", everyMs: 2 * HOUR_MS });
  const after = await addSchedule(world, { kind: "after", afterMs: 5 * HOUR_MS });
  const first = await nextOf(every);
  const once = await nextOf(after);
  await world.passTo(START_MS + 1.5 * HOUR_MS);
  const runs = [first, first + 2 * HOUR_MS, first + 4 * HOUR_MS];
  expect([await preview(every), await preview(after)]).toEqual([runs, [once]]);
  await world.passTo(START_MS + 7 * HOUR_MS);
  expect((await listRuns(world, every)).map(({ dueAtMs }) => dueAtMs)).toEqual(runs);
  expect((await listRuns(world, after)).map(({ dueAtMs }) => dueAtMs)).toEqual([once]);
  expect(await preview(after)).toEqual([]);
  await world.call("sched.update", { id: every, patch: { enabled: false } });
  expect(await preview(every)).toEqual([]);
});

it("a time that is due and waits is the next run", async () => {
  const atMs = START_MS + HOUR_MS;
  const id = await addSchedule(world, { kind: "at", atMs }, { target: sayAlone("this waits") });
  await world.call("sched.run", { id, mode: "force" });
  await world.passTo(atMs + MINUTE_MS);
  expect(await preview(id)).toEqual([atMs]);
  world.models.release();
  await world.passUntil(async () => (await preview(id)).length === 0, "the run");
});

it("the coming runs of all schedules are those of each, in order, also of very many", async () => {
  for (let count = 0; count < 60; count++)
    await addSchedule(world, { kind: "at", atMs: START_MS + 10 * HOUR_MS + count * MINUTE_MS }, { name: `at ${count}` });
  const late = await addSchedule(world, { kind: "every", everyMs: 8 * HOUR_MS, anchorMs: START_MS + 12 * HOUR_MS }, { name: "late" });
  const off = await addSchedule(world, EVERY_MINUTE, { enabled: false });
  const { runs } = await world.call<Upcoming>("sched.upcoming", { hours: 24, limit: 200 });
  expect(runs.map(({ name }) => name)).toEqual([...Array.from({ length: 60 }, (_, at) => `at ${at}`), "late", "late"]);
  expect(runs.slice(-2)).toMatchObject((await preview(late)).slice(0, 2).map((atMs) => ({ scheduleId: late, atMs })));
  expect(runs.some(({ scheduleId }) => scheduleId === off)).toBe(false);
  expect((await world.call<Upcoming>("sched.upcoming", { hours: 744, limit: 200 })).runs.at(-1)!.atMs - world.now).toBeGreaterThan(
    30 * DAY_MS,
  );
});
