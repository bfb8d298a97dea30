// Any text from outside becomes a frame or a refusal: nothing throws, no prototype changes, and every limit holds exactly.

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Frame, type Refusal, decodeFrame, UNKNOWN_ID } from "./frames.ts";
import { LIMITS } from "./limits.ts";
import { findFrameProblem } from "./scan.ts";

const id = fc.string({ minLength: 1, maxLength: 20 });
const args = fc
  .dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 }))
  .filter((value) => !JSON.stringify(value).includes("__proto__"));
const frame = fc.oneof(
  fc.record({ type: fc.constant("req"), id, call: fc.constantFrom("sys.info", "sys.config.get"), args }),
  fc.record({ type: fc.constant("req"), id, call: fc.constant("sys.info"), key: id }),
  fc.record({ type: fc.constant("res"), id, ok: fc.constant(true), data: fc.jsonValue({ maxDepth: 3 }) }),
  fc.record({ type: fc.constant("res"), id, ok: fc.constant(false), error: fc.constant({ code: 404, message: "no" }) }),
  fc.record({ type: fc.constant("sig"), signal: fc.string(), payload: fc.jsonValue({ maxDepth: 3 }) }),
);

describe("decodeFrame", () => {
  it("decodes every valid frame", () => {
    fc.assert(
      fc.property(frame, (sent) => {
        const text = JSON.stringify(sent);
        if (text.includes("__proto__")) return;
        expect(decodeFrame(text)).toMatchObject(JSON.parse(text) as object);
      }),
      { numRuns: 1000 },
    );
  });

  it("never throws on flipped bytes and truncated frames", () => {
    fc.assert(
      fc.property(frame, fc.nat(), fc.integer({ min: 1, max: 255 }), fc.nat(), (sent, at, flip, length) => {
        const bytes = new TextEncoder().encode(JSON.stringify(sent));
        bytes[at % bytes.length]! ^= flip;
        expectSound(decodeFrame(new TextDecoder().decode(bytes)));
        expectSound(decodeFrame(new TextDecoder().decode(bytes.subarray(0, length % (bytes.length + 1)))));
      }),
      { numRuns: 1000 },
    );
  });

  it("never throws on any text", () => {
    const jsonish = fc.string({
      unit: fc.constantFrom("{", "}", "[", "]", '"', "\\", ",", ":", "type", "req", "id", "null", "1e999", "\u0000", "\ud800", " "),
    });
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), jsonish, fc.json({ maxDepth: 2 })), (text) => expectSound(decodeFrame(text))),
      { numRuns: 1500 },
    );
  });

  it.each([
    ["", "Malformed JSON"],
    ["\ufeff{}", "Malformed JSON"],
    ['{"type":"req"}\u0000', "Malformed JSON"],
    ["null", "Invalid frame type"],
    ["[]", "Invalid frame type"],
    ["{}", "Invalid frame type"],
    ['{"type":"req","id":7,"call":"sys.info"}', "Invalid request id"],
    ['{"type":"sig"}', "Invalid signal"],
  ])("refuses %j with 400", (text, message) => {
    const found = refusal(text);
    expect(found.error).toMatchObject({ code: 400 });
    expect(found.error.message).toContain(message);
    expect(found.id).toBe(UNKNOWN_ID);
  });

  it("accepts a request without args, and keeps its id when something else is invalid", () => {
    expect(decodeFrame('{"type":"req","id":"1","call":"sys.info"}')).toEqual({ type: "req", id: "1", call: "sys.info", args: {} });
    expect(decodeFrame('{"type":"req","id":"1","call":"sys.info","args":null}')).toMatchObject({ args: {} });
    for (const rest of [
      '"call":""',
      '"call":"sys.info","args":[]',
      '"call":"sys.info","args":"x"',
      '"call":"sys.info","key":""',
      '"call":7',
    ])
      expect(refusal(`{"type":"req","id":"mine",${rest}}`).id).toBe("mine");
  });

  it("leaves numbers as JSON.parse returns them", () => {
    const { args: values } = decodeFrame('{"type":"req","id":"1","call":"a.b","args":{"a":1e999,"b":-0,"c":9007199254740993}}') as Extract<
      Frame,
      { type: "req" }
    >;
    expect(values).toEqual({ a: Infinity, b: -0, c: 9007199254740992 });
  });

  it("refuses __proto__ at any depth and in any spelling, and changes no prototype", () => {
    const spellings = [
      "__proto__",
      "\\u005f_proto__",
      "_\\u005Fproto__",
      "__prot\\u006f__",
      "\\u005f\\u005f\\u0070\\u0072\\u006f\\u0074\\u006f\\u005f\\u005f",
    ];
    const before = Object.getOwnPropertyNames(Object.prototype);
    fc.assert(
      fc.property(fc.constantFrom(...spellings), fc.integer({ min: 0, max: 20 }), fc.boolean(), (key, depth, inArray) => {
        const core = `{"${key}":{"isRoot":true}}`;
        const nested = `${(inArray ? "[" : '{"a":').repeat(depth)}${core}${(inArray ? "]" : "}").repeat(depth)}`;
        const found = refusal(`{"type":"req","id":"1","call":"sys.info","args":{"x":${nested}}}`);
        expect(found).toMatchObject({ id: "1", error: { code: 400, message: "Reserved key: __proto__" } });
      }),
    );
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
    expect(({} as { isRoot?: boolean }).isRoot).toBeUndefined();
    // As a value it is only text.
    expect(decodeFrame('{"type":"req","id":"1","call":"sys.info","args":{"x":"__proto__"}}').type).toBe("req");
  });

  it("refuses lone surrogates in values, keys and ids, and accepts pairs", () => {
    const request = (inner: string) => `{"type":"req","id":"1","call":"sys.info","args":{${inner}}}`;
    for (const lone of ["\\ud800", "\\udc00", "\\udfffa", "\\ud800\\ud800", "x\\uDBFFx"]) {
      expect(refusal(request(`"a":"${lone}"`)).error.message).toContain("lone surrogate");
      expect(refusal(request(`"${lone}":1`)).error.message).toContain("lone surrogate");
      expect(refusal(`{"type":"req","id":"${lone}","call":"sys.info"}`).id).toBe(UNKNOWN_ID);
    }
    expect(decodeFrame(request('"a":"\\ud83d\\ude00"')).type).toBe("req");
  });

  it("counts ids, keys and names in bytes", () => {
    const max = LIMITS.requestIdBytes;
    const texts = (bytes: number) => [
      "a".repeat(bytes),
      "é".repeat(Math.floor(bytes / 2)) + "a".repeat(bytes % 2),
      "€".repeat(Math.floor(bytes / 3)) + "a".repeat(bytes % 3),
      "😀".repeat(Math.floor(bytes / 4)) + "a".repeat(bytes % 4),
    ];
    for (const text of [...texts(max - 1), ...texts(max)]) {
      expect(decodeFrame(JSON.stringify({ type: "req", id: text, call: "sys.info", key: text })).type).toBe("req");
      expect(decodeFrame(JSON.stringify({ type: "res", id: text, ok: true })).type).toBe("res");
    }
    for (const text of texts(max + 1)) {
      expect(refusal(JSON.stringify({ type: "req", id: text, call: "sys.info" })).id).toBe(UNKNOWN_ID);
      expect(refusal(JSON.stringify({ type: "req", id: "1", call: "sys.info", key: text })).error.message).toContain("key");
      expect(refusal(JSON.stringify({ type: "req", id: "1", call: text })).error.message).toContain("call");
      expect(refusal(JSON.stringify({ type: "res", id: text, ok: true })).error.code).toBe(400);
    }
  });
});

