// What is known of models offline: context window, output limit and prices. A model is found under its exact name, without a date
// or service variant after it, and never under the name of a similar one: a wrong price is worse than none.

import type { ModelChoice } from "../ports/models.ts";
import { CATALOGUE } from "./catalogue-data.ts";

type Rates = { input: number; output: number; cacheRead: number; cacheWrite: number };
/** In dollars per million tokens; `long` applies to requests that read more than `from` tokens. */
export type Price = Rates & { long?: Rates & { from: number } };
export type ModelFacts = { contextWindow: number | null; maxOutput: number | null; price: Price | null };

/** Corrections by root, under "provider/model". */
export type CatalogueOverrides = ReadonlyMap<string, Partial<ModelFacts>>;

export const CATALOGUE_KEY = "config/ai/catalogue";

const UNKNOWN: ModelFacts = { contextWindow: null, maxOutput: null, price: null };

export function findModelFacts(choice: Pick<ModelChoice, "provider" | "model">, overrides: CatalogueOverrides = new Map()): ModelFacts {
  const provider = choice.provider === "workersai" ? "workers-ai" : choice.provider;
  const known = provider === "openrouter" ? findRouted(choice.model) : findListed(provider, choice.model);
  return { ...(known ?? UNKNOWN), ...overrides.get(`${choice.provider}/${choice.model}`) };
}

/** The rates for a request of this size. */
export function ratesFor(price: Price, inputTokens: number): Rates {
  return price.long !== undefined && inputTokens > price.long.from ? price.long : price;
}

/**
 * The value of config/ai/catalogue: JSON of the form {"provider/model": {"contextWindow": 1, "maxOutput": 1, "price": {"input":
 * 1, "output": 2, "cacheRead": 0.1, "cacheWrite": 1}}}, each field optional. Invalid values are ignored.
 */
export function readOverrides(text: string): CatalogueOverrides {
  const overrides = new Map<string, Partial<ModelFacts>>();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return overrides;
  }
  for (const [name, given] of Object.entries(recordOf(value))) {
    const { contextWindow, maxOutput, price } = recordOf(given);
    const { input, output, cacheRead, cacheWrite } = recordOf(price);
    overrides.set(name, {
      ...(isCount(contextWindow) ? { contextWindow } : {}),
      ...(isCount(maxOutput) ? { maxOutput } : {}),
      ...(isAmount(input) && isAmount(output)
        ? {
            price: {
              input,
              output,
              cacheRead: isAmount(cacheRead) ? cacheRead : input,
              cacheWrite: isAmount(cacheWrite) ? cacheWrite : input,
            },
          }
        : {}),
    });
  }
  return overrides;
}

function findListed(provider: string, model: string): ModelFacts | undefined {
  const table = Object.hasOwn(CATALOGUE, provider) ? CATALOGUE[provider]! : {};
  const plain = model.replace(/([-@]\d{8}|-\d{4}-\d{2}-\d{2}|-latest|-preview(-[\w-]+)?)$/, "");
  if (Object.hasOwn(table, model)) return table[model];
  return Object.hasOwn(table, plain) ? table[plain] : undefined;
}

/** "anthropic/claude-opus-4.6:thinking" is Anthropic's claude-opus-4-6. */
function findRouted(model: string): ModelFacts | undefined {
  const [vendor = "", name = ""] = model.replace(/:[\w-]+$/, "").split("/");
  return findListed(vendor, name) ?? findListed(vendor, name.replaceAll(".", "-"));
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
