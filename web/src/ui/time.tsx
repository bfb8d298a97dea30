// A moment, as people say it: "3 minutes ago", with the exact one for whoever points at it. All of them tell the time anew
// together.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

const EVERY_MS = 15_000;
const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 365 * 24 * 3600_000],
  ["month", 30 * 24 * 3600_000],
  ["day", 24 * 3600_000],
  ["hour", 3600_000],
  ["minute", 60_000],
];

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const now = signal(Date.now());
let shown = 0;
let ticking: ReturnType<typeof setInterval> | undefined;

/** `at` in milliseconds since 1970. */
export function Time({ at }: { at: number }) {
  useEffect(() => {
    shown += 1;
    now.value = Date.now();
    ticking ??= setInterval(() => (now.value = Date.now()), EVERY_MS);
    return () => {
      shown -= 1;
      if (shown > 0) return;
      clearInterval(ticking);
      ticking = undefined;
    };
  }, []);
  return (
    <time dateTime={new Date(at).toISOString()} title={exact.format(at)}>
      {ago(at, now.value)}
    </time>
  );
}

export function ago(at: number, now: number): string {
  const away = at - now;
  for (const [unit, ms] of STEPS) if (Math.abs(away) >= ms) return relative.format(Math.trunc(away / ms), unit);
  return away > 5_000 ? "in a moment" : "just now";
}
