import * as fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { SysError } from "../lib/sys-error.ts";
import { ScheduleExpression } from "../protocol/schedule-records.ts";
import { describeExpression } from "./describe.ts";
import { nextRun } from "./next-run.ts";
import { parseWhen, splitWhen } from "./words.ts";

/** A Wednesday, 12:20:30 in Berlin. */
const NOW = Date.parse("2026-07-15T10:20:30Z");
const HERE = { now: NOW, timezone: "Europe/Berlin" };
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

function read(text: string): string {
  const expression = parseWhen(text, HERE);
  if (expression.kind === "cron")
    return expression.timezone === HERE.timezone ? expression.expr : `${expression.expr} ${expression.timezone}`;
  return expression.kind === "at"
    ? describeExpression(expression, HERE.timezone).replace(" (Europe/Berlin)", "")
    : describeExpression(expression);
}

describe("a time of day that repeats is a cron expression", () => {
  it.each([
    ["every day at 9", "0 9 * * *"],
    ["daily 09:00", "0 9 * * *"],
    ["daily", "0 9 * * *"],
    ["Every morning at 8", "0 8 * * *"],
    ["every evening at 8", "0 20 * * *"],
    ["every night at 12", "0 0 * * *"],
    ["weekdays at 9:30", "30 9 * * 1-5"],
    ["every weekday at 9am", "0 9 * * 1-5"],
    ["at 9 on weekdays", "0 9 * * 1-5"],
    ["weekends at 10", "0 10 * * 0,6"],
    ["every monday at 10", "0 10 * * 1"],
    ["mondays and fridays at 17:00", "0 17 * * 1,5"],
    ["mon,wed,fri 8:00", "0 8 * * 1,3,5"],
    ["monday to friday at 9", "0 9 * * 1-5"],
    ["sat-mon 9:00", "0 9 * * 0,1,6"],
    ["weekly", "0 9 * * 1"],
    ["every day", "0 9 * * *"],
    ["every week", "0 9 * * 1"],
    ["every week at 10", "0 10 * * 1"],
    ["every 1 day at 10", "0 10 * * *"],
    ["every 1 week on tuesday", "0 9 * * 2"],
    ["every 7 days on friday at 8", "0 8 * * 5"],
    ["every week on tuesday", "0 9 * * 2"],
    ["every month on the 1st at 9:00", "0 9 1 * *"],
    ["on the 15th of every month at noon", "0 12 15 * *"],
    ["the first and third of every month", "0 9 1,3 * *"],
    ["every january first", "0 9 1 1 *"],
    ["monthly on days 1 and 15 at midnight", "0 0 1,15 * *"],
    ["every 3 months on the 1st at 8", "0 8 1 1,4,7,10 *"],
    ["every year on 24 december at 18:00", "0 18 24 12 *"],
    ["every december 24th at 6 p.m.", "0 18 24 12 *"],
    ["every monday in december at 9", "0 9 * 12 1"],
    ["every day at 9, 12 and 17", "0 9,12,17 * * *"],
    ["every day at 9:15 and 9:45", "15,45 9 * * *"],
    ["every hour at :15", "15 * * * *"],
    ["hourly at :00 and :30", "0,30 * * * *"],
    ["every 2 hours at :15", "15 */2 * * *"],
    ["every 15 minutes on weekends", "*/15 * * * 0,6"],
    ["every 30 minutes from 9 to 17 on weekdays", "*/30 9-16 * * 1-5"],
    ["every hour between 9 and 17", "0 9-17 * * *"],
    ["every day at 9 UTC", "0 9 * * * UTC"],
    ["weekdays at 9 (America/New_York)", "0 9 * * 1-5 America/New_York"],
    ["30 9 * * mon-fri", "30 9 * * mon-fri"],
    ["cron 5 4 1-7 * 1", "5 4 1-7 * 1"],
    ["@daily", "@daily"],
  ])("%s", (text, expected) => expect(read(text)).toBe(expected));
});

