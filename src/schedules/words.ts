// Times as people type them: "in 20 minutes", "every weekday at 9:30", "24 december 18:00", and cron expressions. A time of day that
// repeats becomes a cron expression, one that does not an instant, an interval stays one. The words are read by phrases.ts.
//
// What is left out: a day without a time is at 9:00, a week is on Monday, a month on day 1, a year on 1 January. That is "every day" and
// "every week"; days and weeks with a number are intervals: "every 1 day", "every 7 days". Midnight of today is the one to come. An hour in the afternoon, evening or night is meant as one, so "tonight at 8" is 20:00.

import { fail, SysError } from "../lib/sys-error.ts";
import { isTimezone } from "../lib/timezone.ts";
import type { ScheduleExpression } from "../protocol/schedule-records.ts";
import { NICKNAMES } from "./cron.ts";
import { describeInstant } from "./describe.ts";
import { checkExpression } from "./next-run.ts";
import { type Clock, readPhrase, type Said } from "./phrases.ts";
import { type DayPart, HOUR_MS, MINUTE_MS, MONTHS, WEEKDAYS } from "./vocabulary.ts";
import { DAY_MS, firstInstant, listTransitions, localTimeAt } from "./zone.ts";

/** Where and when it is said. */
export type Situation = { now: number; timezone: string };

const TEXT_LENGTH_MAX = 200;
const INTERVAL_MS_MIN = 1_000;
const INTERVAL_MS_MAX = 10 * 366 * DAY_MS;
const DELAY_MONTHS_MAX = 120;
/** The 29th of February comes back within eight years. */
const YEARS_AHEAD = 8;
const PART_HOURS: Readonly<Record<DayPart, number>> = { morning: 9, afternoon: 15, evening: 19, night: 21 };
/** "1" at night is after midnight, "5" and later before it. */
const NIGHT_HOUR_MAX = 4;
const DEFAULT_CLOCK: Clock = { hour: 9, minute: 0, second: 0, isOpen: false };

