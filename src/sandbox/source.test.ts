import { expect, test } from "vitest";
import { cleanSource, wrapSource } from "./source.ts";

test.for<[string, string]>([
  ["  return 1\n", "return 1"],
  ["```js\nreturn 1\n```", "return 1"],
  ["```\nreturn 1```", "return 1"],
  ["```tsx  \n\n  return 1\n\n```\n", "return 1"],
  // A fence in another language, or one that does not end, is left for the engine to refuse.
  ["```python\nprint(1)\n```", "```python\nprint(1)\n```"],
  ["```js\nreturn 1", "```js\nreturn 1"],
  ["return `\n```js\n```\n`", "return `\n```js\n```\n`"],
  ["export default async () => 1", "async () => 1"],
  ["exported.default()", "exported.default()"],
  ["\u001b[31mreturn\u001b[0m 1\u001b]0;title\u0007", "return 1"],
  ["\ufeffre\u200bturn\u0000 1", "return 1"],
  ["", ""],
  ["```js\n\n```", ""],
])("%j is read as %j", ([code, wanted]) => expect(cleanSource(code)).toBe(wanted));

test.for<[string, boolean]>([
  ["async () => 1", true],
  ["() => { return 1 };", true],
  ["(a, b) => a", true],
  ["x => x", true],
  ["async x => x", true],
  ["function () {}", true],
  ["async function main() {}", true],
  ["function a() {}\nreturn a()", true],
  ["return () => 1", false],
  ["const f = () => 1", false],
  ["functional()", false],
  ["asynchronous()", false],
])("%j is tried as an expression first: %s", ([source, wanted]) => {
  const [first, ...others] = wrapSource(source);
  expect(first!.text.startsWith("(async () => {")).toBe(!wanted);
  expect(others).toHaveLength(wanted ? 1 : 0);
});

test("prefixes are what was added before the source", () => {
  for (const { text, prefix } of wrapSource("() => 1")) expect(text.slice(prefix)).toMatch(/^\(\) => 1\n/);
});

test("sources made to be slow are read at once", () => {
  for (const part of ["\u001b]", "\u001b[0", "```js\n", "async ", "(", "\n```", " ", "x"]) {
    const source = cleanSource(part.repeat(200_000));
    expect(wrapSource(source).length).toBeGreaterThan(0);
  }
});