describe("an interval is one", () => {
  it.each([
    ["every 2h", 2 * HOUR_MS],
    ["every 15 minutes", 15 * MINUTE_MS],
    ["hourly", HOUR_MS],
    ["every other hour", 2 * HOUR_MS],
    ["every half hour", HOUR_MS / 2],
    ["every 90 seconds", 90_000],
    ["every 1h 30m", 1.5 * HOUR_MS],
    ["every second", 1_000],
    ["every 2 days", 2 * DAY_MS],
    ["every two weeks", 14 * DAY_MS],
    ["every 1d", DAY_MS],
    ["every 1 day", DAY_MS],
    ["every 24h", DAY_MS],
    ["every 7d", 7 * DAY_MS],
    ["every 7 days", 7 * DAY_MS],
    ["every 1 week", 7 * DAY_MS],
    ["every one week", 7 * DAY_MS],
    ["every 30d", 30 * DAY_MS],
  ])("%s", (text, everyMs) => expect(parseWhen(text, HERE)).toEqual({ kind: "every", everyMs }));

  it.each([
    ["in 20 minutes", 20 * MINUTE_MS],
    ["after 2h", 2 * HOUR_MS],
    ["in an hour", HOUR_MS],
    ["half an hour from now", HOUR_MS / 2],
    ["in 1.5 hours", 1.5 * HOUR_MS],
    ["in 1 hour and 30 minutes", 1.5 * HOUR_MS],
    ["in 3 days", 3 * DAY_MS],
  ])("%s", (text, afterMs) => expect(parseWhen(text, HERE)).toEqual({ kind: "after", afterMs }));
});

describe("what runs once is an instant", () => {
  it.each([
    ["tomorrow 09:00", "Thu 16 Jul 2026 at 09:00"],
    ["tomorrow morning", "Thu 16 Jul 2026 at 09:00"],
    ["today at 17:30", "Wed 15 Jul 2026 at 17:30"],
    ["at 18:00", "Wed 15 Jul 2026 at 18:00"],
    ["12:20", "Thu 16 Jul 2026 at 12:20"],
    ["9am", "Thu 16 Jul 2026 at 09:00"],
    ["tonight at 8", "Wed 15 Jul 2026 at 20:00"],
    ["tonight at 1", "Thu 16 Jul 2026 at 01:00"],
    ["midnight", "Thu 16 Jul 2026 at 00:00"],
    ["today at midnight", "Thu 16 Jul 2026 at 00:00"],
    ["monday 9:00", "Mon 20 Jul 2026 at 09:00"],
    ["next monday at 9am", "Mon 20 Jul 2026 at 09:00"],
    ["wednesday at 13:00", "Wed 15 Jul 2026 at 13:00"],
    ["wednesday at 12:00", "Wed 22 Jul 2026 at 12:00"],
    ["next wednesday at 13:00", "Wed 22 Jul 2026 at 13:00"],
    ["on friday at noon", "Fri 17 Jul 2026 at 12:00"],
    ["in 3 days at 9", "Sat 18 Jul 2026 at 09:00"],
    ["in a month", "Sat 15 Aug 2026 at 12:20:30"],
    ["on the 15th at 9", "Sat 15 Aug 2026 at 09:00"],
    ["the 31st", "Fri 31 Jul 2026 at 09:00"],
    ["2026-12-24 18:00", "Thu 24 Dec 2026 at 18:00"],
    ["2026-12-24T18:00:05", "Thu 24 Dec 2026 at 18:00:05"],
    ["2026-12-24T18:00:00+02:00", "Thu 24 Dec 2026 at 17:00"],
    ["24 december 18:00", "Thu 24 Dec 2026 at 18:00"],
    ["thu 24 dec 2026 at 18:00 UTC", "Thu 24 Dec 2026 at 19:00"],
    ["15 july", "Thu 15 Jul 2027 at 09:00"],
    ["29 feb at 8pm", "Tue 29 Feb 2028 at 20:00"],
    ["2026-10-25 02:30", "Sun 25 Oct 2026 at 02:30"],
    ["2027-03-28 02:30", "Sun 28 Mar 2027 at 03:00"],
  ])("%s", (text, expected) => expect(read(text)).toBe(`once, on ${expected}`));

  it("the first of two", () => {
    expect(parseWhen("2026-10-25 02:30", HERE)).toEqual({ kind: "at", atMs: Date.parse("2026-10-25T00:30Z") });
  });
});

