// An expression in plain words. Those of a cron expression are ones that words.ts reads back; where it has no good words it is shown as it
// was written.

import type { ScheduleExpression } from "../protocol/schedule-records.ts";
import { type CronField, type CronFields, parseCron } from "./cron.ts";
import { HOUR_MS, MINUTE_MS, MONTHS, WEEKDAYS } from "./vocabulary.ts";
import { DAY_MS, localTimeAt } from "./zone.ts";

/** `every` is said before a time of day ("every weekday at 09:00"), `on` after an interval ("every hour on weekdays"). */
type DayWords = { every: string; on: string };

const UNITS: readonly (readonly [string, number])[] = [
  ["hour", HOUR_MS],
  ["minute", MINUTE_MS],
  ["second", 1_000],
  ["millisecond", 1],
];
/** Longer lists are no good words. */
const LISTED_MAX = 6;

/** `timezone` is where a single instant is shown; a cron expression has a zone of its own. */
export function describeExpression(expression: ScheduleExpression, timezone = "UTC"): string {
  switch (expression.kind) {
    case "at":
      return `once, on ${describeInstant(expression.atMs, timezone)}`;
    case "after":
      return `once, after ${countUnits(expression.afterMs)}`;
    case "every": {
      const from = expression.anchorMs === undefined ? "" : `, counted from ${describeInstant(expression.anchorMs, timezone)}`;
      return `every ${countUnits(expression.everyMs).replace(/^1 /, "")}${from}`;
    }
    case "cron":
      return `${describeCron(expression.expr) ?? `cron ${expression.expr}`} (${expression.timezone})`;
  }
}

/** "Thu 24 Dec 2026 at 18:00 (UTC)". */
export function describeInstant(at: number, timezone: string): string {
  const local = new Date(localTimeAt(timezone, at));
  const weekday = WEEKDAYS[local.getUTCDay()]!.slice(0, 3);
  const month = MONTHS[local.getUTCMonth()]!.slice(0, 3);
  const seconds = local.getUTCSeconds() === 0 ? "" : `:${twoDigits(local.getUTCSeconds())}`;
  const time = timeOfDay(local.getUTCHours(), local.getUTCMinutes()) + seconds;
  return `${weekday} ${local.getUTCDate()} ${month} ${local.getUTCFullYear()} at ${time} (${timezone})`;
}

/** In the longest unit that needs no fraction. One day is 24 hours, which is not the same as "every day" where the clock is changed. */
function countUnits(ms: number): string {
  if (ms > DAY_MS && ms % DAY_MS === 0) return `${ms / DAY_MS} days`;
  const [name, length] = UNITS.find(([, length]) => ms % length === 0) ?? ["millisecond", 1];
  return `${ms / length} ${name}${ms === length ? "" : "s"}`;
}

function describeCron(expression: string): string | null {
  const fields = parseCron(expression);
  const days = describeDays(fields);
  if (days === null) return null;
  const interval = describeInterval(fields);
  if (interval !== null) return days.on === "" ? interval : `${interval} ${days.on}`;
  const { hour, minute } = fields;
  if (hour.text.includes("*") || minute.text.includes("*") || hour.values.length * minute.values.length > LISTED_MAX) return null;
  const times = hour.values.flatMap((one) => minute.values.map((other) => timeOfDay(one, other)));
  return `${days.every} at ${joinWords(times)}`;
}

/** Words for an expression that repeats within a day: through all of it, or from one hour to another. */
function describeInterval({ minute, hour }: CronFields): string | null {
  const step = stepOf(minute, 60);
  const minutes = minute.values.map((one) => `:${twoDigits(one)}`);
  const at = minutes.length > LISTED_MAX ? null : ` at ${joinWords(minutes)}`;
  if (isEvery(hour)) {
    if (step !== null) return step === 60 ? "every hour" : `every ${step === 1 ? "minute" : `${step} minutes`}`;
    return at === null ? null : `every hour${at}`;
  }
  const hours = stepOf(hour, 24);
  if (hours !== null && hour.text.startsWith("*")) return minutes.length === 1 ? `every ${hours} hours${at}` : null;
  const [first, last] = [hour.values[0]!, hour.values.at(-1)!];
  if (step === null || hour.text !== `${first}-${last}` || (step === 60 && minute.text !== "0")) return null;
  const until = timeOfDay(last, minute.values.at(-1)!);
  return `every ${step === 60 ? "hour" : step === 1 ? "minute" : `${step} minutes`} from ${timeOfDay(first, 0)} to ${until}`;
}

/** The step by which a field counts evenly through the whole of its unit, which begins at 0: 60 for the single minute 0. */
function stepOf({ text, values }: CronField, whole: number): number | null {
  if (text === "0") return whole;
  const step = text === "*" ? 1 : Number(/^\*\/(\d+)$/.exec(text)?.[1] ?? 0);
  return step > 0 && whole % step === 0 && values.length === whole / step ? step : null;
}

function describeDays({ day, month, weekday, needsBothDays }: CronFields): DayWords | null {
  const isEveryDay = day.values.length === 31;
  const isEveryWeekday = weekday.values.length === 7;
  const isEveryMonth = month.values.length === 12;
  if (!needsBothDays || (!isEveryDay && !isEveryWeekday)) return null;
  if (Math.max(isEveryDay ? 0 : day.values.length, isEveryMonth ? 0 : month.values.length) > LISTED_MAX) return null;
  const months = month.values.map((one) => MONTHS[one - 1]!);
  if (isEveryDay) {
    const { every, on } = isEveryWeekday ? { every: "every day", on: "" } : describeWeekdays(weekday.values);
    const inMonths = isEveryMonth ? "" : ` in ${joinWords(months)}`;
    return { every: every + inMonths, on: (on + inMonths).trim() };
  }
  if (isEveryMonth) {
    const days = `${day.values.length === 1 ? "day" : "days"} ${joinWords(day.values.map(String))}`;
    return { every: `every month on ${days}`, on: `on ${days} of the month` };
  }
  if (day.values.length * month.values.length > LISTED_MAX) return null;
  const dates = joinWords(months.flatMap((name) => day.values.map((one) => `${one} ${name}`)));
  return { every: `every year on ${dates}`, on: `on ${dates}` };
}

function describeWeekdays(values: readonly number[]): DayWords {
  if (values.join() === "1,2,3,4,5") return { every: "every weekday", on: "on weekdays" };
  // Monday first, Sunday last.
  const names = values.toSorted((a, b) => ((a + 6) % 7) - ((b + 6) % 7)).map((one) => WEEKDAYS[one]!);
  return { every: `every ${joinWords(names)}`, on: `on ${joinWords(names.map((name) => `${name}s`))}` };
}

function isEvery({ text }: CronField): boolean {
  return text === "*";
}

function joinWords(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

function timeOfDay(hour: number, minute: number): string {
  return `${twoDigits(hour)}:${twoDigits(minute)}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
