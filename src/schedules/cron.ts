// Cron expressions: five fields, read into the numbers they stand for. When one runs next is cron-runs.ts.
//
// What is accepted is what cron of Debian accepts. What other programs add to it (seconds, years, L, W, # and ?) is refused: it means
// something else to each of them.

import { Cache } from "../lib/cache.ts";
import { fail } from "../lib/sys-error.ts";

/** `text` is what was written. `values` are in order, without repetition. */
export type CronField = { text: string; values: readonly number[] };

export type CronFields = {
  minute: CronField;
  hour: CronField;
  day: CronField;
  month: CronField;
  /** 0 is Sunday, and nothing is 7. */
  weekday: CronField;
  /** Whether a day must be one of the days and one of the weekdays; else it must be one of either. */
  needsBothDays: boolean;
};

type FieldRule = { name: string; plural: string; min: number; max: number; names: readonly string[] };

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
/** The most days a month can have, from January on. */
const MONTH_DAYS_MAX = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const MINUTE: FieldRule = { name: "minute", plural: "minutes are 0-59", min: 0, max: 59, names: [] };
const HOUR: FieldRule = { name: "hour", plural: "hours are 0-23", min: 0, max: 23, names: [] };
const DAY: FieldRule = { name: "day of month", plural: "days of a month are 1-31", min: 1, max: 31, names: [] };
const MONTH: FieldRule = { name: "month", plural: "months are 1-12 or JAN-DEC", min: 1, max: 12, names: MONTHS };
const WEEKDAY: FieldRule = { name: "weekday", plural: "weekdays are 0-7 or SUN-SAT; 0 and 7 are Sunday", min: 0, max: 7, names: WEEKDAYS };

export const NICKNAMES: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};

const TEXT_LENGTH_MAX = 200;
const KNOWN_MAX = 500;
const known = new Cache<string, CronFields>(KNOWN_MAX);

/** The fields of an expression; one that is not understood is refused with 400. */
export function parseCron(expression: string): CronFields {
  return known.get(expression, () => readFields(expression));
}

/** Refuses an expression that is not understood, and one for days that no month has. */
export function checkCron(expression: string): void {
  const { day, month, ...fields } = parseCron(expression);
  if (hasDays({ day, month, ...fields })) return;
  const months = month.values.map((one) => MONTHS[one - 1]!.replace(/^./, (letter) => letter.toUpperCase()));
  fail(
    400,
    `The cron expression never runs: ${joinWords(months)} cannot have day ${day.values[0]}. Choose an earlier day or another month`,
  );
}

/** Whether there is a day it can run on. The calendar has every day of the year on every weekday. */
export function hasDays({ day, month, needsBothDays }: CronFields): boolean {
  return !needsBothDays || month.values.some((one) => day.values[0]! <= MONTH_DAYS_MAX[one - 1]!);
}

function readFields(expression: string): CronFields {
  if (expression.length > TEXT_LENGTH_MAX) fail(400, `A cron expression has at most ${TEXT_LENGTH_MAX} characters`);
  const parts = readNickname(expression.trim()).split(/\s+/);
  if (parts.length !== 5)
    fail(
      400,
      `A cron expression has five fields, "minute hour day-of-month month weekday", such as "30 9 * * 1-5". This one has ${parts.length}` +
        (parts.length > 5 ? ": leave out seconds and years" : ""),
    );
  const [minute, hour, day, month, weekday] = parts as [string, string, string, string, string];
  const weekdays = readField(WEEKDAY, weekday).map((one) => one % 7);
  return {
    minute: { text: minute, values: readField(MINUTE, minute) },
    hour: { text: hour, values: readField(HOUR, hour) },
    day: { text: day, values: readField(DAY, day) },
    month: { text: month, values: readField(MONTH, month) },
    weekday: { text: weekday, values: sortUnique(weekdays) },
    needsBothDays: day.startsWith("*") || weekday.startsWith("*"),
  };
}

function readNickname(text: string): string {
  if (!text.startsWith("@")) return text;
  const fields = new Map(Object.entries(NICKNAMES)).get(text.toLowerCase());
  return fields ?? fail(400, `${quoteBriefly(text)} is not a time. Write five fields or one of ${Object.keys(NICKNAMES).join(", ")}`);
}

function readField(rule: FieldRule, text: string): number[] {
  return sortUnique(text.split(",").flatMap((item) => readItem(rule, item)));
}

/** One item of a list: `*`, a number or name, or a range, with or without a step. */
function readItem(rule: FieldRule, item: string): number[] {
  const [values = "", step, ...rest] = item.split("/");
  if (item === "" || rest.length > 0) refuse(rule, item, "is not understood");
  const [first = "", last, ...others] = values.split("-");
  if (others.length > 0) refuse(rule, item, "is not understood");
  const by = step === undefined ? 1 : readStep(rule, item, step);
  if (values === "*") return listNumbers(rule.min, rule === WEEKDAY ? 6 : rule.max, by);
  const from = readNumber(rule, item, first);
  if (last === undefined) return [from];
  // "fri-sun" is meant to end on the Sunday after.
  const to = rule === WEEKDAY && last.toLowerCase() === "sun" ? 7 : readNumber(rule, item, last);
  if (from > to) {
    const sunday = rule === WEEKDAY && to === 0 ? ". Sunday at the end of a range is 7" : "";
    refuse(rule, item, `is a range that ends before it begins${sunday}; to wrap around, write two ranges with a comma`);
  }
  return listNumbers(from, to, by);
}

function readStep(rule: FieldRule, item: string, text: string): number {
  const step = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (step < 1 || step > rule.max)
    refuse(rule, item, `has a step that is not 1-${rule.max}; for longer intervals write "every ..." instead of cron`);
  return step;
}

function readNumber(rule: FieldRule, item: string, text: string): number {
  const name = rule.names.indexOf(text.toLowerCase());
  if (name !== -1) return name + rule.min;
  if (/[LW#?]/i.test(text) && /^[\dLW#?]+$/i.test(text))
    refuse(rule, item, "uses L, W, # or ?, which are not supported; write numbers or *");
  if (!/^\d{1,4}$/.test(text)) refuse(rule, item, "is not understood");
  const value = Number(text);
  if (value < rule.min || value > rule.max) refuse(rule, item, "is out of range");
  return value;
}

function refuse(rule: FieldRule, item: string, why: string): never {
  fail(400, `In the cron expression, ${rule.name} ${quoteBriefly(item)} ${why}: ${rule.plural}`);
}

function quoteBriefly(text: string): string {
  return JSON.stringify(text.length > 30 ? `${text.slice(0, 30)}...` : text);
}

function listNumbers(from: number, to: number, by: number): number[] {
  return Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, at) => from + at * by);
}

function sortUnique(values: readonly number[]): number[] {
  return [...new Set(values)].toSorted((a, b) => a - b);
}

function joinWords(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