describe("every few days at a time of day", () => {
  it("is an interval where the clock is never changed", () => {
    expect(parseWhen("every 2 days at 9", { now: NOW, timezone: "Asia/Tokyo" })).toEqual({
      kind: "every",
      everyMs: 2 * DAY_MS,
      anchorMs: Date.parse("2026-07-16T00:00Z"),
    });
    expect(parseWhen("every other friday at 10 UTC", HERE)).toEqual({
      kind: "every",
      everyMs: 14 * DAY_MS,
      anchorMs: Date.parse("2026-07-17T10:00Z"),
    });
    expect(parseWhen("every 7 days at 9 UTC", HERE)).toEqual({
      kind: "every",
      everyMs: 7 * DAY_MS,
      anchorMs: Date.parse("2026-07-16T09:00Z"),
    });
  });

  it("is refused elsewhere, with what comes nearest", () => {
    expect(() => parseWhen("every 2 days at 9", HERE)).toThrow('Say "every day at 09:00"');
    expect(() => parseWhen("every other friday at 9", HERE)).toThrow('Say "every Friday at 09:00"');
    expect(() => parseWhen("every 7 days at 9", HERE)).toThrow('Say "every week at 09:00"');
  });
});

describe("is refused", () => {
  it.each([
    ["at 25:00", "There is no time 25:00"],
    ["at 13pm", "There is no 13 pm"],
    ["every hour at :75", "There is no minute 75"],
    ["31 february", "There is no day 31 February"],
    ["2026-02-30", "There is no day 30 February 2026"],
    ["fri 24 dec 2026", "2026-12-24 is a Thursday"],
    ["today at 9", "Wed 15 Jul 2026 at 09:00 (Europe/Berlin) is in the past"],
    ["in 0 minutes", "at least one second"],
    ["every 500ms", "at least one second"],
    ["in 4000 days", "at most ten years"],
    ["every day at 9, 12 and 17:30", "need a schedule each"],
    ["tomorrow at 9 and 10", "runs once has one time"],
    ["every first monday at 9", "are not supported"],
    ["every month on the last day", "are not supported"],
    ["every 7 minutes on mondays", "must divide the hour"],
    ["every monday on the 13th", "cron would take either"],
    ["friday night at 12", "belongs to the next day"],
    ["* * * * * *", "five fields"],
    ["0 0 31 2 *", "Feb cannot have day 31"],
    ["every day at 9 Europe/Atlantis", "is not understood"],
    ["9", "is not understood"],
    ["yesterday", "is not understood"],
    ["last friday", "is not understood"],
    ["tonight the 31st", "is not understood"],
    ["monday first", "is not understood"],
    ["every", "is not understood"],
    ["", '"in 20 minutes", "every weekday at 9:30" or "24 december 18:00"'],
    ["x".repeat(201), "at most 200 characters"],
  ])("%s", (text, why) => {
    expect(() => parseWhen(text, HERE)).toThrow(SysError);
    expect(() => parseWhen(text, HERE)).toThrow(why);
  });
});

