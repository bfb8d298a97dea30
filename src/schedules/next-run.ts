// When a schedule runs: the next time, the next few, how many in between, and whether it ever does. All instants are whole milliseconds.

import { fail } from "../lib/sys-error.ts";
import { isTimezone } from "../lib/timezone.ts";
import type { ScheduleExpression } from "../protocol/schedule-records.ts";
import { nextCronRun } from "./cron-runs.ts";
import { checkCron } from "./cron.ts";

/** The end of the year 9999. */
const TIME_MS_MAX = 253_402_300_799_999;

/** The first run after an instant, or null if there is none. `anchorAt` is when the schedule was made or changed. */
export function nextRun(expression: ScheduleExpression, after: number, anchorAt: number): number | null {
  const past = Math.floor(after);
  if (!(past < TIME_MS_MAX)) return null;
  const at = findNext(expression, Math.max(past, 0), anchorAt);
  return at !== null && at <= TIME_MS_MAX ? at : null;
}

/** The first runs after an instant, at most `count`. */
export function listNextRuns(expression: ScheduleExpression, after: number, anchorAt: number, count: number): number[] {
  const runs: number[] = [];
  let last: number | null = after;
  while (runs.length < count) {
    last = nextRun(expression, last, anchorAt);
    if (last === null) break;
    runs.push(last);
  }
  return runs;
}

/** How many runs there are after `after` and not after `until`; counts to `max` at most. */
export function countRuns(expression: ScheduleExpression, after: number, until: number, anchorAt: number, max: number): number {
  let at = nextRun(expression, after, anchorAt);
  if (expression.kind === "every")
    return at === null || at > until ? 0 : Math.min(max, Math.floor((Math.min(until, TIME_MS_MAX) - at) / expression.everyMs) + 1);
  let count = 0;
  while (count < max && at !== null && at <= until) {
    count++;
    at = nextRun(expression, at, anchorAt);
  }
  return count;
}

/** Refuses with 400 an expression that is not understood or that never runs after `now`. */
export function checkExpression(expression: ScheduleExpression, now: number): void {
  if (expression.kind === "cron") {
    checkCron(expression.expr);
    checkTimezone(expression.timezone);
  }
  if (nextRun(expression, now, now) !== null) return;
  switch (expression.kind) {
    case "at":
      return fail(400, `atMs is in the past: ${writeTime(expression.atMs)} is not after ${writeTime(now)}. Choose a later time`);
    case "after":
      return fail(400, "afterMs must be a positive whole number of milliseconds that ends before the year 10000");
    case "every":
      return fail(400, "everyMs and anchorMs must be positive whole numbers of milliseconds, with a first run before the year 10000");
    case "cron":
      return fail(400, `The cron expression never runs: the clock of ${expression.timezone} skips all its times. Choose another hour`);
  }
}

/** Refuses with 400 what is no time zone of the IANA database. */
export function checkTimezone(name: string): void {
  if (!isTimezone(name)) fail(400, `timezone must be a valid IANA timezone, such as Europe/Berlin or UTC: ${name}`);
}

function findNext(expression: ScheduleExpression, after: number, anchorAt: number): number | null {
  switch (expression.kind) {
    case "at":
      return expression.atMs > after ? expression.atMs : null;
    case "after":
      return anchorAt + expression.afterMs > after ? anchorAt + expression.afterMs : null;
    case "every":
      return nextMultiple(expression.everyMs, expression.anchorMs ?? anchorAt + expression.everyMs, after);
    case "cron":
      return nextCronRun(expression.expr, expression.timezone, after);
  }
}

/** The first of `first`, `first + every`, `first + 2 * every` and so on that is after `after`. A remainder is exact; a quotient is not. */
function nextMultiple(every: number, first: number, after: number): number | null {
  if (!(every > 0)) return null;
  return first > after ? first : after - ((after - first) % every) + every;
}

function writeTime(ms: number): string {
  return new Date(Math.max(-TIME_MS_MAX, Math.min(TIME_MS_MAX, ms))).toISOString();
}
