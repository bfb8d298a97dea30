// What a person says about a time, taken apart: its words are read in any order into the days, times of day and intervals they name.
// What these mean together is words.ts. English only.

import { fail } from "../lib/sys-error.ts";
import { Tokens } from "./tokens.ts";
import {
  adverbOf,
  DAY_PARTS,
  type DayPart,
  HOUR_MS,
  monthOf,
  numberOf,
  ordinalOf,
  type Span,
  unitOf,
  weekdayOf,
  weekdayOfPlural,
} from "./vocabulary.ts";

export type Clock = {
  hour: number;
  minute: number;
  second: number;
  /** Whether the evening may be meant as well as the morning: "8", not "8 am" or "20:00". */
  isOpen: boolean;
};

/** Everything that was said. What was not is empty or null. */
export type Said = {
  isRepeating: boolean;
  /** "in 20 minutes". */
  delay: Span | null;
  /** "every 2 hours". */
  every: Span | null;
  /** "every 1 day", not "every day". */
  isCounted: boolean;
  /** How many days from today: 1 is "tomorrow". */
  dayOffset: number | null;
  /** 0 is Sunday. */
  weekdays: number[];
  /** "next Monday" is not today. */
  isNext: boolean;
  /** Days of a month. */
  days: number[];
  months: number[];
  year: number | null;
  part: DayPart | null;
  times: Clock[];
  /** Minutes of an hour: 15 is ":15". */
  minutes: number[];
  range: { from: Clock; to: Clock } | null;
  /** A time with an offset of its own. */
  instant: number | null;
};

const WORKDAYS = [1, 2, 3, 4, 5];
const WEEKEND = [0, 6];

const INSTANT = /^\d{4}-\d\d-\d\dt\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:z|[+-]\d\d:?\d\d)$/;
const DATE = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:t(\d{1,2}:\d\d(?::\d\d)?))?$/;
const CLOCK = /^(\d{1,2}):(\d\d)(?::(\d\d))?$/;
/** Null if there are words in it that are not about time. What is understood as a whole but cannot be is refused with 400. */
export function readPhrase(text: string): Said | null {
  const tokens = Tokens.read(text.toLowerCase().replaceAll(/\b([ap])\.m\b\.?/g, "$1m"));
  return tokens === null ? null : new Phrase(tokens).read();
}

