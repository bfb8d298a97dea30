// B16: schedules run when the clock on the wall says so. For every time zone and every change of its clock in seven years, and for random
// expressions, the next run is compared with a slow scan of real minutes that shares no code. Expressions that never run are refused
// without a search.
//   test/trust/clock.ts [--expressions N] [--samples N] [--seed S]
// `--expressions` is how many are tried around each change, `--samples` how many random ones.

import { SysError } from "../../src/lib/sys-error.ts";
import { checkExpression, nextRun } from "../../src/schedules/next-run.ts";
import { listTransitions } from "../../src/schedules/zone.ts";
import { Bar, numberFlag } from "./bar.ts";
import { makeExpression } from "./clock/expressions.ts";
import { type Change, findChanges, Minutes, readExpression } from "./clock/minute-scan.ts";
import { Random } from "./crash/random.ts";

const EXPRESSIONS = numberFlag("expressions", 3);
const SAMPLES = numberFlag("samples", 10_000);
const SEED = numberFlag("seed", 1);
const FROM = Date.UTC(2024, 0, 1);
const UNTIL = Date.UTC(2031, 0, 1);
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Times in a window from which the next run is asked for. */
const STARTS = 5;
const RUNS_IN_A_ROW = 12;
const REPEATS = 5;
/** How many windows the random expressions share. */
const WINDOWS = 30;

/** Older names, and names of whole countries. */
const LINKS = (
  "America/Buenos_Aires America/Godthab America/Indianapolis America/Louisville Antarctica/South_Pole Africa/Asmera Asia/Calcutta " +
  "Asia/Katmandu Asia/Rangoon Asia/Saigon Asia/Ulan_Bator Atlantic/Faeroe Australia/ACT Australia/LHI Australia/South Brazil/East CET " +
  "Canada/Atlantic Canada/Newfoundland Chile/Continental Chile/EasterIsland Cuba EET EST EST5EDT Egypt Eire Etc/GMT+12 Etc/GMT-14 Etc/UTC " +
  "Europe/Kiev GB GMT Hongkong Iran Israel Jamaica Japan Libya MET MST7MDT Mexico/General NZ NZ-CHAT Navajo PRC Pacific/Enderbury " +
  "Pacific/Ponape Pacific/Samoa Poland Portugal ROC ROK Singapore Turkey US/Alaska US/Eastern US/Pacific UTC WET Zulu"
).split(" ");

type Cron = { kind: "cron"; expr: string; timezone: string };
type Window = { zone: string; minutes: Minutes };

const bar = new Bar("B16 trust:clock");
const random = new Random(SEED);
let slowestColdMs = 0;
let slowestWarmMs = 0;
let slowestMs = 0;

checkBombs();
const zones = [...new Set([...Intl.supportedValuesOf("timeZone"), ...LINKS])];
const changes = zones.flatMap((zone) => checkZone(zone).map((change) => ({ zone, change })));
const windows = Array.from({ length: WINDOWS }, () => makeWindow());
for (let sample = 0; sample < SAMPLES; sample++) checkSample(random.pick(windows)!, makeExpression(random));
bar.numbers.zones = zones.length;
bar.numbers["slowest bomb cold, ms"] = Number(slowestColdMs.toFixed(2));
bar.numbers["slowest bomb warm, ms"] = Number(slowestWarmMs.toFixed(2));
bar.numbers["slowest of all, ms"] = Number(slowestMs.toFixed(2));
bar.end(SEED);

/** The changes of a zone, which must be those that the product knows, with its runs around each. */
function checkZone(zone: string): Change[] {
  const found = findChanges(zone, FROM, UNTIL);
  const known = listTransitions(zone, FROM, UNTIL).map(({ at, before, after }) => ({
    at,
    before: before / MINUTE_MS,
    after: after / MINUTE_MS,
  }));
  const [expected, got] = [JSON.stringify(found), JSON.stringify(known)];
  bar.check("zones", expected === got, () => `${zone}: ${got} instead of ${expected}`);
  for (const change of found) checkAround(zone, change);
  return found;
}

function checkAround(zone: string, change: Change): void {
  const minutes = new Minutes(zone, change.at - 6 * HOUR_MS, change.at + 6 * HOUR_MS);
  bar.numbers.changes = Number(bar.numbers.changes ?? 0) + 1;
  for (const expr of random.sample(expressionsAround(change), EXPRESSIONS)) {
    const cron: Cron = { kind: "cron", expr, timezone: zone };
    const expected = minutes.listRuns(readExpression(expr));
    checkRow("runs around a change", cron, minutes, expected, 200);
    const near = [change.at - 1, change.at, ...expected.slice(0, 2)];
    for (const after of [...near, ...startsIn(minutes)]) checkNext("next around a change", cron, minutes, expected, after);
  }
}

