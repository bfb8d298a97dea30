import { expect, test } from "vitest";
import { describeStack } from "./stack.ts";

test("keeps the frames of the script, and moves columns of its first line", () => {
  const stack = [
    "    at inner (script.js:3:5)",
    "    at call (gsv:prelude:20:1)",
    "    at push (native)",
    "    at <anonymous> (script.js:1:20)",
    "    at <eval> (script.js:1:3)",
    "    at script.js:7:1",
    "    at a b (other.js:1:1)",
  ];
  expect(describeStack(stack.join("\n"), 14)).toBe(
    "    at inner (script.js:3:5)\n    at script.js:1:6\n    at script.js:1:1\n    at script.js:7:1",
  );
});

test("shows at most ten frames", () => {
  const lines = describeStack("    at f (script.js:2:1)\n".repeat(1000), 0).split("\n");
  expect(lines).toEqual(Array.from({ length: 10 }, () => "    at f (script.js:2:1)"));
});

test("what a script wrote itself is no frame", () => {
  for (const stack of ["", "text", "at", "   at (script.js)", "at f (script.js:x:1)", "\n\n"]) expect(describeStack(stack, 0)).toBe("");
});

test("stacks made to be slow are read at once", () => {
  for (const part of ["at (", " (", ":1", "a", " ", "at a (b:1:"]) expect(describeStack(`at ${part.repeat(100_000)}`, 0)).toBe("");
});
