import { describe, expect, it, test } from "vitest";
import { SysError } from "../lib/sys-error.ts";
import { firstInstant, listInstants, listTransitions, localTimeAt, offsetAt } from "./zone.ts";

const HOUR_MS = 3_600_000;
const utc = (text: string) => Date.parse(`${text}Z`);
const iso = (at: number) => new Date(at).toISOString().slice(0, 16);

test("an offset is that of the instant", () => {
  expect(offsetAt("UTC", utc("2026-07-01T00:00"))).toBe(0);
  expect(offsetAt("Europe/Berlin", utc("2026-07-01T00:00"))).toBe(2 * HOUR_MS);
  expect(offsetAt("Europe/Berlin", utc("2026-12-01T00:00"))).toBe(HOUR_MS);
  expect(offsetAt("Asia/Kathmandu", utc("2026-12-01T00:00"))).toBe(5.75 * HOUR_MS);
  expect(localTimeAt("America/St_Johns", utc("2026-01-01T00:00"))).toBe(utc("2025-12-31T20:30"));
});

describe("the changes of a year", () => {
  it.each([
    ["UTC", []],
    ["Europe/Berlin", ["2025-03-30T01:00 1 2", "2025-10-26T01:00 2 1"]],
    ["Australia/Lord_Howe", ["2025-04-05T15:00 11 10.5", "2025-10-04T15:30 10.5 11"]],
    ["Africa/Casablanca", ["2025-02-23T02:00 1 0", "2025-04-06T02:00 0 1"]],
    ["Antarctica/Troll", ["2025-03-30T01:00 0 2", "2025-10-26T01:00 2 0"]],
    ["America/Santiago", ["2025-04-06T03:00 -3 -4", "2025-09-07T04:00 -4 -3"]],
  ])("%s", (zone, expected) => {
    const found = listTransitions(zone, utc("2025-01-01T00:00"), utc("2026-01-01T00:00"));
    expect(found.map(({ at, before, after }) => `${iso(at)} ${before / HOUR_MS} ${after / HOUR_MS}`)).toEqual(expected);
  });
});

test("a change belongs to the time that ends with it", () => {
  const at = utc("2026-03-29T01:00");
  expect(listTransitions("Europe/Berlin", at - 1, at)).toHaveLength(1);
  expect(listTransitions("Europe/Berlin", at, at + 1)).toEqual([]);
  expect(offsetAt("Europe/Berlin", at - 1)).toBe(HOUR_MS);
  expect(offsetAt("Europe/Berlin", at)).toBe(2 * HOUR_MS);
});

test("a local time has one instant, two when it is repeated, none when it is skipped", () => {
  const instants = (zone: string, local: string) => listInstants(zone, utc(local)).map(iso);
  expect(instants("Europe/Berlin", "2026-07-01T12:00")).toEqual(["2026-07-01T10:00"]);
  expect(instants("Europe/Berlin", "2026-10-25T02:30")).toEqual(["2026-10-25T00:30", "2026-10-25T01:30"]);
  expect(instants("Europe/Berlin", "2026-03-29T02:30")).toEqual([]);
  expect(iso(firstInstant("Europe/Berlin", utc("2026-03-29T02:30")))).toBe("2026-03-29T01:00");
  expect(iso(firstInstant("Europe/Berlin", utc("2026-10-25T02:30")))).toBe("2026-10-25T00:30");
});

test("a day that an island skipped has no instant", () => {
  expect(listInstants("Pacific/Apia", utc("2011-12-30T12:00"))).toEqual([]);
  expect(iso(firstInstant("Pacific/Apia", utc("2011-12-30T12:00")))).toBe("2011-12-30T10:00");
});

test("a zone that does not exist is refused", () => {
  expect(() => offsetAt("Europe/Atlantis", 0)).toThrow(SysError);
});
