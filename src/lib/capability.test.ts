// Capability patterns against a reference implementation, and the rule of delegation: nobody grants more than they have.

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allows, covers, isCapabilityPattern, matches } from "./capability.ts";

const segment = fc.constantFrom("sys", "fs", "config", "get", "set", "a", "ab", "s");
const name = fc.array(segment, { minLength: 2, maxLength: 4 }).map((parts) => parts.join("."));
const family = fc.array(segment, { minLength: 1, maxLength: 3 }).map((parts) => `${parts.join(".")}.*`);
const pattern = fc.oneof(fc.constant("*"), name, family);
const patterns = fc.array(pattern, { maxLength: 4 });

describe("matches", () => {
  it("agrees with a comparison segment by segment", () => {
    fc.assert(
      fc.property(pattern, name, (text, call) => {
        expect(matches(text, call)).toBe(slowMatch(text, call));
      }),
      { numRuns: 2000 },
    );
  });

  it("does not match a longer name that only begins like the family", () => {
    expect(matches("sys.config.*", "sys.configuration.get")).toBe(false);
    expect(matches("sys.config.*", "sys.config")).toBe(false);
    expect(matches("sys.config", "sys.config.get")).toBe(false);
    expect(matches("sys.*", "sys.config.get")).toBe(true);
  });
});

describe("covers", () => {
  it("never holds if the narrow side allows a call that the wide side does not", () => {
    fc.assert(
      fc.property(patterns, patterns, name, (wide, narrow, call) => {
        if (covers(wide, narrow) && allows(narrow, call)) expect(allows(wide, call)).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  it("is reflexive and transitive", () => {
    fc.assert(
      fc.property(patterns, (some) => {
        expect(covers(some, some)).toBe(true);
      }),
    );
    fc.assert(
      fc.property(patterns, patterns, patterns, (a, b, c) => {
        if (covers(a, b) && covers(b, c)) expect(covers(a, c)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it("requires * for *, and a family for a family", () => {
    expect(covers(["sys.*"], ["*"])).toBe(false);
    expect(covers(["sys.config.get", "sys.config.set"], ["sys.config.*"])).toBe(false);
    expect(covers(["sys.*"], ["sys.config.*", "sys.info"])).toBe(true);
    expect(covers([], [])).toBe(true);
  });
});

describe("isCapabilityPattern", () => {
  it("accepts generated patterns and refuses ambiguous ones", () => {
    fc.assert(
      fc.property(pattern, (text) => {
        expect(isCapabilityPattern(text)).toBe(true);
      }),
    );
    for (const text of [
      "",
      ".",
      "sys",
      "sys.",
      ".sys",
      "sys..get",
      "*.get",
      "sys.*.get",
      "sys.**",
      "Sys.get",
      "sys.get ",
      "sys.get\n",
      "sys.1",
    ])
      expect(isCapabilityPattern(text), JSON.stringify(text)).toBe(false);
  });

  it("enforces the limit of 128 characters", () => {
    const of = (length: number) => `sys.${"a".repeat(length - 4)}`;
    expect([127, 128, 129].map((length) => isCapabilityPattern(of(length)))).toEqual([true, true, false]);
  });

  it("never throws", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(typeof isCapabilityPattern(text)).toBe("boolean");
      }),
    );
  });
});

function slowMatch(text: string, call: string): boolean {
  if (text === "*") return true;
  const wanted = text.split(".");
  const parts = call.split(".");
  if (wanted.at(-1) !== "*") return wanted.length === parts.length && wanted.every((part, at) => part === parts[at]);
  const fixed = wanted.slice(0, -1);
  return parts.length > fixed.length && fixed.every((part, at) => part === parts[at]);
}