/** The words of a phrase and how far they are read. A method that reads something leaves the place as it was if that is not there. */
class Phrase {
  readonly #tokens: Tokens;
  readonly #said: Said = {
    isRepeating: false,
    delay: null,
    every: null,
    isCounted: false,
    dayOffset: null,
    weekdays: [],
    isNext: false,
    days: [],
    months: [],
    year: null,
    part: null,
    times: [],
    minutes: [],
    range: null,
    instant: null,
  };
  #countsDays = false;

  constructor(tokens: Tokens) {
    this.#tokens = tokens;
  }

  read(): Said | null {
    if (this.#tokens.isAtEnd) return null;
    while (!this.#tokens.isAtEnd) {
      if ((this.#tokens.isAtStart && this.#tokens.skip("once")) || this.#tokens.skip(",")) continue;
      if (!this.#readPart()) return null;
    }
    // "last Friday" is a day of the past, "every last Friday" is a wish.
    if (this.#countsDays && !this.#said.isRepeating) return null;
    if (this.#tokens.refusal !== null) fail(400, this.#tokens.refusal);
    return this.#said;
  }

  #readPart(): boolean {
    return (
      this.#readDate() ||
      this.#readDelay() ||
      this.#readEvery() ||
      this.#readRange() ||
      this.#readRelativeDay() ||
      this.#readDayPart(this.#hasDay() || this.#said.isRepeating) ||
      this.#readDays() ||
      this.#readMonths() ||
      this.#readTimes()
    );
  }

  /** "2026-12-24T18:00Z", "2026-12-24 18:00". */
  #readDate(): boolean {
    return this.#tokens.try(() => {
      this.#tokens.skip("on", "at");
      const word = this.#tokens.take();
      if (this.#hasDay() || this.#said.instant !== null) return false;
      if (INSTANT.test(word)) {
        this.#said.instant = Date.parse(word.toUpperCase());
        if (Number.isNaN(this.#said.instant)) this.#tokens.refuse(`There is no time ${word.toUpperCase()}`);
        return true;
      }
      const [, year, month, day, time] = DATE.exec(word) ?? [];
      if (year === undefined || (time !== undefined && this.#said.times.length > 0)) return false;
      Object.assign(this.#said, { year: Number(year), months: [Number(month)], days: [Number(day)] });
      if (time !== undefined) this.#said.times = [this.#toClock(time)];
      return true;
    });
  }

  /** "in 2 hours", "after 1h 30m", "20 minutes from now". */
  #readDelay(): boolean {
    return this.#tokens.try(() => {
      const isAhead = this.#tokens.skip("in", "after");
      const span = this.#readSpan();
      if (this.#said.delay !== null || span === null || (!isAhead && !this.#tokens.skipAll("from", "now"))) return false;
      this.#said.delay = span;
      return true;
    });
  }

  /** "every 2 hours", "every weekday", "every other Monday", "of each month", "daily", "weekdays", "on Mondays". */
  #readEvery(): boolean {
    return this.#tokens.try(() => {
      const adverb = adverbOf(this.#tokens.word());
      if (adverb !== null) return this.#tokens.take() !== "" && this.#setEvery(adverb);
      const isOf = this.#tokens.skip("of");
      const isOn = this.#tokens.skip("on");
      if (!this.#tokens.skip("every", "each")) return !isOf && this.#isPluralDay() && (this.#readDaySet() || this.#readWeekdays());
      this.#said.isRepeating = true;
      if (this.#readDaySet() || (!isOn && this.#readDayPart(true))) return true;
      const isOther =
        this.#tokens.skip("other") ||
        (unitOf(this.#tokens.word(1)) !== null || weekdayOf(this.#tokens.word(1)) !== null ? this.#tokens.skip("second") : false);
      if (isOther && weekdayOf(this.#tokens.word()) !== null) return this.#setEvery({ unit: "days", amount: 14 }) && this.#readWeekdays();
      const counted = isOther ? null : this.#readSpan();
      if (counted !== null) this.#said.isCounted = true;
      const span = counted ?? this.#readUnit(isOther ? 2 : 1);
      return span === null ? !isOther && this.#readDays() : this.#setEvery(span);
    });
  }

  #setEvery(span: Span): boolean {
    if (this.#said.every !== null) return false;
    this.#said.isRepeating = true;
    this.#said.every = span;
    return true;
  }

  /** Plurals repeat without "every". */
  #isPluralDay(): boolean {
    if (!/^(?:weekdays|weekends)$/.test(this.#tokens.word()) && weekdayOfPlural(this.#tokens.word()) === null) return false;
    this.#said.isRepeating = true;
    return true;
  }

  #readDaySet(): boolean {
    const days = /^(?:weekdays?|workdays?)$/.test(this.#tokens.word())
      ? WORKDAYS
      : /^weekends?$/.test(this.#tokens.word())
        ? WEEKEND
        : null;
    if (days === null || this.#hasDay()) return false;
    this.#tokens.take();
    if (days === WEEKEND) this.#tokens.skip("day", "days");
    this.#said.weekdays = [...days];
    return true;
  }

  /** "Monday", "next Monday", "mon, wed and fri", "Monday to Friday". */
  #readWeekdays(): boolean {
    return this.#tokens.try(() => {
      const isNext = this.#tokens.skip("next");
      if (!isNext) this.#tokens.skip("this");
      const days = this.#tokens.list(() => this.#readWeekday());
      if (days.length === 0 || this.#said.weekdays.length > 0) return false;
      if (days.length === 1 && weekdayOf(this.#tokens.word(1)) !== null && this.#tokens.skip("to", "through", "-")) {
        const count = ((this.#readWeekday()! - days[0]! + 7) % 7) + 1;
        days.push(...Array.from({ length: count - 1 }, (_, at) => (days[0]! + at + 1) % 7));
      }
      if (days.length > 1) this.#said.isRepeating = true;
      this.#said.weekdays = days;
      this.#said.isNext = isNext;
      return true;
    });
  }

  #readWeekday(): number | null {
    const weekday = weekdayOf(this.#tokens.word()) ?? weekdayOfPlural(this.#tokens.word());
    if (weekday !== null) this.#tokens.take();
    return weekday;
  }

  /** "from 9 to 17:30", "between 9 and 17". */
  #readRange(): boolean {
    return this.#tokens.try(() => {
      const isFrom = this.#tokens.skip("from");
      if ((!isFrom && !this.#tokens.skip("between")) || this.#said.range !== null) return false;
      const from = this.#readClock(true);
      if (from === null || !this.#tokens.skip(...(isFrom ? ["to", "until", "till", "-"] : ["and"]))) return false;
      const to = this.#readClock(true);
      if (to === null) return false;
      this.#said.range = { from, to };
      return true;
    });
  }

  /** "today", "tomorrow", "tonight", "this" before "evening". */
  #readRelativeDay(): boolean {
    return this.#tokens.try(() => {
      if (this.#hasDay()) return false;
      if (this.#tokens.skipAll("the", "day", "after", "tomorrow") || this.#tokens.skipAll("day", "after", "tomorrow"))
        this.#said.dayOffset = 2;
      else if (this.#tokens.skip("tomorrow")) this.#said.dayOffset = 1;
      else if (this.#tokens.skip("today")) this.#said.dayOffset = 0;
      else if (this.#tokens.skip("tonight")) Object.assign(this.#said, { dayOffset: 0, part: "night" });
      else if (DAY_PARTS.some((part) => part === this.#tokens.word(1)) && this.#tokens.skip("this")) this.#said.dayOffset = 0;
      else return false;
      return true;
    });
  }

  /** "in the morning", "at night"; "morning" alone where it `isExpected`, which is after a day. */
  #readDayPart(isExpected: boolean): boolean {
    return this.#tokens.try(() => {
      const isSaid = this.#tokens.skipAll("in", "the") || (this.#tokens.word(1) === "night" && this.#tokens.skip("at"));
      const part = DAY_PARTS.find((one) => one === this.#tokens.word());
      if (part === undefined || (!isSaid && !isExpected) || this.#said.part !== null) return false;
      this.#tokens.take();
      this.#said.part = part;
      return true;
    });
  }

  /** "on Monday", "24 December 2026", "the 1st and 15th of the month", "days 1 and 15". */
  #readDays(): boolean {
    return this.#tokens.try(() => {
      this.#tokens.skip("on");
      this.#tokens.skip("the");
      if (this.#readCountedDay() || this.#readWeekdays()) return true;
      if (this.#said.days.length > 0) return false;
      if (!this.#readDayNumbers() && !this.#readDates()) return false;
      this.#tokens.skipAll("of", "the", "month");
      return true;
    });
  }

  /** "last day", "first Monday". */
  #readCountedDay(): boolean {
    const isDay = weekdayOf(this.#tokens.word(1)) !== null || /^(?:day|weekday|workday)$/.test(this.#tokens.word(1));
    if (!isDay || (this.#tokens.word() !== "last" && (ordinalOf(this.#tokens.word()) === null || weekdayOf(this.#tokens.word(1)) === null)))
      return false;
    this.#tokens.take();
    this.#tokens.take();
    this.#tokens.skipAll("of", "the", "month");
    this.#countsDays = true;
    this.#tokens.refuse(
      "Days counted by weekday or from the end of a month, such as the first Monday or the last day, are not supported. " +
        'Say "every Monday at 9" or "every month on day 28 at 9"',
    );
    return true;
  }

  /** "day 1", "days 1 and 15", "1st and 15th" without a month. */
  #readDayNumbers(): boolean {
    return this.#tokens.try(() => {
      const isNamed = this.#tokens.skip("day", "days");
      const days = this.#tokens.list(() => (isNamed ? this.#readDay() : this.#readOrdinal()));
      if (days.length === 0 || monthOf(this.#tokens.word(this.#tokens.word() === "of" ? 1 : 0)) !== null) return false;
      this.#said.days = days;
      return true;
    });
  }

  /** "24 December", "December 24th, 2026", "1 January and 1 July": every one of the days in every one of the months. */
  #readDates(): boolean {
    return this.#tokens.try(() => {
      const dates = this.#tokens.list(() => this.#readDayAndMonth());
      if (dates.length === 0 || this.#said.months.length > 0) return false;
      this.#said.days = unique(dates.flatMap(({ days }) => days));
      this.#said.months = unique(dates.map(({ month }) => month));
      if (this.#said.days.length * this.#said.months.length !== dates.reduce((sum, { days }) => sum + days.length, 0))
        this.#tokens.refuse("Dates with different days in different months need a schedule each");
      const comma = this.#tokens.word() === "," ? 1 : 0;
      if (dates.length > 1 || !/^\d{4}$/.test(this.#tokens.word(comma))) return true;
      if (comma === 1) this.#tokens.take();
      this.#said.year = Number(this.#tokens.take());
      return true;
    });
  }

  #readDayAndMonth(): { days: number[]; month: number } | null {
    const first = this.#readMonth();
    const days = first === null ? this.#tokens.list(() => this.#readDay()) : [this.#readDay()].filter((day) => day !== null);
    if (first === null) this.#tokens.skip("of");
    const month = first ?? this.#readMonth();
    return days.length === 0 || month === null ? null : { days, month };
  }

  #readDay(): number | null {
    const ordinal = this.#readOrdinal();
    if (ordinal !== null || !/^\d{1,2}$/.test(this.#tokens.word())) return ordinal;
    return this.#checkDay(Number(this.#tokens.take()));
  }

  #readOrdinal(): number | null {
    const isNumber = /^\d{1,2}$/.test(this.#tokens.word()) && /^(?:st|nd|rd|th)$/.test(this.#tokens.word(1));
    const value = isNumber ? Number(this.#tokens.word()) : this.#mayBeOrdinal() ? ordinalOf(this.#tokens.word()) : null;
    if (value === null) return null;
    this.#tokens.take();
    if (isNumber) this.#tokens.take();
    return this.#checkDay(value);
  }

  /** "First" alone is no day: "every Monday first look at the mail". */
  #mayBeOrdinal(): boolean {
    const before = this.#tokens.word(-1);
    return /^(?:the|and|every|each)$/.test(before) || monthOf(before) !== null;
  }

  #checkDay(day: number): number {
    if (day < 1 || day > 31) this.#tokens.refuse(`There is no day ${day} in a month: days are 1 to 31`);
    return day;
  }

  /** "in December", "in June and July". */
  #readMonths(): boolean {
    return this.#tokens.try(() => {
      if (!this.#tokens.skip("in") || this.#said.months.length > 0) return false;
      this.#said.months = this.#tokens.list(() => this.#readMonth());
      return this.#said.months.length > 0;
    });
  }

  #readMonth(): number | null {
    const month = monthOf(this.#tokens.word());
    if (month !== null) this.#tokens.take();
    return month;
  }

  /** "at 9", "9:30", "at 8, 12 and 17:30", "at :15". */
  #readTimes(): boolean {
    return this.#tokens.try(() => {
      if (this.#said.times.length > 0 || this.#said.minutes.length > 0) return false;
      const isSaid = this.#tokens.skip("at", "@");
      this.#said.minutes = this.#tokens.list(() => this.#readMinute());
      if (this.#said.minutes.length > 0) return true;
      this.#said.times = this.#tokens.list(() => this.#readClock(isSaid));
      return this.#said.times.length > 0;
    });
  }

  #readMinute(): number | null {
    if (!/^:\d\d$/.test(this.#tokens.word())) return null;
    const minute = Number(this.#tokens.take().slice(1));
    if (minute > 59) this.#tokens.refuse(`There is no minute ${minute} of an hour: minutes are :00 to :59`);
    return minute;
  }

  /** A number alone is a time only where one is expected: after "at". */
  #readClock(isExpected: boolean): Clock | null {
    if (this.#tokens.skip("noon", "midday")) return { hour: 12, minute: 0, second: 0, isOpen: false };
    if (this.#tokens.skip("midnight")) return { hour: 0, minute: 0, second: 0, isOpen: false };
    const [word, half] = [this.#tokens.word(), this.#tokens.word(1)];
    const hasHalf = half === "am" || half === "pm";
    const isHour = /^\d{1,2}$/.test(word) && (hasHalf || (isExpected && !this.#isDayHere()));
    if (!CLOCK.test(word) && !isHour) return null;
    const clock = this.#toClock(this.#tokens.take());
    if (hasHalf) return this.#inHalf(clock, this.#tokens.take());
    this.#tokens.skip("o'clock", "oclock");
    return clock;
  }

  /** Whether the number here is a day, as in "at 9, 24 December". */
  #isDayHere(): boolean {
    return /^(?:st|nd|rd|th|of)$/.test(this.#tokens.word(1)) || monthOf(this.#tokens.word(1)) !== null;
  }

  #toClock(text: string): Clock {
    const [hour, minute = 0, second = 0] = text.split(":").map(Number) as [number, ...number[]];
    if (hour > 23 || minute > 59 || second > 59) this.#tokens.refuse(`There is no time ${text} of a day: times are 0:00 to 23:59`);
    return { hour, minute, second, isOpen: hour >= 1 && hour <= 12 };
  }

  #inHalf(clock: Clock, half: string): Clock {
    if (!clock.isOpen) this.#tokens.refuse(`There is no ${clock.hour} ${half}: write 1 to 12 with am or pm, or 0 to 23 without`);
    return { ...clock, hour: (clock.hour % 12) + (half === "pm" ? 12 : 0), isOpen: false };
  }

  /** "2 hours", "an hour", "half an hour", "1h 30m", "1 hour and 30 minutes", "1.5 hours". */
  #readSpan(): Span | null {
    if (this.#tokens.skipAll("half", "an", "hour") || this.#tokens.skipAll("half", "hour")) return { unit: "ms", amount: HOUR_MS / 2 };
    const spans = this.#tokens.list(() => this.#readAmount(), true);
    if (spans.length === 0) return null;
    if (spans.length > 1 && spans.some(({ unit }) => unit !== "ms"))
      this.#tokens.refuse("An interval of days and hours together is not supported: say it in hours");
    return { unit: spans[0]!.unit, amount: spans.reduce((sum, { amount }) => sum + amount, 0) };
  }

  #readAmount(): Span | null {
    const count = numberOf(this.#tokens.take());
    return count === null ? null : this.#readUnit(count);
  }

  #readUnit(count: number): Span | null {
    const one = unitOf(this.#tokens.word());
    if (one === null) return null;
    this.#tokens.take();
    const amount = count * one.amount;
    if (one.unit !== "ms" && !Number.isInteger(amount))
      this.#tokens.refuse("Parts of a day, week or month are not supported: say it in hours");
    return { unit: one.unit, amount: Math.round(amount) };
  }

  /** Whether a day is named already, so that another would be too much. */
  #hasDay(): boolean {
    const { dayOffset, weekdays, days, months } = this.#said;
    return dayOffset !== null || weekdays.length + days.length + months.length > 0;
  }
}

function unique(values: readonly number[]): number[] {
  return [...new Set(values)];
}
