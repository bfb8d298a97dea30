import * as fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { ScheduleExpression } from "../protocol/schedule-records.ts";
import { checkExpression, countRuns, listNextRuns, nextRun } from "./next-run.ts";

const utc = (text: string) => Date.parse(`${text}Z`);
const iso = (at: number) => new Date(at).toISOString().slice(0, 16);
const cron = (expr: string, timezone = "UTC"): ScheduleExpression => ({ kind: "cron", expr, timezone });

/** The next runs, as UTC. */
function runsOf(expr: string, timezone: string, after: string, count: number): string[] {
  return listNextRuns(cron(expr, timezone), utc(after), 0, count).map(iso);
}

test("at runs once, if it is still to come", () => {
  expect(nextRun({ kind: "at", atMs: 1_000 }, 999, 0)).toBe(1_000);
  expect(nextRun({ kind: "at", atMs: 1_000 }, 1_000, 0)).toBeNull();
});

test("after runs once, counted from when it was made", () => {
  expect(nextRun({ kind: "after", afterMs: 500 }, 1_000, 1_000)).toBe(1_500);
  expect(nextRun({ kind: "after", afterMs: 500 }, 1_500, 1_000)).toBeNull();
});

test("every is counted from its anchor, which is a run, or from when it was made, which is none", () => {
  expect(listNextRuns({ kind: "every", everyMs: 1_000, anchorMs: 5_500 }, 0, 1, 3)).toEqual([5_500, 6_500, 7_500]);
  expect(listNextRuns({ kind: "every", everyMs: 1_000, anchorMs: 500 }, 5_500, 1, 2)).toEqual([6_500, 7_500]);
  expect(listNextRuns({ kind: "every", everyMs: 1_000 }, 0, 5_500, 2)).toEqual([6_500, 7_500]);
  expect(nextRun({ kind: "every", everyMs: 1_000 }, 9_499, 5_500)).toBe(9_500);
});

test("intervals are exact however long they go on", () => {
  const time = fc.integer({ min: 0, max: 250_000_000_000_000 });
  fc.assert(
    fc.property(time, time, fc.integer({ min: 1_000, max: 300_000_000_000 }), (anchorMs, after, everyMs) => {
      const next = nextRun({ kind: "every", everyMs, anchorMs }, after, 0)!;
      expect(next).toBeGreaterThan(after);
      expect((BigInt(next) - BigInt(anchorMs)) % BigInt(everyMs)).toBe(0n);
      expect(next === anchorMs || next - everyMs <= after).toBe(true);
    }),
  );
});

test("nothing runs after the year 9999, and no number is NaN", () => {
  const end = Date.UTC(9999, 11, 31);
  expect(nextRun({ kind: "every", everyMs: 3_000_000_000 }, end, 0)).toBeNull();
  for (const after of [NaN, Infinity, 1e300])
    for (const expression of [cron("* * * * *"), { kind: "at", atMs: 5 }, { kind: "every", everyMs: 1_000 }] as ScheduleExpression[])
      expect(nextRun(expression, after, 0)).toBeNull();
  expect(nextRun({ kind: "after", afterMs: 5 }, 0, NaN)).toBeNull();
  expect(nextRun({ kind: "every", everyMs: 1_000 }, 0, NaN)).toBeNull();
  expect(nextRun({ kind: "every", everyMs: 0 }, 0, 0)).toBeNull();
});

describe("fixed times", () => {
  it.each([
    ["run when the gap is over", "30 2 * * *", "Europe/Berlin", "2026-03-28T12:00", ["2026-03-29T01:00", "2026-03-30T00:30"]],
    ["of one gap are one run", "0,20,40 2,3 * * *", "Europe/Berlin", "2026-03-29T00:30", ["2026-03-29T01:00", "2026-03-29T01:20"]],
    ["run once in a fold", "30 2 * * *", "Europe/Berlin", "2026-10-24T12:00", ["2026-10-25T00:30", "2026-10-26T01:30"]],
    ["are over in the second pass of a fold", "45 2 * * *", "Europe/Berlin", "2026-10-25T01:10", ["2026-10-26T01:45"]],
    ["at midnight run at 1:00", "0 0 * * *", "America/Santiago", "2026-09-05T12:00", ["2026-09-06T04:00", "2026-09-07T03:00"]],
    ["at midnight of Beirut", "0 0 * * *", "Asia/Beirut", "2026-03-28T12:00", ["2026-03-28T22:00", "2026-03-29T21:00"]],
    ["in half an hour of Lord Howe", "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00", ["2026-10-03T15:30", "2026-10-04T15:15"]],
    ["in the two hours of Troll", "30 1,2 * * *", "Antarctica/Troll", "2026-03-28T12:00", ["2026-03-29T01:00", "2026-03-29T23:30"]],
    ["of a gap before midnight run on the next day", "30 23 * * 6", "America/Nuuk", "2026-03-28T12:00", ["2026-03-29T01:00"]],
    ["around Ramadan", "30 2 * * *", "Africa/Casablanca", "2025-04-05T12:00", ["2025-04-06T02:00", "2025-04-07T01:30"]],
    ["of a day that was skipped", "0 12 * * *", "Pacific/Apia", "2011-12-30T00:00", ["2011-12-30T10:00", "2011-12-30T22:00"]],
  ])("%s", (_, expr, timezone, after, expected) => {
    expect(runsOf(expr, timezone, after, expected.length)).toEqual(expected);
  });
});