/** Fixed times before, in and after what is skipped or repeated, and every other kind of expression near it. */
function expressionsAround({ at, before, after }: Change): string[] {
  const low = new Date(at + Math.min(before, after) * MINUTE_MS);
  const high = new Date(at + Math.max(before, after) * MINUTE_MS);
  const middle = new Date((low.getTime() + high.getTime()) / 2);
  const [hour, minute] = [middle.getUTCHours(), middle.getUTCMinutes()];
  const [day, month, weekday] = [middle.getUTCDate(), middle.getUTCMonth() + 1, middle.getUTCDay()];
  const hours = `${low.getUTCHours()},${high.getUTCHours()}`;
  const fixed = [low.getTime() - MINUTE_MS, low, middle, high.getTime() - MINUTE_MS, high, high.getTime() + MINUTE_MS].map((time) => {
    const date = new Date(time);
    return `${date.getUTCMinutes()} ${date.getUTCHours()} * * *`;
  });
  return [
    ...fixed,
    `${minute},${(minute + 5) % 60},${(minute + 31) % 60} ${hour} * * *`,
    `0,15,30,45 ${hours} * * *`,
    `10-50/20 ${hours} * * *`,
    `${minute}/10 ${hour} * * *`,
    `${minute} * * * *`,
    `* ${hour} * * *`,
    `*/7 * * * *`,
    `*/20 ${hours} * * *`,
    `*/30 */2 * * *`,
    "* * * * *",
    `${minute} ${hour} ${day} * *`,
    `${minute} ${hour} ${day} ${month} *`,
    `${minute} ${hour} * * ${weekday}`,
    `${minute} ${hour} ${(day % 28) + 1} * ${weekday}`,
    `${minute} ${hour} */2 * ${weekday}`,
    `${minute} */1 * * ${(weekday + 1) % 7}`,
    "0 0 * * *",
    `0 0 ${high.getUTCDate()} * *`,
    `59 23 * * ${weekday}`,
    `0,30 0,23 ${day} * ${(weekday + 1) % 7}`,
  ];
}

/** Ten days, every other time around a change of the clock. */
function makeWindow(): Window {
  const { zone, change } = random.pick(changes)!;
  if (random.chance(0.5)) return { zone, minutes: new Minutes(zone, change.at - 5 * DAY_MS, change.at + 5 * DAY_MS) };
  const from = FROM + random.int(0, 2_499) * DAY_MS + 12 * HOUR_MS;
  const other = random.pick(zones)!;
  // A clock that was set back just before would go unnoticed.
  const isCalm = findChanges(other, from - 2 * DAY_MS, from).length === 0;
  return isCalm ? { zone: other, minutes: new Minutes(other, from, from + 10 * DAY_MS) } : makeWindow();
}

function checkSample({ zone, minutes }: Window, expr: string): void {
  const cron: Cron = { kind: "cron", expr, timezone: zone };
  const expected = minutes.listRuns(readExpression(expr));
  checkRow("random expressions", cron, minutes, expected, RUNS_IN_A_ROW);
  for (const after of startsIn(minutes)) checkNext("next of random ones", cron, minutes, expected, after);
}

/** Instants in a window, some of them not at a whole minute. */
function startsIn({ from, until }: Minutes): number[] {
  return Array.from({ length: STARTS }, () => random.int(from, until - 1)).map((at, index) =>
    index % 2 === 0 ? at : at - (at % MINUTE_MS),
  );
}

function checkRow(kind: string, cron: Cron, { from, until }: Minutes, expected: readonly number[], count: number): void {
  const got = listRow(cron, from, until, count);
  const right = expected.slice(0, count);
  bar.check(kind, got.join() === right.join(), () => {
    const index = right.findIndex((at, index) => at !== got[index]);
    const at = index === -1 ? right.length : index;
    return `${name(cron)}: run ${at} is ${time(got[at])} instead of ${time(right[at])}`;
  });
}

function listRow(cron: Cron, from: number, until: number, count: number): number[] {
  const runs: number[] = [];
  for (let at = timeNext(cron, from - 1); at !== null && at < until && runs.length < count; at = timeNext(cron, at)) runs.push(at);
  return runs;
}

