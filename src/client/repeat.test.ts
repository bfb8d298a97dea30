// When a call is sent again, and when its outcome is reported as unknown.

import { beforeEach, expect, it } from "vitest";
import { CallError, ConnectionLost } from "./connection.ts";
import { RepeatState } from "./repeat.ts";

const DISCONNECT = new ConnectionLost(1006, "cut");
const OFFLINE = new CallError({ code: 503, message: "Device offline: laptop", retryable: true });
const UNKNOWN = new CallError({ code: 503, message: "Device disconnected: laptop", details: { outcome: "unknown" } });
const NO_KEY = new CallError({ code: 400, message: "takes no key", details: { takesKey: false } });

let keyless: Set<string>;
beforeEach(() => {
  keyless = new Set();
});
const repeat = (name: string, args: object, key?: string) => new RepeatState(name, args, { key, newKey: () => "made", keyless });

it("gives a key only to writes and to effects on a device", () => {
  expect(repeat("sys.config.set", {}).key).toBe("made");
  expect(repeat("shell.exec", { target: "laptop" }).key).toBe("made");
  expect(repeat("shell.exec", { target: "laptop" }, "given").key).toBe("given");
  expect(repeat("fs.read", { target: "laptop" }).key).toBeUndefined();
  for (const args of [{}, { target: "gsv" }]) expect(repeat("fs.write", args).key).toBeUndefined();
});

it("repeats after a disconnect only calls that are safe to repeat", () => {
  for (const [name, args] of [
    ["sys.info", {}],
    ["fs.read", {}],
    ["sys.config.set", {}],
    ["fs.write", { target: "laptop" }],
  ] as const)
    expect(repeat(name, args).planRetry(DISCONNECT, 0)).toBe(0);
  for (const [name, args] of [
    ["fs.write", {}],
    ["sys.user.create", {}],
  ] as const)
    expect(repeat(name, args).planRetry(DISCONNECT, 0)).toBe(DISCONNECT);
});

it("drops the key if the device takes none, unless the call may have run", () => {
  const first = repeat("fs.write", { target: "laptop" });
  expect(first.planRetry(NO_KEY, 0)).toBe(0);
  expect(first.key).toBeUndefined();
  expect(first.planRetry(DISCONNECT, 0)).toBe(DISCONNECT);
  expect(repeat("fs.write", { target: "laptop" }).key).toBeUndefined();
  keyless.clear();
  const uncertain = repeat("fs.write", { target: "laptop" });
  uncertain.planRetry(DISCONNECT, 0);
  expect(uncertain.planRetry(NO_KEY, 0)).toBe(NO_KEY);
  expect(repeat("fs.write", { target: "laptop" }, "given").planRetry(NO_KEY, 0)).toBe(NO_KEY);
});

it("waits for a device that disconnected during the call, not for one that was offline before", () => {
  expect(repeat("fs.write", { target: "laptop" }).planRetry(OFFLINE, 0)).toBe(OFFLINE);
  for (const first of [DISCONNECT, UNKNOWN]) {
    const one = repeat("fs.write", { target: "laptop" });
    one.planRetry(first, 0);
    expect(one.planRetry(OFFLINE, 1_000)).toBeGreaterThan(0);
    expect(one.planRetry(OFFLINE, 60_000)).toMatchObject({ code: 503, details: { outcome: "unknown" } });
  }
});

it("repeats no write after 23 hours", () => {
  const one = repeat("sys.config.set", {});
  expect(one.startAttempt(0)).toBeNull();
  expect(one.startAttempt(23 * 60 * 60 * 1000 + 1)).toBeInstanceOf(ConnectionLost);
});
