// Facts about well-known models, as their makers published them by November 2026. Windows and limits in tokens, prices in dollars
// per million tokens. Uncertain values are null and left to configuration. Prices change: the key config/ai/catalogue corrects
// any of this without a new version.

import type { ModelFacts, Price } from "./catalogue.ts";

const K = 1000;
const M = 1_000_000;

export const CATALOGUE: Readonly<Record<string, Readonly<Record<string, ModelFacts>>>> = {
  anthropic: {
    "claude-fable-5-1": modelFacts(M, 128 * K, claudePrice(10, 50, 0.25)),
    "claude-fable-5": modelFacts(M, 128 * K, claudePrice(10, 50, 1)),
    "claude-opus-5-5": modelFacts(M, 128 * K, claudePrice(4, 20, 0.2)),
    "claude-opus-5": modelFacts(M, 128 * K, claudePrice(5, 25, 0.5)),
    "claude-opus-4-8": modelFacts(200 * K, 128 * K, claudePrice(5, 25, 0.5)),
    "claude-opus-4-7": modelFacts(200 * K, 128 * K, claudePrice(5, 25, 0.5)),
    "claude-opus-4-6": modelFacts(200 * K, 128 * K, claudePrice(5, 25, 0.5)),
    "claude-opus-4-5": modelFacts(200 * K, 64 * K, claudePrice(5, 25, 0.5)),
    "claude-opus-4-1": modelFacts(200 * K, 32 * K, claudePrice(15, 75, 1.5)),
    "claude-sonnet-5-5": modelFacts(M, 128 * K, claudePrice(2, 10, 0.1)),
    "claude-sonnet-5": modelFacts(M, 128 * K, claudePrice(2, 10, 0.2)),
    "claude-sonnet-4-6": modelFacts(200 * K, 64 * K, claudePrice(3, 15, 0.3)),
    "claude-sonnet-4-5": modelFacts(200 * K, 64 * K, claudePrice(3, 15, 0.3)),
    "claude-haiku-5-5": modelFacts(M, 128 * K, { ...claudePrice(0.1, 0.5, 0.01), long: { from: 100 * K, ...claudePrice(0.5, 2.5, 0.05) } }),
    "claude-haiku-4-5": modelFacts(200 * K, 64 * K, claudePrice(1, 5, 0.1)),
  },
  openai: {
    "gpt-6-astra": modelFacts(null, 128 * K, gptPrice(10, 50, 1, 75)),
    "gpt-6.1-sol": modelFacts(null, 128 * K, gptPrice(2, 10, 0.1, 15)),
    "gpt-6-sol": modelFacts(null, 128 * K, gptPrice(2, 10, 0.2, 15)),
    "gpt-6-luna": modelFacts(null, 128 * K, gptPrice(0.1, 0.5, 0.01, 0.75)),
    "gpt-5.6-sol": modelFacts(M, 128 * K, gptPrice(4, 20, 0.4, 30)),
    "gpt-5.6-terra": modelFacts(M, 128 * K, gptPrice(2, 12, 0.2, 18)),
    "gpt-5.6-luna": modelFacts(400 * K, 128 * K, gptPrice(0.2, 1.2, 0.02, 1.8)),
    "gpt-5.5": modelFacts(1_050 * K, 128 * K, gptPrice(5, 30, 0.5, 45)),
    "gpt-5.5-pro": modelFacts(1_050 * K, 128 * K, gptPrice(30, 180, 30, 270)),
    "gpt-5.4": modelFacts(1_050 * K, 128 * K, gptPrice(2.5, 15, 0.25, 22.5)),
    "gpt-5.4-mini": modelFacts(400 * K, 128 * K, gptPrice(0.75, 4.5, 0.075)),
    "gpt-5.4-nano": modelFacts(400 * K, 128 * K, gptPrice(0.2, 1.25, 0.02)),
    "gpt-5.2": modelFacts(400 * K, 128 * K, gptPrice(1.75, 14, 0.175)),
    "gpt-5.1": modelFacts(400 * K, 128 * K, gptPrice(1.25, 10, 0.125)),
    "gpt-5": modelFacts(400 * K, 128 * K, gptPrice(1.25, 10, 0.125)),
    "gpt-5-mini": modelFacts(400 * K, 128 * K, gptPrice(0.25, 2, 0.025)),
    "gpt-5-nano": modelFacts(400 * K, 128 * K, gptPrice(0.05, 0.4, 0.005)),
    "gpt-4.1": modelFacts(1_047_576, 32_768, gptPrice(2, 8, 0.5)),
    "gpt-4.1-mini": modelFacts(1_047_576, 32_768, gptPrice(0.4, 1.6, 0.1)),
    "gpt-4.1-nano": modelFacts(1_047_576, 32_768, gptPrice(0.1, 0.4, 0.025)),
    "gpt-4o": modelFacts(128 * K, 16_384, gptPrice(2.5, 10, 1.25)),
    "gpt-4o-mini": modelFacts(128 * K, 16_384, gptPrice(0.15, 0.6, 0.075)),
    o3: modelFacts(200 * K, 100 * K, gptPrice(2, 8, 0.5)),
    "o4-mini": modelFacts(200 * K, 100 * K, gptPrice(1.1, 4.4, 0.275)),
  },
  google: {
    "gemini-4-argon": modelFacts(1_048_576, 65_536, { input: 4, output: 20, cacheRead: 0.2, cacheWrite: 4 }),
    "gemini-3.5-flash": modelFacts(1_048_576, 65_536, null),
    "gemini-3.1-pro": modelFacts(1_048_576, 65_536, geminiPrice(2, 12, 0.2, 18)),
    "gemini-3-pro": modelFacts(1_048_576, 65_536, geminiPrice(2, 12, 0.2, 18)),
    "gemini-3-flash": modelFacts(1_048_576, 65_536, geminiPrice(0.5, 3, 0.05)),
    "gemini-2.5-pro": modelFacts(1_048_576, 65_536, geminiPrice(1.25, 10, 0.125, 15)),
    "gemini-2.5-flash": modelFacts(1_048_576, 65_536, geminiPrice(0.3, 2.5, 0.03)),
    "gemini-2.5-flash-lite": modelFacts(1_048_576, 65_536, geminiPrice(0.1, 0.4, 0.01)),
  },
  "workers-ai": {
    "@cf/nvidia/nemotron-3-120b-a12b": modelFacts(256 * K, null, { input: 0.5, output: 1.5, cacheRead: 0.5, cacheWrite: 0.5 }),
    "@cf/openai/gpt-oss-120b": modelFacts(128 * K, null, { input: 0.35, output: 0.75, cacheRead: 0.35, cacheWrite: 0.35 }),
    "@cf/openai/gpt-oss-20b": modelFacts(128 * K, null, { input: 0.2, output: 0.3, cacheRead: 0.2, cacheWrite: 0.2 }),
  },
};

function modelFacts(contextWindow: number | null, maxOutput: number | null, price: Price | null): ModelFacts {
  return { contextWindow, maxOutput, price };
}

/** Writing to its cache costs a quarter more than uncached input. */
function claudePrice(input: number, output: number, cacheRead: number): Price {
  return { input, output, cacheRead, cacheWrite: input * 1.25 };
}

/** For long prompts all input costs twice as much, and output costs `longOutput`. */
function gptPrice(input: number, output: number, cacheRead: number, longOutput?: number): Price {
  return withLongRates({ input, output, cacheRead, cacheWrite: input }, 272 * K, longOutput);
}

function geminiPrice(input: number, output: number, cacheRead: number, longOutput?: number): Price {
  return withLongRates({ input, output, cacheRead, cacheWrite: input }, 200 * K, longOutput);
}

function withLongRates(price: Price, from: number, output: number | undefined): Price {
  if (output === undefined) return price;
  return { ...price, long: { from, input: price.input * 2, output, cacheRead: price.cacheRead * 2, cacheWrite: price.cacheWrite * 2 } };
}