describe("a sentence is split", () => {
  it.each([
    ["every weekday at 9 summarise my mail", "every weekday at 09:00", "summarise my mail"],
    ["remind me to call mum tomorrow at 10", "once, on Thu 16 Jul 2026 at 10:00", "remind me to call mum"],
    ["remind me tomorrow at 10 to call mum", "once, on Thu 16 Jul 2026 at 10:00", "remind me to call mum"],
    ["Please remind me in 2 hours to stretch", "once, after 2 hours", "Please remind me to stretch"],
    ["every day at 9: do it", "every day at 09:00", "do it"],
    ["check the mail, every 15 minutes", "every 15 minutes", "check the mail"],
    ["0 9 * * 1-5 summarise my mail", "every weekday at 09:00", "summarise my mail"],
    ["every monday at 9 explain 24 december 1989", "every Monday at 09:00", "explain 24 december 1989"],
    ["summarise chapter 5 on friday", "once, on Fri 17 Jul 2026 at 09:00", "summarise chapter 5"],
    ["every day at 9", "every day at 09:00", ""],
    [`in 20 minutes ${"word ".repeat(2_000)}`, "once, after 20 minutes", "word ".repeat(2_000).trim()],
  ])("%s", (text, expression, rest) => {
    const split = splitWhen(text, HERE)!;
    expect(describeExpression(split.expression, HERE.timezone).replace(/ \(Europe\/Berlin\)$/, "")).toBe(expression);
    expect(split.rest).toBe(rest);
  });

  it.each(["hello there", "summarise the last report", "what happened last friday", "count 1 2 3 4 5", ""])("but not %j", (text) => {
    expect(splitWhen(text, HERE)).toBeNull();
  });

  it("a time in it that cannot be is refused", () => {
    expect(() => splitWhen("every 2 days at 9 water the plants", HERE)).toThrow("is not supported where the clock is changed");
    expect(() => splitWhen("explain the events of 24 december 1989", HERE)).toThrow("is in the past");
  });

  it.each([
    ["every Tuesday at half past seven in the evening send the report", "at half past seven"],
    ["every day except sunday at 8 run", "except sunday at 8"],
    ["in an hour and a half look at the disk", "and a half look"],
    ["every weekday at 9 except holidays summarise", "except holidays summarise"],
    ["tomorrow at 10 in Berlin time call", "in Berlin time call"],
    ["every day until friday look", "until friday look"],
  ])("refuses %j, which says more of the time than is understood", (text, shown) => {
    expect(() => splitWhen(text, HERE)).toThrow(`"${shown}" after the time is not understood`);
  });

  it.each(["every day at 9 look at the disks", "tomorrow in the office check the lights", "every weekday at 9 and then summarise"])(
    "takes %j as a time and what to do",
    (text) => {
      expect(splitWhen(text, HERE)?.rest).not.toBe("");
    },
  );
});

const WORDS = (
  "every each other second in after at on the of from to between and , - next this last today tomorrow tonight morning evening night day " +
  "days weekday weekdays weekend week month year hourly daily monthly monday tuesdays fri 24 december feb 1st 31st 15 9 0 99 9:30 25:00 :15 " +
  ":75 am pm noon midnight minutes hours h s 2026-12-24 2026-02-30 1.5 half an hour now UTC Europe/Berlin (UTC) * */5 1-5 @daily cron first once"
).split(" ");

function expectRead(text: string): void {
  try {
    const expression = parseWhen(text, HERE);
    expect(ScheduleExpression.safeParse(expression).success, text).toBe(true);
    expect(nextRun(expression, NOW, NOW), text).toBeGreaterThan(NOW);
    expect(describeExpression(expression)).not.toMatch(/NaN|undefined|null/);
  } catch (error) {
    if (!(error instanceof SysError) || error.code !== 400) throw error;
  }
}

test("any row of words becomes an expression that runs, or is refused with 400", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...WORDS), { maxLength: 7 }), (words) => expectRead(words.join(" "))),
    { numRuns: 5_000 },
  );
});

test("any text becomes an expression that runs, or is refused with 400", () => {
  fc.assert(fc.property(fc.string({ maxLength: 210, unit: "binary" }), expectRead));
  fc.assert(fc.property(fc.stringMatching(/^[a-z0-9 :,./*@+-]{0,200}$/), expectRead));
});

test("any sentence is split, or is not", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constantFrom(...WORDS), fc.string({ maxLength: 9 })), { maxLength: 20 }), (words) => {
      try {
        const split = splitWhen(words.join(" "), HERE);
        if (split !== null) expect(nextRun(split.expression, NOW, NOW)).toBeGreaterThan(NOW);
      } catch (error) {
        if (!(error instanceof SysError) || error.code !== 400) throw error;
      }
    }),
  );
});
