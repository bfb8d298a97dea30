// Coming runs are listed in order, and no more of them are computed than are listed.

import { expect, test } from "vitest";
import type { ScheduleExpression } from "../../protocol/schedule-records.ts";
import { type ComingSchedule, listComingRuns, listRunsOf } from "./coming-runs.ts";

const HOUR_MS = 3_600_000;
const NOW = Date.UTC(2026, 0, 5, 9, 30);
const at = (hour: number) => Date.UTC(2026, 0, 5, hour);

function makeSchedule(id: string, nextAt: number | null, expression: ScheduleExpression, anchorAt = at(8)): ComingSchedule {
  return { id, name: id, expression, anchorAt, nextAt };
}

/** An interval that counts how many runs were computed. */
function countedInterval(everyMs: number): { expression: ScheduleExpression; computed: () => number } {
  let reads = 0;
  const expression = {
    kind: "every" as const,
    anchorMs: 0,
    get everyMs() {
      reads++;
      return everyMs;
    },
  };
  return { expression, computed: () => reads };
}

test("the runs of a schedule count from its own anchor, and begin with its next run", () => {
  expect(listRunsOf(makeSchedule("a", at(10), { kind: "every", everyMs: 2 * HOUR_MS }), NOW, 3)).toEqual([at(10), at(12), at(14)]);
  expect(listRunsOf(makeSchedule("a", at(11), { kind: "after", afterMs: 3 * HOUR_MS }), NOW, 3)).toEqual([at(11)]);
  expect(listRunsOf(makeSchedule("a", null, { kind: "every", everyMs: HOUR_MS }), NOW, 3)).toEqual([]);
});

test("after a time that is due and waits come those that have not passed", () => {
  expect(listRunsOf(makeSchedule("a", at(8), { kind: "at", atMs: at(8) }), NOW, 3)).toEqual([at(8)]);
  expect(listRunsOf(makeSchedule("a", at(7), { kind: "every", everyMs: HOUR_MS }, at(6)), NOW, 3)).toEqual([at(7), at(10), at(11)]);
});

test("a schedule whose zone is not known any more has its next run", () => {
  const gone: ScheduleExpression = { kind: "cron", expr: "0 9 * * *", timezone: "Europe/Atlantis" };
  expect(listRunsOf(makeSchedule("a", at(10), gone), NOW, 3)).toEqual([at(10)]);
});

test("the runs of many are in order, up to a time and a number", () => {
  const schedules = [
    makeSchedule("every two", at(10), { kind: "every", everyMs: 2 * HOUR_MS }),
    makeSchedule("every three", at(11), { kind: "every", everyMs: 3 * HOUR_MS }),
    makeSchedule("off", null, { kind: "every", everyMs: HOUR_MS }),
  ];
  const list = (until: number, limit: number) =>
    listComingRuns(schedules, { now: NOW, until, limit }).map(({ name, atMs }) => [name, (atMs - at(0)) / HOUR_MS]);
  const runs = [
    ["every two", 10],
    ["every three", 11],
    ["every two", 12],
    ["every two", 14],
    ["every three", 14],
    ["every two", 16],
  ];
  expect(list(at(16), 50)).toEqual(runs);
  expect(list(at(16), 4)).toEqual(runs.slice(0, 4));
  expect(list(at(9), 50)).toEqual([]);
});

test("runs after the time that was asked for, or beyond the number, are not computed", () => {
  const YEAR_MS = 365 * 24 * HOUR_MS;
  const yearly = Array.from({ length: 50 }, () => countedInterval(YEAR_MS));
  const rare = yearly.map(({ expression }, index) => makeSchedule(String(index), at(10), expression));
  expect(listComingRuns(rare, { now: NOW, until: at(20), limit: 200 })).toHaveLength(50);
  // One each, to know that it is later.
  expect(yearly.map(({ computed }) => computed())).toEqual(yearly.map(() => 1));

  const often = countedInterval(60_000);
  const schedules = Array.from({ length: 50 }, (_, index) => makeSchedule(String(index), at(10), often.expression));
  expect(listComingRuns(schedules, { now: NOW, until: at(20), limit: 20 })).toHaveLength(20);
  expect(often.computed()).toBeLessThan(20);
});
