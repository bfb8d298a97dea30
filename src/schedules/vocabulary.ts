// The words of times: names of months, weekdays, units and numbers. Full names are also what an expression is described with.

/** A length of time: exact, or of days or months of the calendar. */
export type Span = { unit: "ms" | "days" | "months"; amount: number };

export type DayPart = "morning" | "afternoon" | "evening" | "night";

export const DAY_PARTS: readonly DayPart[] = ["morning", "afternoon", "evening", "night"];
export const MONTHS: readonly string[] = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
export const WEEKDAYS: readonly string[] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
export const HOUR_MS = 3_600_000;
export const MINUTE_MS = 60_000;

const WEEKDAYS_SHORT = new Map([
  ["tues", 2],
  ["weds", 3],
  ["thur", 4],
  ["thurs", 4],
]);
const NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
const NUMBERS_LARGE = new Map([
  ["a", 1],
  ["an", 1],
  ["fifteen", 15],
  ["twenty", 20],
  ["thirty", 30],
  ["forty", 40],
  ["fifty", 50],
]);
const ORDINALS = ["first", "second", "third", "fourth", "fifth"];
const UNITS: readonly { names: readonly string[]; unit: Span["unit"]; amount: number }[] = [
  { names: ["ms", "millisecond", "milliseconds"], unit: "ms", amount: 1 },
  { names: ["s", "sec", "secs", "second", "seconds"], unit: "ms", amount: 1_000 },
  { names: ["m", "min", "mins", "minute", "minutes"], unit: "ms", amount: MINUTE_MS },
  { names: ["h", "hr", "hrs", "hour", "hours"], unit: "ms", amount: HOUR_MS },
  { names: ["d", "day", "days"], unit: "days", amount: 1 },
  { names: ["w", "week", "weeks"], unit: "days", amount: 7 },
  { names: ["month", "months"], unit: "months", amount: 1 },
  { names: ["year", "years"], unit: "months", amount: 12 },
];
const ADVERBS = new Map<string, Span>([
  ["hourly", { unit: "ms", amount: HOUR_MS }],
  ["daily", { unit: "days", amount: 1 }],
  ["weekly", { unit: "days", amount: 7 }],
  ["monthly", { unit: "months", amount: 1 }],
  ["yearly", { unit: "months", amount: 12 }],
  ["annually", { unit: "months", amount: 12 }],
]);

/** "mon", "Monday": 0 is Sunday. The word is in lower case, as everywhere below. */
export function weekdayOf(word: string): number | null {
  const at = WEEKDAYS.findIndex((name) => isNameOf(word, name));
  return at === -1 ? (WEEKDAYS_SHORT.get(word) ?? null) : at;
}

/** "mondays". */
export function weekdayOfPlural(word: string): number | null {
  return weekdayOf(word) === null && word.endsWith("s") ? weekdayOf(word.slice(0, -1)) : null;
}

export function monthOf(word: string): number | null {
  const at = MONTHS.findIndex((name) => isNameOf(word === "sept" ? "sep" : word, name));
  return at === -1 ? null : at + 1;
}

/** "2", "1.5", "two", "an". */
export function numberOf(word: string): number | null {
  if (/^\d+(?:\.\d+)?$/.test(word)) return Number(word);
  const at = NUMBERS.indexOf(word);
  return at === -1 ? (NUMBERS_LARGE.get(word) ?? null) : at;
}

/** "first". */
export function ordinalOf(word: string): number | null {
  const at = ORDINALS.indexOf(word);
  return at === -1 ? null : at + 1;
}

/** One of a unit: "minutes" is 60,000 ms. */
export function unitOf(word: string): Span | null {
  return UNITS.find(({ names }) => names.includes(word)) ?? null;
}

/** "daily": how often. */
export function adverbOf(word: string): Span | null {
  return ADVERBS.get(word) ?? null;
}

function isNameOf(word: string, name: string): boolean {
  const lower = name.toLowerCase();
  return word === lower || word === lower.slice(0, 3);
}
