// How long ago, or how soon, as people say it.

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 365 * 24 * 3600_000],
  ["month", 30 * 24 * 3600_000],
  ["day", 24 * 3600_000],
  ["hour", 3600_000],
  ["minute", 60_000],
];

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

export function ago(at: number, now: number): string {
  const away = at - now;
  for (const [unit, ms] of STEPS) if (Math.abs(away) >= ms) return relative.format(Math.trunc(away / ms), unit);
  return away > 5_000 ? "in a moment" : "just now";
}
