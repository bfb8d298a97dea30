// When a cron expression should run, found the slow way: every real minute is asked of Intl what a clock in the zone shows, and whether that
// matches. It shares nothing with src/schedules, neither parser nor arithmetic, so that they can be held against each other.

export type Fields = {
  minute: Set<number>;
  hour: Set<number>;
  day: Set<number>;
  month: Set<number>;
  weekday: Set<number>;
  /** Whether neither minute nor hour has a `*`. */
  isFixed: boolean;
  /** Whether both the day and the weekday must match, rather than either. */
  isBoth: boolean;
};

/** What a clock shows. `serial` counts minutes as if there were no time zones. */
type Shown = { serial: number; minute: number; hour: number; day: number; month: number; weekday: number };

/** `before` and `after` are what the clock is ahead of UTC, in minutes. */
export type Change = { at: number; before: number; after: number };

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;

/** Real minutes in a row, and what the clock of a zone shows at each. */
export class Minutes {
  readonly from: number;
  readonly until: number;
  readonly #shown: Shown[] = [];

  constructor(zone: string, from: number, until: number) {
    this.from = Math.floor(from / MINUTE_MS) * MINUTE_MS;
    this.until = until;
    const clock = makeClock(zone);
    for (let at = this.from; at < until; at += MINUTE_MS) this.#shown.push(partsOf(readClock(clock, at)));
  }

  /** Its runs from the first minute on. No clock may have been set back shortly before. */
  listRuns(fields: Fields): number[] {
    const runs: number[] = [];
    let latest = this.#shown[0]!.serial - 1;
    let previous = latest;
    for (const [index, shown] of this.#shown.entries()) {
      let isDue = matches(fields, shown);
      if (fields.isFixed) {
        if (shown.serial <= latest) isDue = false;
        for (let skipped = previous + 1; skipped < shown.serial && !isDue; skipped++)
          isDue = skipped > latest && matches(fields, partsOf(skipped));
      }
      if (isDue) runs.push(this.from + index * MINUTE_MS);
      latest = Math.max(latest, shown.serial);
      previous = shown.serial;
    }
    return runs;
  }
}

/** Every change of a zone's clock. Changes that are taken back within a day are missed. */
export function findChanges(zone: string, from: number, until: number): Change[] {
  const clock = makeClock(zone);
  const aheadAt = (at: number) => readClock(clock, at) - at / MINUTE_MS;
  const changes: Change[] = [];
  for (let day = from; day < until; day += DAY_MS) {
    const [before, after] = [aheadAt(day), aheadAt(day + DAY_MS)];
    if (before === after) continue;
    let [low, high] = [0, DAY_MS / MINUTE_MS];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (aheadAt(day + middle * MINUTE_MS) === before) low = middle;
      else high = middle;
    }
    changes.push({ at: day + high * MINUTE_MS, before, after });
  }
  return changes;
}

export function readExpression(text: string): Fields {
  const [minute, hour, day, month, weekday] = text.toLowerCase().split(" ") as [string, string, string, string, string];
  return {
    minute: readField(minute, 0, 59),
    hour: readField(hour, 0, 23),
    day: readField(day, 1, 31),
    month: readField(
      month.replaceAll(/[a-z]+/g, (name) => String("janfebmaraprmayjunjulaugsepoctnovdec".indexOf(name) / 3 + 1)),
      1,
      12,
    ),
    weekday: readField(
      weekday.replaceAll(/[a-z]+/g, (name) => String("sunmontuewedthufrisat".indexOf(name) / 3)),
      0,
      7,
    ),
    isFixed: !`${minute}${hour}`.includes("*"),
    isBoth: day.startsWith("*") || weekday.startsWith("*"),
  };
}

function readField(text: string, min: number, max: number): Set<number> {
  const values = new Set<number>();
  for (const item of text.split(",")) {
    const [, from = "", to, step] = /^(\*|\d+)(?:-(\d+))?(?:\/(\d+))?$/.exec(item)!;
    const first = from === "*" ? min : Number(from);
    const last = from === "*" ? max : Number(to ?? from);
    for (let value = first; value <= last; value += Number(step ?? 1)) values.add(value);
  }
  return values;
}

function matches(fields: Fields, { minute, hour, day, month, weekday }: Shown): boolean {
  if (!fields.minute.has(minute) || !fields.hour.has(hour) || !fields.month.has(month)) return false;
  const isDay = fields.day.has(day);
  const isWeekday = fields.weekday.has(weekday) || (weekday === 0 && fields.weekday.has(7));
  return fields.isBoth ? isDay && isWeekday : isDay || isWeekday;
}

function partsOf(serial: number): Shown {
  const date = new Date(serial * MINUTE_MS);
  return {
    serial,
    minute: date.getUTCMinutes(),
    hour: date.getUTCHours(),
    day: date.getUTCDate(),
    month: date.getUTCMonth() + 1,
    weekday: date.getUTCDay(),
  };
}

function makeClock(zone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" });
}

/** The serial of what is shown: "2026-03-29 03:00". */
function readClock(clock: Intl.DateTimeFormat, at: number): number {
  const text = clock.format(at);
  const [year, month, day, hour, minute] = [text.slice(0, 4), text.slice(5, 7), text.slice(8, 10), text.slice(11, 13), text.slice(14, 16)];
  return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute)) / MINUTE_MS;
}