function checkNext(kind: string, cron: Cron, { until }: Minutes, expected: readonly number[], after: number): void {
  const right = expected.find((at) => at > after);
  const got = timeNext(cron, after);
  const isRight = right === undefined ? got === null || got >= until : got === right;
  bar.check(kind, isRight, () => `${name(cron)}: after ${time(after)} comes ${time(got)} instead of ${time(right)}`);
}

function timeNext(cron: Cron, after: number): number | null {
  const { result, ms } = timeOf(() => nextRun(cron, after, 0));
  slowestMs = Math.max(slowestMs, ms);
  return result;
}

/** What would be searched for in vain, and what is rare, both before anything is known about it. */
function checkBombs(): void {
  const refused: [string, string, RegExp][] = [
    ["0 0 30 2 *", "UTC", /Feb cannot have day 30/],
    ["0 0 31 4,6 *", "Europe/Berlin", /Apr and Jun cannot have day 31/],
    ["* * 30,31 2 *", "Asia/Tokyo", /cannot have day/],
    ["* * 31 2,4,6,9,11 */7", "America/New_York", /cannot have day/],
    ["* 2 25-31 3 */7", "Europe/Rome", /skips all its times/],
    ["*/5 2 8-14 3 */7", "America/Chicago", /skips all its times/],
    ["0 0 1 1 * 2026", "UTC", /five fields/],
    ["* * * * * *", "UTC", /five fields/],
    [`${"0,".repeat(90)}0 0 * * *`, "UTC", /^$/],
    [`${"0,".repeat(120)}0 0 * * *`, "UTC", /at most 200/],
    ["*/0 * * * *", "UTC", /step/],
    ["0-999999999 * * * *", "UTC", /not understood/],
    ["1-9999999999999999999/1 * * * *", "UTC", /not understood/],
    ["59-0 * * * *", "UTC", /ends before it begins/],
    ["0 0 L * *", "UTC", /not supported/],
    ["0 0 * * 5#3", "UTC", /not supported/],
    ["0 0 ? * *", "UTC", /not supported/],
    ["@reboot", "UTC", /not a time/],
  ];
  for (const [expr, timezone, why] of refused) {
    const said = timeBomb(() => refusalOf({ kind: "cron", expr, timezone }));
    bar.check("bombs refused", why.test(said), () => `${expr.slice(0, 40)} (${timezone}): ${said === "" ? "accepted" : said}`);
  }
  const rare: [string, string, string, string][] = [
    ["0 0 29 2 *", "UTC", "2097-01-01T00:00Z", "2104-02-29T00:00:00.000Z"],
    ["* * 29 2 *", "America/Santiago", "2096-03-01T12:00Z", "2104-02-29T03:00:00.000Z"],
    ["59 23 31 12 *", "Asia/Kathmandu", "2026-12-31T18:14Z", "2027-12-31T18:14:00.000Z"],
    ["0 12 29 2 */7", "Europe/London", "2033-01-01T00:00Z", "2060-02-29T12:00:00.000Z"],
    ["* 0 29 2 */7", "Asia/Dubai", "2089-01-01T00:00Z", "2128-02-28T20:00:00.000Z"],
  ];
  for (const [expr, timezone, after, expected] of rare) {
    const got = timeBomb(() => nextRun({ kind: "cron", expr, timezone }, Date.parse(after), 0));
    bar.check("rare ones", time(got) === expected, () => `${expr} (${timezone}): ${time(got)} instead of ${expected}`);
  }
}

function refusalOf(cron: Cron): string {
  try {
    checkExpression(cron, FROM);
    return "";
  } catch (error) {
    return error instanceof SysError && error.code === 400 ? error.message : `threw ${String(error)}`;
  }
}

/** The first time counts as cold, the quickest of the others as warm: another may have had to wait for a processor. */
function timeBomb<T>(run: () => T): T {
  const { result, ms } = timeOf(run);
  slowestColdMs = Math.max(slowestColdMs, ms);
  slowestWarmMs = Math.max(slowestWarmMs, Math.min(...Array.from({ length: REPEATS }, () => timeOf(run).ms)));
  return result;
}

function timeOf<T>(run: () => T): { result: T; ms: number } {
  const started = performance.now();
  const result = run();
  return { result, ms: performance.now() - started };
}

function name({ expr, timezone }: Cron): string {
  return `${expr} (${timezone})`;
}

function time(at: number | null | undefined): string {
  return typeof at === "number" ? new Date(at).toISOString() : "never";
}
