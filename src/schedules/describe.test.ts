import { describe, expect, it, test } from "vitest";
import { parseCron } from "./cron.ts";
import { describeExpression } from "./describe.ts";
import { parseWhen } from "./words.ts";

const HERE = { now: Date.parse("2026-07-15T10:20:30Z"), timezone: "Europe/Berlin" };

const IN_WORDS = [
  ["0 9 * * *", "every day at 09:00"],
  ["30 9 * * 1-5", "every weekday at 09:30"],
  ["0 9 * * mon-fri", "every weekday at 09:00"],
  ["0 10 * * 0,6", "every Saturday and Sunday at 10:00"],
  ["0 17 * * 1,3,5", "every Monday, Wednesday and Friday at 17:00"],
  ["0 9,12,17 * * *", "every day at 09:00, 12:00 and 17:00"],
  ["15,45 9 * * *", "every day at 09:15 and 09:45"],
  ["0 9 1 * *", "every month on day 1 at 09:00"],
  ["0 9 1,15 * *", "every month on days 1 and 15 at 09:00"],
  ["0 18 24 12 *", "every year on 24 December at 18:00"],
  ["0 0 1 1,7 *", "every year on 1 January and 1 July at 00:00"],
  ["0 0 1,15 3 *", "every year on 1 March and 15 March at 00:00"],
  ["0 9 * 12 *", "every day in December at 09:00"],
  ["30 8,12 * 6,7 1", "every Monday in June and July at 08:30 and 12:30"],
  ["15 * * * *", "every hour at :15"],
  ["0,15 * * * *", "every hour at :00 and :15"],
  ["15 */2 * * *", "every 2 hours at :15"],
  ["0 9-17 * * *", "every hour from 09:00 to 17:00"],
  ["*/30 9-17 * * 1-5", "every 30 minutes from 09:00 to 17:30 on weekdays"],
  ["*/15 * * * 0,6", "every 15 minutes on Saturdays and Sundays"],
  ["15 * 1,15 * *", "every hour at :15 on days 1 and 15 of the month"],
  ["15 * 24 12 *", "every hour at :15 on 24 December"],
  ["15 * * 12 *", "every hour at :15 in December"],
  ["5 4 1-7 * 1", "cron 5 4 1-7 * 1"],
  ["5 4 */2 * 1", "cron 5 4 */2 * 1"],
  ["*/7 * * * *", "cron */7 * * * *"],
  ["*/5 */2 * * *", "cron */5 */2 * * *"],
] as const;

describe("a cron expression in words", () => {
  it.each(IN_WORDS)("%s", (expr, words) => {
    expect(describeExpression({ kind: "cron", expr, timezone: "UTC" })).toBe(`${words} (UTC)`);
  });

  it.each([
    ["*/15 * * * *", "every 15 minutes (UTC)"],
    ["@hourly", "every hour (UTC)"],
    ["* * * * *", "every minute (UTC)"],
  ])("%s", (expr, words) => expect(describeExpression({ kind: "cron", expr, timezone: "UTC" })).toBe(words));
});

describe("its words are read back", () => {
  it.each(IN_WORDS)("%s: %s", (expr, words) => {
    const read = parseWhen(words, HERE);
    if (read.kind !== "cron") throw new Error(`${words} became ${read.kind}`);
    const valuesOf = (text: string) => Object.values(parseCron(text)).map((field) => (typeof field === "object" ? field.values : field));
    expect(valuesOf(read.expr)).toEqual(valuesOf(expr));
  });

  it("with their zone", () => {
    const expression = { kind: "cron", expr: "0 9 * * 1-5", timezone: "America/New_York" } as const;
    expect(parseWhen(describeExpression(expression), HERE)).toEqual(expression);
  });
});

test("the rest", () => {
  expect(describeExpression({ kind: "after", afterMs: 1_200_000 })).toBe("once, after 20 minutes");
  expect(describeExpression({ kind: "every", everyMs: 7_200_000 })).toBe("every 2 hours");
  expect(describeExpression({ kind: "every", everyMs: 3_600_000 })).toBe("every hour");
  expect(describeExpression({ kind: "every", everyMs: 90_000 })).toBe("every 90 seconds");
  expect(describeExpression({ kind: "every", everyMs: 86_400_000 })).toBe("every 24 hours");
  expect(describeExpression({ kind: "every", everyMs: 1_209_600_000 })).toBe("every 14 days");
  expect(describeExpression({ kind: "every", everyMs: 1_500 })).toBe("every 1500 milliseconds");
  const at = Date.parse("2026-12-24T18:00:00Z");
  expect(describeExpression({ kind: "at", atMs: at })).toBe("once, on Thu 24 Dec 2026 at 18:00 (UTC)");
  expect(describeExpression({ kind: "at", atMs: at + 5_000 }, "Asia/Kathmandu")).toBe(
    "once, on Thu 24 Dec 2026 at 23:45:05 (Asia/Kathmandu)",
  );
  expect(describeExpression({ kind: "every", everyMs: 172_800_000, anchorMs: at })).toBe(
    "every 2 days, counted from Thu 24 Dec 2026 at 18:00 (UTC)",
  );
});

test("what runs once is read back too", () => {
  for (const expression of [
    { kind: "after", afterMs: 5_400_000 },
    { kind: "every", everyMs: 172_800_000 },
    { kind: "at", atMs: Date.parse("2026-12-24T18:00:05Z") },
  ] as const)
    expect(parseWhen(describeExpression(expression, "America/New_York"), HERE)).toEqual(expression);
});
