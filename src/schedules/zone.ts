// Local time: the offset of a time zone at an instant, where it changes, and which instants a clock on the wall shows a time at. Each
// zone is read from Intl a block of time at once and kept, because Intl takes microseconds for every question.
//
// A local time is a number here: the instant at which a clock of UTC would show the same.

import { Cache } from "../lib/cache.ts";
import { fail } from "../lib/sys-error.ts";
import { isTimezone } from "../lib/timezone.ts";

/** A time during which the offset of a zone does not change. It may well be the same before and after. */
export type Stretch = { start: number; until: number; offset: number };

/** `at` is the first instant with the later offset. */
export type Transition = { at: number; before: number; after: number };

const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** About a year. */
const BLOCK_MS = 400 * DAY_MS;
/** Two changes of a zone are further apart than this: the nearest ones are around Ramadan, a month apart. */
const SAMPLE_MS = 8 * DAY_MS;
/** No zone has ever been further from UTC. */
const OFFSET_MS_MAX = 16 * HOUR_MS;
const FORMATTERS_MAX = 100;
const BLOCKS_MAX = 2_000;

const formatters = new Cache<string, Intl.DateTimeFormat>(FORMATTERS_MAX);
const blocks = new Cache<string, readonly Stretch[]>(BLOCKS_MAX);

export function offsetAt(zone: string, at: number): number {
  return stretchAt(zone, at).offset;
}

/** The stretch an instant is in. It ends where the next may begin: at a change of the offset or at the end of a block. */
export function stretchAt(zone: string, at: number): Stretch {
  const block = Math.floor(at / BLOCK_MS);
  const stretches = blocks.get(`${zone} ${block}`, () => readBlock(zone, block * BLOCK_MS));
  return stretches.find(({ until }) => at < until)!;
}

/** Every change of the offset after `from` and not after `until`. */
export function listTransitions(zone: string, from: number, until: number): Transition[] {
  const transitions: Transition[] = [];
  let stretch = stretchAt(zone, from);
  while (stretch.until <= until) {
    const next = stretchAt(zone, stretch.until);
    if (next.offset !== stretch.offset) transitions.push({ at: next.start, before: stretch.offset, after: next.offset });
    stretch = next;
  }
  return transitions;
}

export function localTimeAt(zone: string, at: number): number {
  return at + offsetAt(zone, at);
}

/** The instants of a local time, earliest first: one as a rule, two if the clock was set back, none if it skipped that time. */
export function listInstants(zone: string, local: number): number[] {
  return stretchesAround(zone, local).flatMap(({ start, until, offset }) => {
    const at = local - offset;
    return start <= at && at < until ? [at] : [];
  });
}

/** The first instant of a local time; of one that the clock skips, the instant at which it does. */
export function firstInstant(zone: string, local: number): number {
  const [first] = listInstants(zone, local);
  if (first !== undefined) return first;
  const stretches = stretchesAround(zone, local);
  return stretches.find(({ start, offset }) => local < start + offset)?.start ?? local - stretches.at(-1)!.offset;
}

/** Every stretch that may contain an instant of the local time. */
function stretchesAround(zone: string, local: number): Stretch[] {
  const stretches: Stretch[] = [];
  for (let at = local - OFFSET_MS_MAX; at <= local + OFFSET_MS_MAX; at = stretches.at(-1)!.until) stretches.push(stretchAt(zone, at));
  return stretches;
}

function readBlock(zone: string, start: number): Stretch[] {
  const formatter = formatters.get(zone, () => makeFormatter(zone));
  const stretches: Stretch[] = [];
  const end = start + BLOCK_MS;
  let stretch = { start, offset: readOffset(formatter, start) };
  for (let at = start; at < end; at += SAMPLE_MS) {
    const offset = readOffset(formatter, at + SAMPLE_MS);
    if (offset === stretch.offset) continue;
    const until = findChange(formatter, at, at + SAMPLE_MS, stretch.offset);
    // A change at the very end belongs to the next block.
    if (until >= end) break;
    stretches.push({ ...stretch, until });
    stretch = { start: until, offset };
  }
  return [...stretches, { ...stretch, until: end }];
}

/** The first instant, to the second, that does not have the offset which `from` has and `until` has not. */
function findChange(formatter: Intl.DateTimeFormat, from: number, until: number, offset: number): number {
  while (until - from > 1_000) {
    const middle = from + Math.floor((until - from) / 2_000) * 1_000;
    if (readOffset(formatter, middle) === offset) from = middle;
    else until = middle;
  }
  return until;
}

/** What the clock shows is written "12/24/2026, 18:00:00". */
function readOffset(formatter: Intl.DateTimeFormat, at: number): number {
  const shown = formatter.format(at);
  const read = (from: number, until: number) => Number(shown.slice(from, until));
  const date = Date.UTC(read(6, 10), read(0, 2) - 1, read(3, 5), read(12, 14), read(15, 17), read(18, 20));
  return date - Math.floor(at / 1_000) * 1_000;
}

function makeFormatter(zone: string): Intl.DateTimeFormat {
  if (!isTimezone(zone)) fail(400, "timezone must be a valid IANA timezone, such as Europe/Berlin or UTC");
  return new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    calendar: "gregory",
    numberingSystem: "latn",
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
}
