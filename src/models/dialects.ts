// How each dialect is spoken: which package speaks it, and what it is told beyond the conversation. The packages are large
// and load when the first model of their dialect is asked. Nothing may come from the environment, so key and URL are
// always given.

import type { LanguageModelV4, LanguageModelV4CallOptions, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { ModelChoice, ModelRequest } from "../ports/models.ts";
import type { Fetch } from "./net-fetch.ts";
import { isThoughtMissing, promptOf, toolsOf } from "./prompt.ts";
import type { Dialect } from "./providers.ts";

/** What servers that ask for no key are sent. */
const NO_KEY = "none";

export async function modelOf(dialect: Dialect, choice: ModelChoice, baseURL: string, fetch: Fetch): Promise<LanguageModelV4> {
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

export function callOptions(request: ModelRequest, dialect: Dialect, maker: string, abortSignal: AbortSignal): LanguageModelV4CallOptions {
  const tools = toolsOf(request.tools);
  const { choice } = request;
  return {
    prompt: promptOf(request, dialect, maker),
    maxOutputTokens: choice.maxOutputTokens,
    ...(tools.length > 0 ? { tools, toolChoice: { type: "auto" } } : {}),
    reasoning: reasoningOf(request, dialect, maker),
    providerOptions: optionsOf(request, dialect),
    abortSignal,
  };
}

function reasoningOf(request: ModelRequest, dialect: Dialect, maker: string): NonNullable<LanguageModelV4CallOptions["reasoning"]> {
  const { reasoning, model } = request.choice;
  if (dialect === "anthropic" && isThoughtMissing(request, maker)) return "none";
  if (reasoning !== "off") return reasoning;
  // Servers of many makes know no word for none, and models that cannot think refuse to be told not to.
  if (dialect === "openai") return /^(gpt-[5-9]|o\d)/.test(model) ? "none" : "provider-default";
  if (dialect === "google") return /^gemini-(2\.5|[3-9])/.test(model) ? "none" : "provider-default";
  return dialect === "anthropic" ? "none" : "provider-default";
}

function optionsOf({ choice, affinity }: ModelRequest, dialect: Dialect): SharedV4ProviderOptions {
  const isThinking = choice.reasoning !== "off";
  switch (dialect) {
    case "openai":
      // Nothing is kept there: every request carries the whole conversation, thoughts included, sealed by the provider.
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
