import { describe, expect, it } from "vitest";
import type { ModelChoice } from "../ports/models.ts";
import { streamFailure, statusFailure, retryAfter } from "./failure.ts";

const KEY = "AbC-very-secret-value-123";
const choice: ModelChoice = { provider: "openai", model: "m-1", apiKey: KEY, baseUrl: null, reasoning: "off", maxOutputTokens: 1 };
const refusalOf = (status: number, body: unknown) =>
  statusFailure(choice, "OpenAI", status, new Headers(), typeof body === "string" ? body : JSON.stringify(body), 0);

describe("refusals", () => {
  it.each([
    [400, { error: { message: "This model's maximum context length is 8192 tokens" } }, "too-long", false],
    [400, { error: { code: "context_length_exceeded", message: "Too many tokens" } }, "too-long", false],
    [400, { error: { message: "prompt is too long: 210000 tokens > 200000 maximum" } }, "too-long", false],
    [400, { error: { message: "the request exceeds the available context size" } }, "too-long", false],
    [400, { error: { message: "openai/gpt-99 is not a valid model ID" } }, "unknown-model", false],
    [404, { error: 'model "x" not found, try pulling it first' }, "unknown-model", false],
    [400, { error: { message: "Invalid value for temperature" } }, "other", false],
    [402, { error: { message: "Insufficient credits" } }, "other", false],
    [403, { error: { message: "Country not supported" } }, "refused-key", false],
    [422, [{ error: { message: "first of a list" } }], "other", false],
    [429, {}, "rate-limited", true],
    [502, "<html>Bad gateway</html>", "overloaded", true],
    [504, "", "overloaded", true],
  ])("%i %j is %s", (status, body, kind, isRetryable) => {
    expect(refusalOf(status, body)).toMatchObject({ kind, isRetryable });
  });

  it("quote what helps and no secrets", () => {
    const message = `The key ${KEY} or sk-proj-0123456789abcdef or Bearer abcdefghijkl is odd.\nSee the manual`;
    for (const status of [400, 401, 403, 404, 413, 422, 429, 500]) {
      const text = refusalOf(status, { error: { message } }).message;
      expect(text).not.toMatch(/secret-value|0123456789abcdef|abcdefghijkl/);
      expect(text.length).toBeLessThan(700);
    }
    expect(refusalOf(422, { detail: "Unknown field x" }).message).toContain("Unknown field x");
    expect(refusalOf(500, "<html>secrets</html>").message).not.toContain("html");
    expect(refusalOf(500, "x".repeat(100_000)).message.length).toBeLessThan(700);
  });
});

it("classifies errors inside a stream", () => {
  const kindOf = (error: unknown) => streamFailure(choice, "OpenAI", error).kind;
  expect(kindOf({ type: "overloaded_error", message: "Overloaded" })).toBe("overloaded");
  expect(kindOf({ error: { type: "rate_limit_error", message: "slow down" } })).toBe("rate-limited");
  expect(kindOf({ message: "context length exceeded" })).toBe("too-long");
  expect(kindOf(new Error("odd"))).toBe("malformed");
  expect(kindOf(undefined)).toBe("malformed");
});

it("parses every form of retry-after", () => {
  const now = Date.parse("2026-11-15T12:00:00Z");
  const of = (headers: Record<string, string>) => retryAfter(new Headers(headers), now);
  expect(of({})).toBe(0);
  expect(of({ "retry-after": "7" })).toBe(7000);
  expect(of({ "retry-after": "Sun, 15 Nov 2026 12:00:30 GMT" })).toBe(30_000);
  expect(of({ "retry-after": "Sun, 15 Nov 2026 11:00:00 GMT" })).toBe(0);
  expect(of({ "retry-after": "soon" })).toBe(0);
  expect(of({ "retry-after": "7", "retry-after-ms": "120" })).toBe(120);
});
