import { expect, test } from "vitest";
import { defaultPolicy, policyProblem } from "./context-policy.ts";
import { preflightAfterCompaction, computeContextState, estimateTokens, preflight, preflightWithoutCompaction } from "./estimate.ts";

const KNOWN = {
  conversationId: "default",
  provider: "p",
  model: "m",
  contextWindowTokens: 11_000,
  maxOutputTokens: 1_000,
  estimatedInputTokens: 5_000,
  updatedAt: 7,
};
const at = (tokens: number) => computeContextState({ ...KNOWN, estimatedInputTokens: tokens }, null);

test("the estimate follows the length, and a picture counts the same at any size", () => {
  expect(estimateTokens("a".repeat(400))).toBe(115);
  const value = { a: 'b"\n', c: [1, null, true, { d: undefined, e: -1.5 }], f: {}, g: [] };
  expect(estimateTokens(value)).toBe(Math.ceil((JSON.stringify(value).length / 4) * 1.15));
  const picture = (bytes: number) => estimateTokens([{ type: "image", mimeType: "image/png", data: new Uint8Array(bytes) }]);
  expect(picture(1_000_000)).toBe(picture(10));
  expect(picture(10)).toBeGreaterThan(1_000);
});

test("the count of the provider replaces the estimate", () => {
  expect(computeContextState(KNOWN, null)).toMatchObject({ inputTokens: 5_000, pressure: 0.5, level: "ok", source: "estimate" });
  const usage = { input: 7_000, output: 1_000, totalTokens: 0 };
  expect(computeContextState(KNOWN, usage)).toMatchObject({
    inputTokens: 8_000,
    outputTokens: 1_000,
    totalTokens: 8_000,
    pressure: 0.8,
    level: "warn",
    source: "provider",
  });
  expect(computeContextState(KNOWN, { ...usage, totalTokens: 9_500 })).toMatchObject({ inputTokens: 9_500, level: "critical" });
  expect(computeContextState(KNOWN, { input: 0, output: 0, totalTokens: 0 })).toMatchObject({ inputTokens: 5_000, source: "estimate" });
});

test.each([
  [7_499, "ok"],
  [7_500, "warn"],
  [9_000, "critical"],
  [10_000, "full"],
])("%i of 10,000 tokens is %s", (tokens, level) => {
  expect(at(tokens).level).toBe(level);
});

test("an unknown window gives no pressure, and a window smaller than the answer leaves one token", () => {
  expect(computeContextState({ ...KNOWN, contextWindowTokens: null }, null)).toMatchObject({ pressure: null, level: "unknown" });
  expect(computeContextState({ ...KNOWN, contextWindowTokens: 10 }, null)).toMatchObject({ availableInputTokens: 1, level: "full" });
});

test("the policy decides what happens before a model is called", () => {
  const manual = defaultPolicy("default");
  const auto = { ...manual, overflow: "auto-compact" as const };
  const fails = { ...manual, overflow: "fail" as const };
  expect(preflight(manual, at(20_000)).do).toBe("go");
  expect(preflight(auto, at(8_999)).do).toBe("go");
  expect(preflight(auto, at(9_000))).toEqual({ do: "compact", keepLast: 80 });
  expect(preflight(auto, at(9_000), 3)).toMatchObject({ do: "stop", reason: "context.auto_compact.failed" });
  expect(preflight(fails, at(9_000))).toMatchObject({ do: "stop", reason: "context.policy.fail" });
  expect(preflight(fails, computeContextState({ ...KNOWN, contextWindowTokens: null }, null)).do).toBe("go");
});

test("a compaction makes the context smaller or the run stops", () => {
  expect(preflightWithoutCompaction(at(9_999)).do).toBe("go");
  expect(preflightWithoutCompaction(at(10_000))).toMatchObject({ do: "stop", reason: "context.auto_compact.empty" });
  expect(preflightAfterCompaction(at(9_000), at(8_999)).do).toBe("go");
  expect(preflightAfterCompaction(at(9_000), at(9_000))).toMatchObject({ do: "stop", reason: "context.auto_compact.failed" });
});

test("policies are validated at their limits", () => {
  for (const compactAtPressure of [0, -1, 1.01, Number.NaN]) expect(policyProblem({ compactAtPressure, keepLast: 1 })).toMatch(/compactAt/);
  for (const keepLast of [-1, 1.5]) expect(policyProblem({ compactAtPressure: 1, keepLast })).toMatch(/keepLast/);
  expect(policyProblem({ compactAtPressure: 1, keepLast: 0 })).toBe(null);
});
