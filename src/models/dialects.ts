// The package of each dialect and its options beyond the conversation. The packages are large, so each loads with the first call
// in its dialect. Nothing may come from environment variables, so key and URL are always passed.

import type { LanguageModelV4, LanguageModelV4CallOptions, SharedV4ProviderOptions } from "@ai-sdk/provider";
import { Cache } from "../lib/cache.ts";
import type { ModelChoice, ModelRequest } from "../ports/models.ts";
import type { Fetch } from "./net-fetch.ts";
import { isThoughtMissing, makePrompt, toolsOf } from "./prompt.ts";
import type { Dialect } from "./providers.ts";

/** Sent to servers that require no key. */
const NO_KEY = "none";
const MODELS_MAX = 64;

/** The models of one ProviderModels. Each is made once: making its schemas takes longer than a small request. */
export class LoadedModels {
  readonly #models = new Cache<string, Promise<LanguageModelV4>>(MODELS_MAX);
  /** The fetch of each attempt, by its abort signal, which the packages pass on. */
  readonly #fetches = new WeakMap<AbortSignal, Fetch>();
  readonly #fetch: Fetch = (input, init) => {
    const send = init?.signal == null ? undefined : this.#fetches.get(init.signal);
    if (send === undefined) throw new Error("A provider's package made a request of its own");
    return send(input, init);
  };

  /** `fetch` makes the requests of calls with this signal. */
  load(dialect: Dialect, choice: ModelChoice, baseURL: string, signal: AbortSignal, fetch: Fetch): Promise<LanguageModelV4> {
    this.#fetches.set(signal, fetch);
    const key = JSON.stringify([dialect, baseURL, choice.model, choice.apiKey]);
    return this.#models.get(key, () => {
      const model = makeModel(dialect, choice, baseURL, this.#fetch);
      // Loading the package failed: the next attempt tries again.
      model.catch(() => this.#models.delete(key));
      return model;
    });
  }
}

async function makeModel(dialect: Dialect, choice: ModelChoice, baseURL: string, fetch: Fetch): Promise<LanguageModelV4> {
  const settings = { apiKey: choice.apiKey === "" ? NO_KEY : choice.apiKey, baseURL, fetch };
  switch (dialect) {
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return createOpenAI(settings).responses(choice.model);
    }
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic(settings)(choice.model);
    }
    case "google": {
      const { createGoogle } = await import("@ai-sdk/google");
      return createGoogle(settings)(choice.model);
    }
    case "compatible":
    case "workers-ai": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const { apiKey, ...rest } = settings;
      const key = choice.apiKey === "" ? {} : { apiKey };
      return createOpenAICompatible({ ...rest, ...key, name: "compatible", includeUsage: true }).chatModel(choice.model);
    }
  }
}

export function makeCallOptions(
  request: ModelRequest,
  dialect: Dialect,
  maker: string,
  abortSignal: AbortSignal,
): LanguageModelV4CallOptions {
  const tools = toolsOf(request.tools);
  const { choice } = request;
  return {
    prompt: makePrompt(request, dialect, maker),
    maxOutputTokens: choice.maxOutputTokens,
    ...(tools.length > 0 ? { tools, toolChoice: { type: "auto" } } : {}),
    reasoning: reasoningOf(request, dialect, maker),
    providerOptions: makeProviderOptions(request, dialect),
    abortSignal,
  };
}

function reasoningOf(request: ModelRequest, dialect: Dialect, maker: string): NonNullable<LanguageModelV4CallOptions["reasoning"]> {
  const { reasoning, model } = request.choice;
  if (dialect === "anthropic" && isThoughtMissing(request, maker)) return "none";
  if (reasoning !== "off") return reasoning;
  // Compatible servers share no value for "none", and models that cannot think refuse it.
  if (dialect === "openai") return /^(gpt-[5-9]|o\d)/.test(model) ? "none" : "provider-default";
  if (dialect === "google") return /^gemini-(2\.5|[3-9])/.test(model) ? "none" : "provider-default";
  return dialect === "anthropic" ? "none" : "provider-default";
}

function makeProviderOptions({ choice, affinity }: ModelRequest, dialect: Dialect): SharedV4ProviderOptions {
  const isThinking = choice.reasoning !== "off";
  switch (dialect) {
    case "openai":
      // Stores nothing at the provider: every request carries the whole conversation, including thoughts, which the provider encrypted.
      return {
        openai: {
          store: false,
          promptCacheKey: affinity.slice(0, 64),
          strictJsonSchema: false,
          ...(isThinking ? { reasoningSummary: "auto" } : {}),
        },
      };
    case "google":
      return isThinking ? { google: { thinkingConfig: { includeThoughts: true } } } : {};
    default:
      return {};
  }
}
