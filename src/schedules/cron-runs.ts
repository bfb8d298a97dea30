// When a cron expression runs in a time zone. croner lists the local times that match it, as though the zone were UTC; what becomes of
// them where the clock is changed is decided here, by one rule:
//
// - If neither the minute nor the hour field contains `*`, the expression names fixed local times. Each runs once on every day that
//   matches. A time that the clock skips on that day runs when the skip is over; all times in one skip are one run. A time that the clock
//   shows twice runs the first time.
// - Every other expression follows real time: it runs at each real minute whose local time matches. What the clock skips does not run,
//   what it repeats runs twice.

import { Cron } from "croner";
import { Cache } from "../lib/cache.ts";
import { type CronField, type CronFields, hasDays, parseCron } from "./cron.ts";
import { DAY_MS, firstInstant, listTransitions, localTimeAt, stretchAt } from "./zone.ts";

/** `local` lists local times as though they were UTC. */
type CompiledCron = { isFixed: boolean; local: Cron };

/** An expression whose every local time is one that the clock skips, year after year, is given up after this many steps. */
const STEPS_MAX = 32;
/** Longer than any two offsets differ. */
const MARGIN_MS = 2 * DAY_MS;
const COMPILED_MAX = 500;
const compiled = new Cache<string, CompiledCron | null>(COMPILED_MAX);

/** The first run after an instant, or null if there is none. */
export function nextCronRun(expression: string, zone: string, after: number): number | null {
  const cron = compiled.get(expression, () => compile(parseCron(expression)));
  if (cron === null) return null;
  return cron.isFixed ? nextFixedRun(cron.local, zone, after) : nextRealRun(cron.local, zone, after);
}

/** Null if it is for days that no month has: a search for them would go on for centuries. */
function compile(fields: CronFields): CompiledCron | null {
  if (!hasDays(fields)) return null;
  const { minute, hour, day, month, weekday } = fields;
  const pattern = [minute, hour, day, month, weekday].map(writeField).join(" ");
  const isFixed = !minute.text.includes("*") && !hour.text.includes("*");
  return { isFixed, local: new Cron(pattern, { mode: "5-part", utcOffset: 0, domAndDow: fields.needsBothDays }) };
}

/** As plain numbers: steps and names are not left to another reader. A lone `*` stays, as the day rule of croner depends on it. */
function writeField({ text, values }: CronField): string {
  return text === "*" ? text : values.join(",");
}

/** Local times in order have first instants in order, so the first that is late enough is the next run. */
function nextFixedRun(local: Cron, zone: string, after: number): number | null {
  let time = startOfSearch(zone, after);
  for (let step = 0; step < STEPS_MAX; step++) {
    const match = nextLocalTime(local, time);
    if (match === null) return null;
    const at = firstInstant(zone, match);
    if (at > after) return at;
    time = match;
  }
  return null;
}

/** The local time of the instant; while the clock shows times for the second time, the last of them. */
function startOfSearch(zone: string, after: number): number {
  const local = localTimeAt(zone, after);
  const first = firstInstant(zone, local);
  const setBack = listTransitions(zone, first, after).find(({ before, after: offset }) => offset < before);
  return setBack === undefined ? local : Math.max(local, setBack.at + setBack.before - 1);
}

function nextRealRun(local: Cron, zone: string, after: number): number | null {
  let from = after + 1;
  for (let step = 0; step < STEPS_MAX; step++) {
    const { until, offset } = stretchAt(zone, from);
    const match = nextLocalTime(local, from + offset - 1);
    if (match === null) return null;
    if (match - offset < until) return match - offset;
    // Nothing matches up to the margin before the match, unless the clock is set back soon to times that were searched already.
    from = until - from > MARGIN_MS ? Math.max(until, match - MARGIN_MS) : until;
  }
  return null;
}

function nextLocalTime(local: Cron, after: number): number | null {
  return local.nextRun(new Date(after))?.getTime() ?? null;
}
