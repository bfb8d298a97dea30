// Relative times in words: "3 minutes ago", "in 2 days".

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 365 * 24 * 3600_000],
  ["month", 30 * 24 * 3600_000],
  ["day", 24 * 3600_000],
  ["hour", 3600_000],
  ["minute", 60_000],
];

const formatter = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

export function formatRelativeTime(at: number, now: number): string {
  const offset = at - now;
  for (const [unit, ms] of UNITS) if (Math.abs(offset) >= ms) return formatter.format(Math.trunc(offset / ms), unit);
  return offset > 5_000 ? "in a moment" : "just now";
}
