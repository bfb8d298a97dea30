// Facts about well-known models, as their makers published them by November 2026. Windows and limits in tokens, prices in dollars
// per million tokens. Uncertain values are null and left to configuration. Prices change: the key config/ai/catalogue corrects
// any of this without a new version.

import type { ModelFacts, Price } from "./catalogue.ts";

const K = 1000;
const M = 1_000_000;

export const CATALOGUE: Readonly<Record<string, Readonly<Record<string, ModelFacts>>>> = {
  anthropic: {
    "claude-fable-5-1": facts(M, 128 * K, claude(10, 50, 0.25)),
    "claude-fable-5": facts(M, 128 * K, claude(10, 50, 1)),
    "claude-opus-5-5": facts(M, 128 * K, claude(4, 20, 0.2)),
    "claude-opus-5": facts(M, 128 * K, claude(5, 25, 0.5)),
    "claude-opus-4-8": facts(200 * K, 128 * K, claude(5, 25, 0.5)),
    "claude-opus-4-7": facts(200 * K, 128 * K, claude(5, 25, 0.5)),
    "claude-opus-4-6": facts(200 * K, 128 * K, claude(5, 25, 0.5)),
    "claude-opus-4-5": facts(200 * K, 64 * K, claude(5, 25, 0.5)),
    "claude-opus-4-1": facts(200 * K, 32 * K, claude(15, 75, 1.5)),
    "claude-sonnet-5-5": facts(M, 128 * K, claude(2, 10, 0.1)),
    "claude-sonnet-5": facts(M, 128 * K, claude(2, 10, 0.2)),
    "claude-sonnet-4-6": facts(200 * K, 64 * K, claude(3, 15, 0.3)),
    "claude-sonnet-4-5": facts(200 * K, 64 * K, claude(3, 15, 0.3)),
    "claude-haiku-5-5": facts(M, 128 * K, { ...claude(0.1, 0.5, 0.01), long: { from: 100 * K, ...claude(0.5, 2.5, 0.05) } }),
    "claude-haiku-4-5": facts(200 * K, 64 * K, claude(1, 5, 0.1)),
  },
  openai: {
    "gpt-6-astra": facts(null, 128 * K, gpt(10, 50, 1, 75)),
    "gpt-6.1-sol": facts(null, 128 * K, gpt(2, 10, 0.1, 15)),
    "gpt-6-sol": facts(null, 128 * K, gpt(2, 10, 0.2, 15)),
    "gpt-6-luna": facts(null, 128 * K, gpt(0.1, 0.5, 0.01, 0.75)),
    "gpt-5.6-sol": facts(M, 128 * K, gpt(4, 20, 0.4, 30)),
    "gpt-5.6-terra": facts(M, 128 * K, gpt(2, 12, 0.2, 18)),
    "gpt-5.6-luna": facts(400 * K, 128 * K, gpt(0.2, 1.2, 0.02, 1.8)),
    "gpt-5.5": facts(1_050 * K, 128 * K, gpt(5, 30, 0.5, 45)),
    "gpt-5.5-pro": facts(1_050 * K, 128 * K, gpt(30, 180, 30, 270)),
    "gpt-5.4": facts(1_050 * K, 128 * K, gpt(2.5, 15, 0.25, 22.5)),
    "gpt-5.4-mini": facts(400 * K, 128 * K, gpt(0.75, 4.5, 0.075)),
    "gpt-5.4-nano": facts(400 * K, 128 * K, gpt(0.2, 1.25, 0.02)),
    "gpt-5.2": facts(400 * K, 128 * K, gpt(1.75, 14, 0.175)),
    "gpt-5.1": facts(400 * K, 128 * K, gpt(1.25, 10, 0.125)),
    "gpt-5": facts(400 * K, 128 * K, gpt(1.25, 10, 0.125)),
    "gpt-5-mini": facts(400 * K, 128 * K, gpt(0.25, 2, 0.025)),
    "gpt-5-nano": facts(400 * K, 128 * K, gpt(0.05, 0.4, 0.005)),
    "gpt-4.1": facts(1_047_576, 32_768, gpt(2, 8, 0.5)),
    "gpt-4.1-mini": facts(1_047_576, 32_768, gpt(0.4, 1.6, 0.1)),
    "gpt-4.1-nano": facts(1_047_576, 32_768, gpt(0.1, 0.4, 0.025)),
    "gpt-4o": facts(128 * K, 16_384, gpt(2.5, 10, 1.25)),
    "gpt-4o-mini": facts(128 * K, 16_384, gpt(0.15, 0.6, 0.075)),
    o3: facts(200 * K, 100 * K, gpt(2, 8, 0.5)),
    "o4-mini": facts(200 * K, 100 * K, gpt(1.1, 4.4, 0.275)),
  },
  google: {
    "gemini-4-argon": facts(1_048_576, 65_536, { input: 4, output: 20, cacheRead: 0.2, cacheWrite: 4 }),
    "gemini-3.5-flash": facts(1_048_576, 65_536, null),
    "gemini-3.1-pro": facts(1_048_576, 65_536, gemini(2, 12, 0.2, 18)),
    "gemini-3-pro": facts(1_048_576, 65_536, gemini(2, 12, 0.2, 18)),
    "gemini-3-flash": facts(1_048_576, 65_536, gemini(0.5, 3, 0.05)),
    "gemini-2.5-pro": facts(1_048_576, 65_536, gemini(1.25, 10, 0.125, 15)),
    "gemini-2.5-flash": facts(1_048_576, 65_536, gemini(0.3, 2.5, 0.03)),
    "gemini-2.5-flash-lite": facts(1_048_576, 65_536, gemini(0.1, 0.4, 0.01)),
  },
  "workers-ai": {
    "@cf/nvidia/nemotron-3-120b-a12b": facts(256 * K, null, { input: 0.5, output: 1.5, cacheRead: 0.5, cacheWrite: 0.5 }),
    "@cf/openai/gpt-oss-120b": facts(128 * K, null, { input: 0.35, output: 0.75, cacheRead: 0.35, cacheWrite: 0.35 }),
    "@cf/openai/gpt-oss-20b": facts(128 * K, null, { input: 0.2, output: 0.3, cacheRead: 0.2, cacheWrite: 0.2 }),
  },
};

function facts(contextWindow: number | null, maxOutput: number | null, price: Price | null): ModelFacts {
  return { contextWindow, maxOutput, price };
}

/** Writing to its cache costs a quarter more than uncached input. */
function claude(input: number, output: number, cacheRead: number): Price {
  return { input, output, cacheRead, cacheWrite: input * 1.25 };
}

/** For long prompts all input costs twice as much, and output costs `longOutput`. */
function gpt(input: number, output: number, cacheRead: number, longOutput?: number): Price {
  return withLongRates({ input, output, cacheRead, cacheWrite: input }, 272 * K, longOutput);
}

function gemini(input: number, output: number, cacheRead: number, longOutput?: number): Price {
  return withLongRates({ input, output, cacheRead, cacheWrite: input }, 200 * K, longOutput);
}

function withLongRates(price: Price, from: number, output: number | undefined): Price {
  if (output === undefined) return price;
  return { ...price, long: { from, input: price.input * 2, output, cacheRead: price.cacheRead * 2, cacheWrite: price.cacheWrite * 2 } };
}
