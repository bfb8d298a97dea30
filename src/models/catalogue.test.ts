import { describe, expect, it } from "vitest";
import { requestOf } from "../../test/support/models/ask.ts";
import type { ModelChoice } from "../ports/models.ts";
import { findModelFacts, readOverrides } from "./catalogue.ts";
import { computeUsage } from "./usage.ts";

const of = (provider: string, model: string) => findModelFacts({ provider, model });
const choice: ModelChoice = { provider: "demo", model: "demo", apiKey: "", baseUrl: null, reasoning: "off", maxOutputTokens: 1 };

describe("the catalogue", () => {
  it("finds a model under dated names and through a router, but never a similar one", () => {
    expect(of("anthropic", "claude-opus-4-5").contextWindow).toBe(200_000);
    expect(of("anthropic", "claude-opus-4-5-20251101")).toEqual(of("anthropic", "claude-opus-4-5"));
    expect(of("openai", "gpt-4o-2024-08-06")).toEqual(of("openai", "gpt-4o"));
    expect(of("google", "gemini-2.5-flash-preview-09-2025")).toEqual(of("google", "gemini-2.5-flash"));
    expect(of("openrouter", "anthropic/claude-sonnet-4.5:thinking")).toEqual(of("anthropic", "claude-sonnet-4-5"));
    expect(of("openai", "gpt-5-something").price).toBeNull();
    expect(of("openai", "constructor").price).toBeNull();
    expect(of("nobody", "gpt-5").contextWindow).toBeNull();
    expect(of("workersai", "@cf/nvidia/nemotron-3-120b-a12b").price).toMatchObject({ input: 0.5, output: 1.5 });
  });

  it("is corrected by configuration, as far as that is valid", () => {
    const overrides = readOverrides(
      '{"openai/gpt-5": {"contextWindow": 1000, "price": {"input": 1, "output": 2}}, "x/y": {"maxOutput": -1}, "z": 7}',
    );
    expect(findModelFacts({ provider: "openai", model: "gpt-5" }, overrides)).toMatchObject({
      contextWindow: 1000,
      maxOutput: 128_000,
      price: { input: 1, output: 2, cacheRead: 1 },
    });
    expect(findModelFacts({ provider: "x", model: "y" }, overrides)).toEqual({ contextWindow: null, maxOutput: null, price: null });
    expect(readOverrides("nonsense").size).toBe(0);
    expect(readOverrides("").size).toBe(0);
  });
});

describe("usage", () => {
  const reported = (total: number, cacheRead: number, output: number) => ({
    inputTokens: { total, noCache: undefined, cacheRead, cacheWrite: undefined },
    outputTokens: { total: output, text: undefined, reasoning: undefined },
  });

  it("is counted and priced, at a higher rate for long requests if the model has one", () => {
    const { price } = of("anthropic", "claude-haiku-5-5");
    const request = requestOf(choice, "hi");
    const short = computeUsage(reported(1000, 400, 100), price, request, []);
    expect(short).toMatchObject({ input: 600, cacheRead: 400, output: 100, totalTokens: 1100 });
    expect(short.cost.total).toBeCloseTo((600 * 0.1 + 400 * 0.01 + 100 * 0.5) / 1e6, 12);
    expect(computeUsage(reported(200_000, 0, 100), price, request, []).cost.input).toBeCloseTo(0.1, 12);
  });

  it("is an estimate if the provider reported nothing", () => {
    const none = {
      inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: undefined, text: undefined, reasoning: undefined },
    };
    const usage = computeUsage(none, null, requestOf(choice, "x".repeat(4000)), [{ type: "text", text: "hello" }]);
    expect(usage.isEstimate).toBe(true);
    expect(usage.input).toBeGreaterThan(1000);
    expect(usage.output).toBeGreaterThan(0);
  });
});
