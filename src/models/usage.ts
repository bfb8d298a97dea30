// The usage of an answer, in tokens and dollars.

import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import type { ModelRequest, ModelUsage, OutputBlock } from "../ports/models.ts";
import { type Price, ratesFor } from "./catalogue.ts";

export function computeUsage(
  given: LanguageModelV4Usage,
  price: Price | null,
  request: ModelRequest,
  content: readonly OutputBlock[],
): ModelUsage {
  const { inputTokens, outputTokens } = given;
  if (inputTokens.total === undefined && outputTokens.total === undefined) return estimateUsage(request, content, price);
  const cacheRead = inputTokens.cacheRead ?? 0;
  const cacheWrite = inputTokens.cacheWrite ?? 0;
  const input = inputTokens.noCache ?? Math.max(0, (inputTokens.total ?? 0) - cacheRead - cacheWrite);
  return withCost({ input, output: outputTokens.total ?? 0, cacheRead, cacheWrite }, price);
}

/** Four characters per token, plus a margin. Pictures are not counted. */
export function estimateUsage(request: ModelRequest, content: readonly OutputBlock[], price: Price | null): ModelUsage {
  const prompt = { system: request.system, tools: request.tools, messages: request.messages };
  const chars = (value: unknown) => JSON.stringify(value, (_, inner: unknown) => (inner instanceof Uint8Array ? "" : inner)).length;
  const tokens = (value: unknown) => Math.ceil((chars(value) / 4) * 1.15);
  const counts = { input: tokens(prompt), output: content.length === 0 ? 0 : tokens(content), cacheRead: 0, cacheWrite: 0 };
  return { ...withCost(counts, price), isEstimate: true };
}

const FREE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

type Counts = Pick<ModelUsage, "input" | "output" | "cacheRead" | "cacheWrite">;

function withCost(counts: Counts, price: Price | null): ModelUsage {
  const rates = price === null ? FREE : ratesFor(price, counts.input + counts.cacheRead + counts.cacheWrite);
  const dollars = (kind: keyof Counts) => (counts[kind] * rates[kind]) / 1_000_000;
  const cost = { input: dollars("input"), output: dollars("output"), cacheRead: dollars("cacheRead"), cacheWrite: dollars("cacheWrite") };
  return {
    ...counts,
    totalTokens: counts.input + counts.output + counts.cacheRead + counts.cacheWrite,
    cost: { ...cost, total: cost.input + cost.output + cost.cacheRead + cost.cacheWrite },
  };
}
