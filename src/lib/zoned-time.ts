// Writes an instant as people read it, in a time zone: Fri 20 Nov 2026 08:00.

import { Cache } from "./cache.ts";

const FORMATS_MAX = 64;
const formats = new Cache<string, Intl.DateTimeFormat>(FORMATS_MAX);

export function formatZonedTime(ms: number, timezone: string): string {
  const format = formats.get(timezone, () => {
    const numbers = { year: "numeric", day: "numeric", hour: "2-digit", minute: "2-digit" } as const;
    return new Intl.DateTimeFormat("en-GB", { timeZone: timezone, weekday: "short", month: "short", hourCycle: "h23", ...numbers });
  });
  const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
  return `${parts.weekday} ${parts.day} ${parts.month} ${parts.year} ${parts.hour}:${parts.minute}`;
}