const CRON_FIELD = /^(?:[\d*?][\d*?,/#lw-]*|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat)[\da-z,/#-]*)$/i;
/** Only names with a slash, and those of UTC: other names are words of sentences too. */
const ZONE = /(?:^|\s)\(?([a-z_]{1,30}(?:\/[a-z0-9_+-]{1,30}){1,2}|utc|gmt)\)?$/i;

/** The expression that a text stands for. A text that is not understood, or a time that cannot be, is refused with 400. */
export function parseWhen(text: string, { now, timezone }: Situation): ScheduleExpression {
  if (text.length > TEXT_LENGTH_MAX) fail(400, `A time has at most ${TEXT_LENGTH_MAX} characters`);
  return (
    readWhen(text, { now, timezone }) ??
    fail(
      400,
      `${JSON.stringify(text)} is not understood as a time. Write for example "in 20 minutes", "every weekday at 9:30" or "24 december 18:00"`,
    )
  );
}

/** "Last Friday" is no time to come. */
const PAST = /^(?:last|past|previous)$/i;

export type Split = { expression: ScheduleExpression; rest: string };

/** Where in a text a time may be, and how many words that is. */
type Piece = { length: number; start: number; end: number };

const WORDS_MAX = 30;
/** Words before a time that are part of what is asked for, as in "remind me tomorrow to call". */
const OPENINGS = [[], ["remind", "me"], ["please", "remind", "me"], ["please"]];

/**
 * A sentence that begins or ends with a time: the time, and the rest of it. Null if there is none. The longest time counts; one that cannot
 * be is refused, if there is no other.
 */
export function splitWhen(text: string, situation: Situation): Split | null {
  const words = [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => ({ word, start: index, end: index + word.length }));
  const pieces: Piece[] = [];
  for (const opening of OPENINGS) {
    if (!opening.every((word, at) => words[at]?.word.toLowerCase() === word)) continue;
    const lengths = listLengths(words.length - opening.length);
    pieces.push(
      ...lengths.map((length) => ({ length, start: words[opening.length]!.start, end: words[opening.length + length - 1]!.end })),
    );
  }
  for (const length of listLengths(words.length))
    if (!PAST.test(words.at(-length - 1)?.word ?? "")) pieces.push({ length, start: words.at(-length)!.start, end: text.length });
  let refusal: SysError | null = null;
  let refused: Piece | null = null;
  for (const piece of pieces.toSorted((a, b) => b.length - a.length)) {
    // Part of a time that cannot be is not what was meant.
    if (refused !== null && refused.start <= piece.start && piece.end <= refused.end) continue;
    try {
      const expression = readPiece(text.slice(piece.start, piece.end), situation);
      if (expression === null) continue;
      checkEnd(text.slice(piece.end));
      return { expression, rest: joinRest(text.slice(0, piece.start), text.slice(piece.end)) };
    } catch (error) {
      if (!(error instanceof SysError)) throw error;
      refusal ??= error;
      refused ??= piece;
    }
  }
  if (refusal !== null) throw refusal;
  return null;
}

/** What somebody says after a time to make it another one. As part of what to do, it would be lost without a word. */
const MORE_TIME =
  /^[\s,]*(?:and )?(?:at (?:half|quarter|noon|midnight|\d|\w+ (?:past|to|o.?clock)\b)|(?:and )?a (?:half|quarter)\b|except\b|but (?:not|only)\b|unless\b|until\b|till\b|starting\b|in \S+(?: \S+)? time\b)/i;
const END_WORDS_SHOWN = 4;

function checkEnd(after: string): void {
  if (!MORE_TIME.test(after)) return;
  const shown = after.trim().split(/\s+/).slice(0, END_WORDS_SHOWN).join(" ");
  fail(
    400,
    `${JSON.stringify(shown)} after the time is not understood. Write a time as 19:30 or "7:30 pm". A schedule has no exceptions and no end: an agent can look at the date itself`,
  );
}

function listLengths(count: number): number[] {
  return Array.from({ length: Math.max(0, Math.min(count, WORDS_MAX)) }, (_, at) => at + 1);
}

function readPiece(text: string, situation: Situation): ScheduleExpression | null {
  const piece = text.replace(/[,:;]$/, "");
  return piece.length > TEXT_LENGTH_MAX ? null : readWhen(piece, situation, true);
}

function joinRest(before: string, after: string): string {
  return `${before.trimEnd()} ${after.replace(/^[\s,:;.-]+/, "")}`.trim().replace(/[\s,:;-]{1,9}$/, "");
}

/** Null if it is not understood. As part of a sentence, a row of numbers is no cron expression unless there is a `*` in it. */
function readWhen(text: string, situation: Situation, isPart = false): ScheduleExpression | null {
  const { zone, phrase } = takeZone(text.trim().replace(/[.!]$/, ""), situation.timezone);
  const expr = findCron(phrase, isPart);
  if (expr !== null) return accept({ kind: "cron", expr, timezone: zone }, situation);
  const said = readPhrase(phrase);
  if (said === null) return null;
  const there = { now: situation.now, timezone: zone };
  const expression = said.isRepeating ? buildRepeating(said, there) : buildOnce(said, there);
  return expression === null ? null : accept(expression, there);
}

function accept(expression: ScheduleExpression, { now, timezone }: Situation): ScheduleExpression {
  const length = expression.kind === "every" ? expression.everyMs : expression.kind === "after" ? expression.afterMs : INTERVAL_MS_MIN;
  if (length < INTERVAL_MS_MIN) fail(400, "An interval or a delay is at least one second");
  if (length > INTERVAL_MS_MAX) fail(400, "An interval or a delay is at most ten years");
  if (expression.kind === "at" && expression.atMs <= now)
    fail(400, `${describeInstant(expression.atMs, timezone)} is in the past. Choose a later time`);
  checkExpression(expression, now);
  return expression;
}

function takeZone(text: string, otherwise: string): { zone: string; phrase: string } {
  const match = ZONE.exec(text);
  if (match === null || !isTimezone(match[1]!)) return { zone: otherwise, phrase: text };
  return { zone: match[1]!, phrase: text.slice(0, match.index).trim() };
}

function findCron(text: string, isPart: boolean): string | null {
  if (/^@[a-z]+$/i.test(text)) return !isPart || Object.hasOwn(NICKNAMES, text.toLowerCase()) ? text : null;
  const parts = text.split(/\s+/);
  const isNamed = parts[0]!.toLowerCase() === "cron";
  const fields = isNamed ? parts.slice(1) : parts;
  if (isNamed && !isPart) return fields.join(" ");
  const isCron = isPart ? fields.length === 5 && text.includes("*") : fields.length >= 5 && fields.length <= 7;
  return isCron && /^[\d*?]/.test(fields[1]!) && fields.every((field) => CRON_FIELD.test(field)) ? fields.join(" ") : null;
}

function buildRepeating(said: Said, situation: Situation): ScheduleExpression | null {
  const { every, delay, dayOffset, instant, year, isCounted } = said;
  if (delay !== null || dayOffset !== null || instant !== null || year !== null || said.isNext) return null;
  if (said.days.length > 0 && said.weekdays.length > 0)
    fail(400, "A schedule is for days of the month or for weekdays, not for days that are both: cron would take either");
  if (every?.unit === "ms") return buildInterval(said, every.amount, situation);
  if (said.minutes.length > 0 || said.range !== null) return null;
  if (isCounted && every?.unit === "days" && isAlone(said)) return { kind: "every", everyMs: every.amount * DAY_MS };
  const isCountedWeek = isCounted && every?.amount === 7 && said.weekdays.length + said.months.length === 0;
  if (every?.unit === "days" && ((every.amount !== 1 && every.amount !== 7) || isCountedWeek))
    return buildStride(said, every.amount, situation);
  if (every?.unit === "months" && every.amount !== 1 && every.amount !== 12) return buildMonths(said, every.amount, situation);
  const isYearly = every?.unit === "months" && every.amount === 12;
  const isWeekly = every?.unit === "days" && every.amount === 7;
  if (isYearly && (said.weekdays.length > 0 || (said.days.length > 0 && said.months.length === 0))) return null;
  if (every?.unit === "months" && said.weekdays.length > 0) return null;
  if (every?.unit === "days" && said.days.length > 0) return null;
  const days = said.days.length > 0 ? said.days : every?.unit === "months" ? [1] : [];
  const months = said.months.length > 0 ? said.months : isYearly ? [1] : [];
  const weekdays = said.weekdays.length > 0 ? said.weekdays : isWeekly ? [1] : [];
  return writeCron(writeTimes(chooseClocks(said)), { days, months, weekdays }, situation);
}

/** No day and no time is said: "every day" is at 9:00, and "every 1 day" is 24 hours later. */
function isAlone({ times, part, days, weekdays, months }: Said): boolean {
  return part === null && times.length + days.length + weekdays.length + months.length === 0;
}

/** An interval alone stays one. One that is for some hours or days becomes a cron expression, if it divides the hour or the day. */
function buildInterval(said: Said, ms: number, situation: Situation): ScheduleExpression | null {
  const { minutes, range, times, part, days, months, weekdays } = said;
  if (times.length > 0 || part !== null) return null;
  if (minutes.length + days.length + months.length + weekdays.length === 0 && range === null) return { kind: "every", everyMs: ms };
  const isHours = ms % HOUR_MS === 0 && DAY_MS % ms === 0;
  const step = isHours ? ms / HOUR_MS : ms / MINUTE_MS;
  if (!isHours && (!Number.isInteger(step) || 60 % step !== 0))
    fail(400, 'An interval that is for some days or hours must divide the hour or the day: say "every 15 minutes" or "every 2 hours"');
  if (minutes.length > 0 && (!isHours || range !== null)) return null;
  if (range !== null && isHours && step !== 1)
    fail(400, 'Between two hours, an interval is at most one hour: say "every hour from 9 to 17"');
  const hours = range === null ? (isHours && step > 1 ? (step === 24 ? "0" : `*/${step}`) : "*") : writeHours(range, isHours ? 60 : step);
  const minute = isHours ? (minutes.length > 0 ? writeList(minutes) : "0") : step === 1 ? "*" : `*/${step}`;
  return writeCron(`${minute} ${hours}`, said, situation);
}

/** From one hour to another: until its last minute that is due, or with steps until just before a full hour. */
function writeHours({ from, to }: NonNullable<Said["range"]>, step: number): string {
  const isBefore = step < 60 && to.minute === 0;
  const last = isBefore ? to.hour - 1 : to.hour;
  if (from.minute !== 0 || (!isBefore && to.minute !== 60 - step) || last < from.hour)
    fail(400, 'Hours are from one full hour to a later one of the same day, as in "every 30 minutes from 9 to 17"');
  return from.hour === last ? String(last) : `${from.hour}-${last}`;
}

/**
 * Every few days or weeks. Cron has no such thing, so it is an interval that is counted from the first time. Where the clock is changed
 * that would move the time of day, so there a time of day is refused.
 */
function buildStride(said: Said, days: number, situation: Situation): ScheduleExpression | null {
  const { times, part, weekdays, months } = said;
  if (said.days.length > 0 || months.length > 0 || weekdays.length > 1) return null;
  if (weekdays.length > 0 && days % 7 !== 0) return null;
  const everyMs = days * DAY_MS;
  if (times.length === 0 && part === null && weekdays.length === 0) return { kind: "every", everyMs };
  const clocks = chooseClocks(said);
  if (clocks.length > 1 || everyMs > INTERVAL_MS_MAX) return null;
  const { now, timezone } = situation;
  const time = writeClock(clocks[0]!);
  const often = `every ${weekdays.length > 0 ? WEEKDAYS[weekdays[0]!] : days === 7 ? "week" : "day"}`;
  if (listTransitions(timezone, now, now + 400 * DAY_MS).length > 0)
    fail(
      400,
      `A time of day every ${days} days is not supported where the clock is changed (${timezone}). ` +
        `Say "${often} at ${time}", "every month on days 1 and 15 at ${time}" or "every ${days} days" without a time`,
    );
  const anchorMs = nextOnDay(clocks[0]!, situation, (day) => weekdays.length === 0 || new Date(day).getUTCDay() === weekdays[0]);
  return { kind: "every", everyMs, anchorMs };
}

function buildMonths(said: Said, months: number, situation: Situation): ScheduleExpression | null {
  if (said.months.length > 0 || said.weekdays.length > 0) return null;
  if (months < 1 || 12 % months !== 0)
    fail(400, 'Months are counted within a year: say "every 2 months", 3, 4 or 6, or "every year on 24 december at 18:00"');
  const list = Array.from({ length: 12 / months }, (_, at) => 1 + at * months);
  return writeCron(writeTimes(chooseClocks(said)), { days: said.days.length > 0 ? said.days : [1], months: list, weekdays: [] }, situation);
}

function writeCron(times: string, on: Pick<Said, "days" | "months" | "weekdays">, { timezone }: Situation): ScheduleExpression {
  const weekdays = writeList(on.weekdays);
  const expr = `${times} ${writeList(on.days)} ${writeList(on.months)} ${weekdays === "1,2,3,4,5" ? "1-5" : weekdays}`;
  return { kind: "cron", expr, timezone };
}

/** Minute and hour. Cron runs at every one of its minutes in every one of its hours. */
function writeTimes(clocks: readonly Clock[]): string {
  if (clocks.some(({ second }) => second !== 0)) fail(400, "Times that repeat are whole minutes: leave out the seconds");
  const minutes = unique(clocks.map(({ minute }) => minute));
  const hours = unique(clocks.map(({ hour }) => hour));
  if (minutes.length * hours.length !== unique(clocks.map(({ hour, minute }) => hour * 60 + minute)).length)
    fail(400, `${clocks.map(writeClock).join(", ")}: times with different minutes in different hours need a schedule each`);
  return `${writeList(minutes)} ${writeList(hours)}`;
}

function buildOnce(said: Said, situation: Situation): ScheduleExpression | null {
  const { delay, instant, times, minutes, range, weekdays, days, months, dayOffset, part } = said;
  if (minutes.length > 0 || range !== null || weekdays.length > 1 || days.length > 1 || months.length > 1) return null;
  const isNamedDay = weekdays.length + days.length + months.length > 0;
  if (isNamedDay && dayOffset !== null) return null;
  const hasDay = isNamedDay || dayOffset !== null;
  const hasTime = times.length > 0 || part !== null;
  if (instant !== null) return hasDay || hasTime || delay !== null ? null : { kind: "at", atMs: instant };
  if (delay !== null && (hasDay || (hasTime && delay.unit === "ms"))) return null;
  if (delay !== null && delay.unit !== "months" && !hasTime)
    return { kind: "after", afterMs: delay.amount * (delay.unit === "days" ? DAY_MS : 1) };
  if (!hasDay && !hasTime && delay === null) return null;
  if (months.length > 0 && days.length === 0) return null;
  const clocks = chooseClocks(said);
  if (clocks.length > 1) fail(400, 'Something that runs once has one time. Say "every day at 9 and 17" if it repeats');
  const clock = clocks[0]!;
  if (delay !== null) return { kind: "at", atMs: afterDelay(delay, hasTime ? clock : null, situation) };
  if (dayOffset !== null) return { kind: "at", atMs: onRelativeDay(said, dayOffset, clock, situation) };
  if (days.length > 0) return { kind: "at", atMs: onDate(said, clock, situation) };
  const today = startOfDay(situation);
  const isRight = (day: number) => weekdays.length === 0 || (new Date(day).getUTCDay() === weekdays[0] && !(said.isNext && day === today));
  return { kind: "at", atMs: nextOnDay(clock, situation, isRight) };
}

/** The next time the clock shows it, on a day that is right. Days are local times of midnight. */
function nextOnDay(clock: Clock, { now, timezone }: Situation, isRight: (day: number) => boolean): number {
  for (let day = startOfDay({ now, timezone }), left = 15; left > 0; day += DAY_MS, left--) {
    const at = firstInstant(timezone, day + msOf(clock));
    if (isRight(day) && at > now) return at;
  }
  return fail(400, "There is no such time in the next two weeks");
}

function onRelativeDay({ part, times }: Said, offset: number, clock: Clock, situation: Situation): number {
  const isNight = part === "night" && clock.hour <= NIGHT_HOUR_MAX;
  const isComingMidnight = offset === 0 && times.length > 0 && msOf(clock) === 0;
  const day = startOfDay(situation) + (offset + (isNight || isComingMidnight ? 1 : 0)) * DAY_MS;
  return firstInstant(situation.timezone, day + msOf(clock));
}

function afterDelay({ unit, amount }: NonNullable<Said["delay"]>, clock: Clock | null, { now, timezone }: Situation): number {
  const today = startOfDay({ now, timezone });
  if (amount > (unit === "months" ? DELAY_MONTHS_MAX : INTERVAL_MS_MAX / DAY_MS)) fail(400, "A delay is at most ten years");
  const day = unit === "months" ? addMonths(today, amount) : today + amount * DAY_MS;
  return firstInstant(timezone, day + (clock === null ? localTimeAt(timezone, now) - today : msOf(clock)));
}

/** The same day of a later month, or the last one if that month is shorter. */
function addMonths(day: number, count: number): number {
  const date = new Date(day);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + count];
  return Date.UTC(year, month, Math.min(date.getUTCDate(), new Date(Date.UTC(year, month + 1, 0)).getUTCDate()));
}

function onDate({ year, months, days, weekdays }: Said, clock: Clock, { now, timezone }: Situation): number {
  const [day, month] = [days[0]!, months[0]];
  if (year !== null && year < 1970) fail(400, `The year ${year} is in the past. Choose a later time`);
  const first = new Date(startOfDay({ now, timezone }));
  const count = year !== null ? 1 : month === undefined ? 12 : 12 * YEARS_AHEAD + 12;
  for (let ahead = 0; ahead < count; ahead++) {
    const start = Date.UTC(year ?? first.getUTCFullYear(), year === null ? first.getUTCMonth() + ahead : month! - 1, 1);
    const date = new Date(start + (day - 1) * DAY_MS);
    if (date.getUTCDate() !== day || (month !== undefined && date.getUTCMonth() !== month - 1)) continue;
    const at = firstInstant(timezone, date.getTime() + msOf(clock));
    if (year === null && at <= now) continue;
    if (weekdays.length > 0 && date.getUTCDay() !== weekdays[0])
      fail(400, `${date.toISOString().slice(0, 10)} is a ${WEEKDAYS[date.getUTCDay()]}. Leave out the weekday or correct it`);
    return at;
  }
  const name = month === undefined ? "" : (MONTHS[month - 1] ?? `in month ${month}`);
  return fail(400, `There is no day ${day} ${name}${year === null ? "" : ` ${year}`}. Choose another day`);
}

function chooseClocks({ times, part, weekdays, days }: Said): Clock[] {
  if (times.length === 0) return [part === null ? DEFAULT_CLOCK : { ...DEFAULT_CLOCK, hour: PART_HOURS[part] }];
  const clocks = times.map((clock) => (part === null ? clock : inPart(clock, part)));
  if (part === "night" && weekdays.length + days.length > 0 && clocks.some(({ hour }) => hour <= NIGHT_HOUR_MAX))
    fail(400, 'A time after midnight belongs to the next day. Name that day, as in "saturday at 0:30"');
  return clocks;
}

/** "8" in the evening is 20:00; "12" at night is midnight. */
function inPart(clock: Clock, part: DayPart): Clock {
  if (!clock.isOpen || part === "morning") return clock;
  const hour = clock.hour % 12;
  if (part === "night" && hour <= NIGHT_HOUR_MAX) return { ...clock, hour };
  return part === "evening" && hour === 0 ? { ...clock, hour } : { ...clock, hour: hour + 12 };
}

function startOfDay({ now, timezone }: Situation): number {
  const local = localTimeAt(timezone, now);
  return local - (((local % DAY_MS) + DAY_MS) % DAY_MS);
}

function msOf({ hour, minute, second }: Clock): number {
  return ((hour * 60 + minute) * 60 + second) * 1_000;
}

function writeClock({ hour, minute }: Clock): string {
  return `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
}

function writeList(values: readonly number[]): string {
  return values.length === 0
    ? "*"
    : unique(values)
        .toSorted((a, b) => a - b)
        .join(",");
}

function unique(values: readonly number[]): number[] {
  return [...new Set(values)];
}
