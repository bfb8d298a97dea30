// Glob patterns against equivalent regular expressions, and patterns made to take forever.

import * as fc from "fast-check";
import { expect, it } from "vitest";
import { globMatcher } from "./glob.ts";

it("matches the same as the equivalent regular expression", () => {
  const piece = fc.constantFrom("*", "?", "**", "a", "b", "/", ".", "[", "\\");
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 6 }),
      fc.array(fc.constantFrom("a", "b", "/", ".", "[", "\\"), { maxLength: 8 }),
      (pattern, text) => {
        const glob = pattern.join("");
        const path = text.join("");
        const source = glob.replace(
          /\*\*|[*?]|[^]/g,
          (token) => ({ "**": ".*", "*": "[^/]*", "?": "[^/]" })[token] ?? token.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"),
        );
        const subject = glob.includes("/") ? path : path.slice(path.lastIndexOf("/") + 1);
        expect(globMatcher(glob)(path)).toBe(new RegExp(`^${source}$`, "s").test(subject));
      },
    ),
    { numRuns: 2000 },
  );
});

it("takes time proportional to pattern times text for any pattern", () => {
  const started = performance.now();
  expect(globMatcher("*a".repeat(100))("a".repeat(2000) + "b")).toBe(false);
  expect(performance.now() - started).toBeLessThan(30_000);
});
