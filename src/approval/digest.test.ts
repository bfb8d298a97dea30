import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { approvalDigest, canonicalJson, type ExactCall } from "./digest.ts";

const sha256 = (text: string): Uint8Array => createHash("sha256").update(text).digest();
const EXACTLY: ExactCall = { pid: "p1", uid: 1000, call: "shell.exec", args: { input: "ls" }, target: "laptop", cwd: "/home/ann" };

test("the digest of a call stays the same across versions", () => {
  expect(canonicalJson({ b: [1, "ü", null], a: { d: true, c: undefined } })).toBe('{"a":{"d":true},"b":[1,"ü",null]}');
  expect(approvalDigest(EXACTLY, sha256)).toBe(
    createHash("sha256")
      .update('gsv approval 1\n{"args":{"input":"ls"},"call":"shell.exec","cwd":"/home/ann","pid":"p1","target":"laptop","uid":1000}')
      .digest("hex"),
  );
});

test("a value that JSON cannot represent has no digest", () => {
  const itself: Record<string, unknown> = {};
  itself.itself = itself;
  for (const value of [
    NaN,
    Infinity,
    1n,
    Symbol("x"),
    () => 1,
    new Date(),
    new Map(),
    new Uint8Array(1),
    [undefined],
    Array(1),
    itself,
    { [Symbol("x")]: 1 },
    Object.create({ a: 1 }),
  ])
    expect(() => canonicalJson({ value }), typeof value).toThrow(TypeError);
});

const json = fc.jsonValue({ noUnicodeString: false }) as fc.Arbitrary<unknown>;
const args = fc.dictionary(fc.string(), json);

function reverseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverseKeys);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value)
    .toReversed()
    .map(([name, member]) => [name, reverseKeys(member)]);
  return { ...Object.fromEntries(members), nothing: undefined };
}

test("the order of keys does not change canonical JSON, and parsing it loses nothing", () => {
  fc.assert(
    fc.property(args, (args) => {
      const text = canonicalJson(args);
      expect(canonicalJson(reverseKeys({ ...args, nothing: undefined }))).toBe(canonicalJson({ ...args, nothing: undefined }));
      expect(canonicalJson(JSON.parse(text))).toBe(text);
    }),
  );
});

test("two argument objects have the same digest only if they are equal", () => {
  fc.assert(
    fc.property(args, args, (one, other) => {
      const same = approvalDigest({ ...EXACTLY, args: one }, sha256) === approvalDigest({ ...EXACTLY, args: other }, sha256);
      expect(same).toBe(canonicalJson(one) === canonicalJson(other));
    }),
  );
});

test("any change to a text changes the digest", () => {
  const changes = fc.constantFrom(
    (text: string) => `${text} `,
    (text: string) => ` ${text}`,
    (text: string) => `${text}\n`,
    (text: string) => `${text}\u200b`,
    (text: string) => `${text}\0`,
    (text: string) => `${text}A`,
    (text: string) => `${text}"`,
    (text: string) => `${text}\\`,
    (text: string) => `${text}","x":"`,
  );
  fc.assert(
    fc.property(fc.string(), fc.constantFrom("pid", "call", "target", "cwd", "input"), changes, (text, where, change) => {
      const withText = (value: string): ExactCall =>
        where === "input" ? { ...EXACTLY, args: { input: value } } : { ...EXACTLY, [where]: value };
      expect(approvalDigest(withText(change(text)), sha256)).not.toBe(approvalDigest(withText(text), sha256));
    }),
  );
  const others: ExactCall[] = [
    { ...EXACTLY, uid: 0 },
    { ...EXACTLY, args: {} },
    { ...EXACTLY, args: { input: "ls", timeout: 1 } },
    { ...EXACTLY, args: { input: ["ls"] } },
    { ...EXACTLY, args: { input: "ls", "": "" } },
    { ...EXACTLY, args: { Input: "ls" } },
  ];
  expect(new Set([EXACTLY, ...others].map((call) => approvalDigest(call, sha256))).size).toBe(others.length + 1);
  // The same letter in composed and decomposed form is two different texts.
  const [composed, decomposed] = ["\u00e9", "e\u0301"].map((input) => approvalDigest({ ...EXACTLY, args: { input } }, sha256));
  expect(composed).not.toBe(decomposed);
});
