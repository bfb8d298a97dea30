// Formats and parses times and durations as people read and type them.

import { Problem } from "./problem.ts";

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;

const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000, y: 365 * 86_400_000 };

/** A duration in its largest fitting unit: 3 h. */
export function formatDuration(ms: number): string {
  for (const [unit, size] of UNITS) if (ms >= size) return `${Math.round(ms / size)} ${unit}`;
  return "0 s";
}

/** Relative to now, past or future: 5 min ago, in 7 h. Values come from the wire, so they may have any type. */
export function formatRelativeTime(time: unknown, none: string, now = Date.now()): string {
  if (typeof time !== "number") return none;
  const distance = time - now;
  if (Math.abs(distance) < 1_000) return "now";
  return distance > 0 ? `in ${formatDuration(distance)}` : `${formatDuration(-distance)} ago`;
}

/** Local time to the minute: 2025-11-15 09:51. */
export function formatLocalTime(time: number): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return String(time);
  const pad = (value: number) => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return `${day} ${pad(date.getHours())}:${pad(date.getMinutes())}`;
}

/** 90d, 8h, never, 2026-01-31, a full ISO time, or milliseconds since 1970. Null stands for never. */
export function parseExpiry(text: string, now = Date.now()): number | null {
  if (text === "never") return null;
  const [, count, unit = ""] = /^(\d{1,6})([smhdwy])$/.exec(text) ?? [];
  const at =
    count !== undefined ? now + Number(count) * (UNIT_MS[unit] ?? 0) : /^\d{12,15}$/.test(text) ? Number(text) : parseIsoTime(text);
  if (Number.isNaN(at)) throw new Problem(`Invalid time: ${text}. Use a duration such as 90d or 8h, a date such as 2027-01-31, or never`);
  if (at <= now) throw new Problem(`${text} is in the past`);
  return at;
}

/** 1h or 7d, in milliseconds. Null stands for never. */
export function parseDuration(text: string): number | null {
  if (text === "never") return null;
  const [, count = "0", unit = ""] = /^(\d{1,6})([smhdwy])$/.exec(text) ?? [];
  const ms = Number(count) * (UNIT_MS[unit] ?? 0);
  if (ms === 0) throw new Problem(`Invalid duration: ${text}. Use one such as 1h or 7d, or never`);
  return ms;
}

function parseIsoTime(text: string): number {
  return /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
}