describe("the limits before parsing", () => {
  it("allows exactly the maximum depth, for objects and arrays", () => {
    for (const [open, close] of [
      ["[", "]"],
      ['{"a":', "}"],
    ] as const) {
      const deep = (levels: number) => `${open.repeat(levels)}1${close.repeat(levels)}`;
      const max = LIMITS.frameDepth;
      expect([max - 1, max, max + 1, 100_000].map((levels) => findFrameProblem(deep(levels)) === null)).toEqual([true, true, false, false]);
    }
    expect(refusal("[".repeat(LIMITS.frameDepth + 1)).error.code).toBe(413);
  });

  it("allows exactly the maximum number of tokens", () => {
    const max = LIMITS.frameTokens;
    // One bracket, and a comma between numbers.
    const commas = (tokens: number) => `[${"1,".repeat(tokens - 1)}1]`;
    expect([max - 1, max, max + 1].map((tokens) => findFrameProblem(commas(tokens)) === null)).toEqual([true, true, false]);
    const strings = (tokens: number) => '""'.repeat(tokens);
    expect([max - 1, max, max + 1].map((tokens) => findFrameProblem(strings(tokens)) === null)).toEqual([true, true, false]);
  });

  it("agrees with a scanner that looks at every character", () => {
    const noisy = fc.string({ unit: fc.constantFrom('"', "\\", "[", "]", "{", "}", ",", ":", "a", "é"), maxLength: 400 });
    const grown = fc.tuple(noisy, fc.integer({ min: 1, max: 80 })).map(([text, times]) => text.repeat(times));
    fc.assert(
      fc.property(fc.oneof(noisy, grown), (text) => {
        expect(findFrameProblem(text)).toBe(slowComplaint(text));
      }),
      { numRuns: 3000 },
    );
  });

  it("skips long strings, and quotes and backslashes do not slow it down", () => {
    for (const unit of ["a", '\\"', "\\\\", '\\\\\\"']) {
      const text = `{"x":"${unit.repeat(Math.floor((4 * 1024 * 1024) / unit.length))}"}`;
      const started = performance.now();
      expect(findFrameProblem(text)).toBeNull();
      expect(performance.now() - started).toBeLessThan(20_000);
    }
  });
});

function expectSound(found: Frame | Refusal): void {
  switch (found.type) {
    case "req":
      expect(typeof found.id === "string" && typeof found.call === "string").toBe(true);
      expect(Object.getPrototypeOf(found.args)).toBe(Object.prototype);
      break;
    case "refusal":
      expect([400, 413]).toContain(found.error.code);
      expect(JSON.stringify(found.id).length).toBeLessThan(1_000);
      break;
    default:
      expect(["res", "sig"]).toContain(found.type);
  }
}

function refusal(text: string): Refusal {
  const found = decodeFrame(text);
  if (found.type !== "refusal") throw new Error(`taken for a ${found.type}: ${text.slice(0, 200)}`);
  return found;
}

function slowComplaint(text: string): string | null {
  let depth = 0;
  let tokens = 0;
  let inString = false;
  let isEscaped = false;
  let found: string | null = null;
  for (const character of text) {
    if (inString) {
      if (isEscaped) isEscaped = false;
      else if (character === "\\") isEscaped = true;
      else if (character === '"') {
        inString = false;
        tokens++;
      }
    } else if (character === '"') inString = true;
    else if (character === "{" || character === "[") {
      depth++;
      tokens++;
      if (depth > LIMITS.frameDepth) found ??= `Frame too deep: at most ${LIMITS.frameDepth} levels`;
    } else if (character === "}" || character === "]") depth--;
    else if (character === "," || character === ":") tokens++;
    if (tokens > LIMITS.frameTokens) found ??= `Frame too complex: at most ${LIMITS.frameTokens} tokens`;
  }
  return found;
}
