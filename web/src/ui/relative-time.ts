// Relative times in words: "3 minutes ago", "in 2 days". From a day on, days of the calendar count, as people count them.

const HOUR_MS = 3600_000;
const DAY_MS = 24 * HOUR_MS;
const MINUTE_MS = 60_000;
const MONTH_DAYS = 30;
const YEAR_DAYS = 365;

const formatter = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

export function formatRelativeTime(at: number, now: number): string {
  const offset = at - now;
  const length = Math.abs(offset);
  if (length >= DAY_MS) return formatDays(Math.round((startOfDay(at) - startOfDay(now)) / DAY_MS));
  // What ends in 24 hours has not ended after 23.
  const count = (unit: number) => (offset > 0 ? Math.round(offset / unit) : Math.trunc(offset / unit));
  if (length >= HOUR_MS) return formatter.format(count(HOUR_MS), "hour");
  if (length >= MINUTE_MS) return formatter.format(count(MINUTE_MS), "minute");
  return offset > 5_000 ? "in less than a minute" : "just now";
}

function formatDays(days: number): string {
  const [years, months] = [Math.trunc(days / YEAR_DAYS), Math.trunc(days / MONTH_DAYS)];
  // "Last month" would be wrong for half of them.
  if (Math.abs(years) > 1) return formatter.format(years, "year");
  return Math.abs(months) > 1 ? formatter.format(months, "month") : formatter.format(days, "day");
}

/** In the zone of the browser. */
function startOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}
