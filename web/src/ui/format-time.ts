// Times as the desktop shows them: in the zone of the browser, in English, on a 24-hour clock like schedules and the command line.
// Relative times are in relative-time.ts.

const DAY = { day: "numeric", month: "short" } as const;
const CLOCK = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;

const clock = makeFormat(CLOCK);
const day = makeFormat(DAY);
const utcDay = makeFormat({ ...DAY, timeZone: "UTC" });
const wholeDay = makeFormat({ weekday: "long", day: "numeric", month: "long", year: "numeric" });
const moment = makeFormat({ weekday: "short", ...DAY, ...CLOCK });
const momentWithYear = makeFormat({ weekday: "short", ...DAY, year: "numeric", ...CLOCK });
const exact = makeFormat({ ...DAY, year: "numeric", ...CLOCK, second: "2-digit" });

/** "09:00" */
export function formatClock(at: number): string {
  return clock.format(at);
}

/** "20 Nov", of a day that was counted in UTC. */
export function formatDate(at: number): string {
  return utcDay.format(at);
}

/** "Friday 20 November 2026" */
export function formatDay(at: number): string {
  return wholeDay.format(at);
}

/** "Fri 20 Nov, 09:00"; with the year if it is another one. */
export function formatWhen(at: number): string {
  return (new Date(at).getFullYear() === new Date().getFullYear() ? moment : momentWithYear).format(at);
}

/** "20 Nov 2026, 09:00:12" */
export function formatExactly(at: number): string {
  return exact.format(at);
}

/** A time in the future as people say it: "14:00", "tomorrow 14:00", "23 Nov, 14:00". */
export function formatUntil(at: number, now = Date.now()): string {
  const time = formatClock(at);
  const dayOf = (time: number) => new Date(time).toDateString();
  if (dayOf(at) === dayOf(now)) return time;
  const tomorrow = new Date(now);
  tomorrow.setDate(tomorrow.getDate() + 1);
  return dayOf(at) === tomorrow.toDateString() ? `tomorrow ${time}` : `${day.format(at)}, ${time}`;
}

function makeFormat(parts: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat("en-GB", parts);
}
