import { expect, test } from "vitest";
import { parseExpiry, parseDuration, formatRelativeTime } from "./durations.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const DAY = 86_400_000;

test("expiries are parsed as people type them", () => {
  expect(parseExpiry("never", NOW)).toBe(null);
  expect(parseExpiry("90d", NOW)).toBe(NOW + 90 * DAY);
  expect(parseExpiry("8h", NOW)).toBe(NOW + DAY / 3);
  expect(parseExpiry("2026-02-01", NOW)).toBe(Date.parse("2026-02-01"));
  expect(parseExpiry("2026-02-01T10:00:00Z", NOW)).toBe(Date.parse("2026-02-01T10:00:00Z"));
  expect(parseExpiry(String(NOW + DAY), NOW)).toBe(NOW + DAY);
  for (const text of ["", "soon", "90", "-1d", "2026-13-01"]) expect(() => parseExpiry(text, NOW)).toThrow("Invalid time");
  expect(() => parseExpiry("2020-01-01", NOW)).toThrow("in the past");
});

test("durations are parsed as people type them", () => {
  expect(["1h", "7d", "never"].map(parseDuration)).toEqual([DAY / 24, 7 * DAY, null]);
  for (const text of ["", "0h", "2027-01-31", "1.5h"]) expect(() => parseDuration(text)).toThrow("Invalid duration");
});

test("times are shown relative to now", () => {
  expect(formatRelativeTime(NOW - 5 * 60_000, "-", NOW)).toBe("5 min ago");
  expect(formatRelativeTime(NOW + 2 * DAY, "-", NOW)).toBe("in 2 d");
  expect(formatRelativeTime(NOW, "-", NOW)).toBe("now");
  expect(formatRelativeTime(null, "never", NOW)).toBe("never");
});
