import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { repairArguments, readArguments } from "./tool-arguments.ts";

describe("mendArguments", () => {
  it.each([
    ["", {}],
    ['{"a":1,}', { a: 1 }],
    ['{"a":[1,2,],}', { a: [1, 2] }],
    ['{"a":{"b":[1', { a: { b: [1] } }],
    ['{"a":1}}', { a: 1 }],
    ['```json\n{"a":1}\n```', { a: 1 }],
    ['"{\\"a\\":1}"', { a: 1 }],
    ['{"a":"line\nline\ttab"}', { a: "line\nline\ttab" }],
    ['{"a":"},]"', { a: "},]" }],
  ])("repairs %j", (raw, wanted) => {
    expect(repairArguments(raw)).toEqual(wanted);
  });

  it.each(['{"a":"cut', '{"a":"cut\\', '{"a":', '{"a', "{a:1}", "[1]", "what?", '{"a":1} and more', '{"a":1]', "null", "7", '"x"'])(
    "refuses %j",
    (raw) => {
      expect(repairArguments(raw)).toBeNull();
    },
  );

  it("changes nothing that parses", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const raw = JSON.stringify(value);
        expect(repairArguments(raw)).toEqual(readArguments(raw));
      }),
    );
  });

  it("never invents text: every string of the result was complete in the input", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string()), fc.nat(), (value, cut) => {
        const raw = JSON.stringify(value);
        const mended = repairArguments(raw.slice(0, cut % (raw.length + 1)));
        for (const [name, text] of Object.entries(mended ?? {})) expect(Object.hasOwn(value, name) && value[name]).toBe(text);
      }),
    );
  });
});
