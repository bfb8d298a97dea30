// The date without the time: a prompt that changes every minute would miss every provider's cache. It comes last for the same
// reason; `date` in the shell tells the time.

import { Cache } from "../../lib/cache.ts";
import { isTimezone } from "../../lib/timezone.ts";
import type { Section } from "./section.ts";

type DayFormat = { zone: string; formatter: Intl.DateTimeFormat };

/** By time zone: making a formatter takes longer than formatting a hundred dates. */
const formats = new Cache<string, DayFormat>(100);

export function makeDateSections(now: number, timezone: string): Section[] {
  return [{ name: "date", text: describeDay(now, timezone), cut: 0 }];
}

/** The same text for the whole day. */
export function describeDay(now: number, timezone: string): string {
  const { zone, formatter } = formats.get(timezone, () => makeFormat(timezone));
  return `Today is ${formatter.format(now)} (${zone}).`;
}

function makeFormat(timezone: string): DayFormat {
  const zone = isTimezone(timezone) ? timezone : "UTC";
  return { zone, formatter: new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeZone: zone }) };
}
