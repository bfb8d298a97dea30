// When a call is sent again, and when it is better to say that nobody knows.

import { beforeEach, expect, it } from "vitest";
import { CallError, ConnectionLost } from "./connection.ts";
import { Repeat } from "./repeat.ts";

const CUT = new ConnectionLost(1006, "cut");
const OFFLINE = new CallError({ code: 503, message: "Device offline: laptop", retryable: true });
const UNKNOWN = new CallError({ code: 503, message: "Device disconnected: laptop", details: { outcome: "unknown" } });
const NO_KEY = new CallError({ code: 400, message: "takes no key", details: { takesKey: false } });

let keyless: Set<string>;
beforeEach(() => {
  keyless = new Set();
});
const repeat = (name: string, args: object, key?: string) => new Repeat(name, args, { key, newKey: () => "made", keyless });

it("gives a key to what changes something here or on a device, and to nothing else", () => {
  expect(repeat("sys.config.set", {}).key).toBe("made");
  expect(repeat("shell.exec", { target: "laptop" }).key).toBe("made");
  expect(repeat("shell.exec", { target: "laptop" }, "given").key).toBe("given");
  expect(repeat("fs.read", { target: "laptop" }).key).toBeUndefined();
  for (const args of [{}, { target: "gsv" }]) expect(repeat("fs.write", args).key).toBeUndefined();
});

it("sends again after a cut what may be sent again", () => {
  for (const [name, args] of [
    ["sys.info", {}],
    ["fs.read", {}],
    ["sys.config.set", {}],
    ["fs.write", { target: "laptop" }],
  ] as const)
    expect(repeat(name, args).after(CUT, 0)).toBe(0);
  for (const [name, args] of [
    ["fs.write", {}],
    ["sys.user.create", {}],
  ] as const)
    expect(repeat(name, args).after(CUT, 0)).toBe(CUT);
});

it("does without a key where none is taken, unless the call may have been carried out", () => {
  const first = repeat("fs.write", { target: "laptop" });
  expect(first.after(NO_KEY, 0)).toBe(0);
  expect(first.key).toBeUndefined();
  expect(first.after(CUT, 0)).toBe(CUT);
  expect(repeat("fs.write", { target: "laptop" }).key).toBeUndefined();
  keyless.clear();
  const cut = repeat("fs.write", { target: "laptop" });
  cut.after(CUT, 0);
  expect(cut.after(NO_KEY, 0)).toBe(NO_KEY);
  expect(repeat("fs.write", { target: "laptop" }, "given").after(NO_KEY, 0)).toBe(NO_KEY);
});

it("waits for a device that went away in the middle, not for one that was never there", () => {
  expect(repeat("fs.write", { target: "laptop" }).after(OFFLINE, 0)).toBe(OFFLINE);
  for (const first of [CUT, UNKNOWN]) {
    const one = repeat("fs.write", { target: "laptop" });
    one.after(first, 0);
    expect(one.after(OFFLINE, 1_000)).toBeGreaterThan(0);
    expect(one.after(OFFLINE, 60_000)).toMatchObject({ code: 503, details: { outcome: "unknown" } });
  }
});

it("sends nothing again after a day", () => {
  const one = repeat("sys.config.set", {});
  expect(one.refusal(0)).toBeNull();
  expect(one.refusal(23 * 60 * 60 * 1000 + 1)).toBeInstanceOf(ConnectionLost);
});