describe("intervals follow real time", () => {
  it.each([
    ["each hour of a gap", "30 * * * *", "Europe/Berlin", "2026-03-29T00:00", ["2026-03-29T00:30", "2026-03-29T01:30"]],
    ["each hour of a fold", "30 * * * *", "Europe/Berlin", "2026-10-25T00:00", ["2026-10-25T00:30", "2026-10-25T01:30"]],
    ["skipped minutes", "*/30 2 * * *", "Europe/Berlin", "2026-03-29T00:00", ["2026-03-30T00:00"]],
    [
      "repeated minutes",
      "*/30 2 * * *",
      "Europe/Berlin",
      "2026-10-24T12:00",
      ["2026-10-25T00:00", "2026-10-25T00:30", "2026-10-25T01:00", "2026-10-25T01:30", "2026-10-26T01:00"],
    ],
    ["half an hour of Lord Howe", "45 * * * *", "Australia/Lord_Howe", "2026-04-04T14:00", ["2026-04-04T14:45", "2026-04-04T15:15"]],
  ])("%s", (_, expr, timezone, after, expected) => {
    expect(runsOf(expr, timezone, after, expected.length)).toEqual(expected);
  });
});

describe("days", () => {
  it.each([
    ["either, if both are named", "0 0 13 * 5", ["2026-02-06", "2026-02-13", "2026-02-20", "2026-02-27", "2026-03-06", "2026-03-13"]],
    ["both, if one begins with *", "0 0 */2 * 5", ["2026-02-13", "2026-02-27", "2026-03-13", "2026-03-27"]],
    ["the one that is named", "0 0 13 * *", ["2026-02-13", "2026-03-13"]],
    ["every day, if a list names all", "0 0 1-31 * 5", ["2026-02-02", "2026-02-03"]],
    ["of the months that have them", "0 0 31 * *", ["2026-03-31", "2026-05-31", "2026-07-31"]],
  ])("%s", (_, expr, expected) => {
    expect(runsOf(expr, "UTC", "2026-02-01T00:00", expected.length)).toEqual(expected.map((day) => `${day}T00:00`));
  });
});

test("the 29th of February comes back, also after 2100", () => {
  expect(runsOf("0 0 29 2 *", "UTC", "2026-01-01T00:00", 2)).toEqual(["2028-02-29T00:00", "2032-02-29T00:00"]);
  expect(runsOf("0 0 29 2 *", "Asia/Tokyo", "2097-01-01T00:00", 1)).toEqual(["2104-02-28T15:00"]);
  expect(runsOf("* * 29 2 */7", "UTC", "2096-03-01T00:00", 1)).toEqual(["2128-02-29T00:00"]);
});

test("the next run is after, and nothing runs in between", () => {
  const zones = fc.constantFrom("UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/Santiago", "Africa/Casablanca", "Asia/Kathmandu");
  const exprs = fc.constantFrom("* * * * *", "30 2 * * *", "*/7 1-3 * * *", "0 0 29 2 *", "15,45 0,2 1-7 * 0", "59 23 31 12 *");
  const after = fc.integer({ min: utc("2024-01-01T00:00"), max: utc("2031-01-01T00:00") });
  fc.assert(
    fc.property(zones, exprs, after, fc.nat({ max: 86_400_000 }), (timezone, expr, after, earlier) => {
      const next = nextRun(cron(expr, timezone), after, 0)!;
      expect(next).toBeGreaterThan(after);
      const before = nextRun(cron(expr, timezone), after - earlier, 0)!;
      expect(before === next || before <= after).toBe(true);
    }),
  );
});

test("runs are counted up to a limit", () => {
  const [from, until] = [utc("2026-01-01T00:00"), utc("2026-01-08T00:00")];
  expect(countRuns(cron("0 9 * * *"), from, until, 0, 100)).toBe(7);
  expect(countRuns(cron("0 0 * * *"), from, until, 0, 100)).toBe(7);
  expect(countRuns(cron("* * * * *"), from, until, 0, 100)).toBe(100);
  expect(countRuns(cron("0 0 29 2 *"), from, until, 0, 100)).toBe(0);
  expect(countRuns({ kind: "every", everyMs: 3_600_000, anchorMs: from }, from, until, 0, 1_000)).toBe(168);
  expect(countRuns({ kind: "every", everyMs: 3_600_000 }, from, until, from, 50)).toBe(50);
  expect(countRuns({ kind: "at", atMs: until }, from, until, 0, 100)).toBe(1);
  expect(countRuns({ kind: "at", atMs: until + 1 }, from, until, 0, 100)).toBe(0);
});

describe("what never runs is refused", () => {
  const now = utc("2026-07-01T12:00");
  it.each<[string, ScheduleExpression]>([
    ["atMs is in the past: 2026-07-01T12:00:00.000Z is not after 2026-07-01T12:00:00.000Z", { kind: "at", atMs: now }],
    ["afterMs must be a positive", { kind: "after", afterMs: -1 }],
    ["afterMs must be a positive", { kind: "after", afterMs: 1e18 }],
    ["everyMs and anchorMs must be", { kind: "every", everyMs: 1_000, anchorMs: 1e18 }],
    ["Feb cannot have day 30", cron("0 0 30 2 *")],
    ["the clock of Europe/Berlin skips all its times", cron("* 2 25-31 3 */7", "Europe/Berlin")],
    ["minutes are 0-59", cron("99 * * * *")],
    ["timezone must be a valid IANA timezone", cron("* * * * *", "Europe/Atlantis")],
  ])("%s", (why, expression) => expect(() => checkExpression(expression, now)).toThrow(why));

  it("and the rest is not", () => {
    checkExpression({ kind: "at", atMs: now + 1 }, now);
    checkExpression({ kind: "after", afterMs: 1 }, now);
    checkExpression({ kind: "every", everyMs: 1_000 }, now);
    checkExpression(cron("* 2 31 3 *", "Europe/Berlin"), now);
  });
});
