// Which model answers a user's processes, how it is reached and how much it is told. A key goes only where it was stored for:
// root's to the provider and server root chose, a user's to those the user chose.

import { type CatalogueOverrides, readOverrides } from "../../models/catalogue.ts";
import { providerOf } from "../../models/providers.ts";
import type { ModelChoice } from "../../ports/models.ts";
import { isTimezone } from "../../lib/timezone.ts";
import type { ConfigReads } from "../nouns/config.ts";
import { Settings, systemKey, wholeNumber } from "./read-setting.ts";

export type AiSettings = {
  choice: ModelChoice;
  fallback: ModelChoice | null;
  /** The user's before what the model is known for, the system's for models nobody knows. */
  contextWindow: { user: number | null; system: number | null };
  catalogue: CatalogueOverrides;
  /** For each source of context that users and agents write. */
  maxContextBytes: number;
  timezone: string;
  /** What was set and is not used, for whoever can mend it. */
  problems: readonly string[];
};

export const AI_DEFAULTS = { reasoning: "off", maxTokens: 8_192, contextWindowTokens: 256_000, maxContextBytes: 32_768 } as const;

/** More than this is read for no prompt, whatever a user sets. */
const CONTEXT_BYTES_MAX = 256 * 1024;
const TOKENS_MAX = 100_000_000;
const REASONING: readonly ModelChoice["reasoning"][] = ["off", "minimal", "low", "medium", "high", "xhigh"];
/** Names no provider: it takes away the fallback that root set. */
const NO_FALLBACK = "none";

export function aiSettings(config: Pick<ConfigReads, "get">, uid: number): AiSettings {
  const settings = new Settings(config, uid);
  const reach = mainReach(settings);
  const fallback = fallbackReach(settings, reach);
  const tokens = wholeNumber(1, TOKENS_MAX);
  const tokensText = `a whole number from 1 to ${TOKENS_MAX}`;
  const rest = {
    reasoning: settings.first("reasoning", reasoningOf, `one of ${REASONING.join(", ")}`) ?? AI_DEFAULTS.reasoning,
    maxOutputTokens: settings.first("max_tokens", tokens, tokensText) ?? AI_DEFAULTS.maxTokens,
  };
  const catalogueText = settings.readSystem("catalogue", (text) => (isJsonObject(text) ? text : null), "an object in JSON");
  return {
    choice: { ...withoutOwner(reach), ...rest },
    fallback: fallback === null ? null : { ...withoutOwner(fallback), ...rest },
    contextWindow: {
      user: settings.readOwn("context_window_tokens", tokens, tokensText),
      system: settings.readSystem("context_window_tokens", tokens, tokensText) ?? AI_DEFAULTS.contextWindowTokens,
    },
    catalogue: readOverrides(catalogueText ?? ""),
    maxContextBytes:
      settings.first("max_context_bytes", wholeNumber(0, CONTEXT_BYTES_MAX), `a whole number up to ${CONTEXT_BYTES_MAX}`) ??
      AI_DEFAULTS.maxContextBytes,
    timezone: settings.readOwn("timezone", zoneOf, "a time zone") ?? serverZone(config),
    problems: settings.problems,
  };
}

/**
 * The model servers root's own settings name: what the gateway may reach although their addresses are not public. What users
 * set is not among them.
 */
export function rootsModelServers(config: Pick<ConfigReads, "get">): string[] {
  return ["", "fallback/"].flatMap((group) => {
    const baseUrl = config.get(systemKey(`${group}base_url`))?.trim() ?? "";
    if (baseUrl !== "") return [baseUrl];
    const provider = providerOf(config.get(systemKey(`${group}provider`))?.trim() ?? "");
    return provider?.local === undefined || provider.baseUrl === null ? [] : [provider.baseUrl];
  });
}

/** `isOwn`: the user said where requests go, and the key is the user's or none. */
type Reach = Pick<ModelChoice, "provider" | "model" | "apiKey" | "baseUrl" | "unusable"> & { isOwn: boolean };

function mainReach(settings: Settings): Reach {
  const reach = layered(settings, "");
  const { provider, model } = reach;
  if (model === "" && provider !== "demo")
    settings.problems.push(`No model is chosen for ${provider}: set ${keyOf(settings, reach, "model")}`);
  return reach;
}

/**
 * Where a user's own place fails, nothing goes to the system's fallback: who keeps their work on a server of their own does
 * not want it elsewhere on a bad day. A fallback that names only a model is one of the same place.
 */
function fallbackReach(settings: Settings, main: Reach): Reach | null {
  const named = layered(settings, "fallback/", main.isOwn);
  const { provider, model, baseUrl, apiKey, unusable } = named;
  if (provider === NO_FALLBACK || (provider === "" && model === "")) return null;
  if (provider === "" && baseUrl === null) return { ...main, model };
  const reach = { ...named, provider: provider || main.provider };
  if (model === "" && reach.provider !== "demo") {
    settings.problems.push(`No model is chosen for the fallback ${reach.provider}: set ${keyOf(settings, named, "fallback/model")}`);
    return null;
  }
  const isSamePlace = reach.provider === main.provider && baseUrl === main.baseUrl;
  return apiKey === "" && unusable === undefined && isSamePlace ? { ...main, ...reach, apiKey: main.apiKey } : reach;
}

/** The settings of one group, the user's over the system's. */
function layered(settings: Settings, group: "" | "fallback/", isOwnOnly = false): Reach {
  const own = ofLayer((name) => settings.own(`${group}${name}`), settings.read(settings.ownKey(`${group}api_key`)).problem);
  const system = isOwnOnly
    ? NOTHING
    : ofLayer((name) => settings.system(`${group}${name}`), settings.read(systemKey(`${group}api_key`)).problem);
  const provider = own.provider || system.provider;
  const isSameProvider = provider === system.provider;
  const isOwn = own.baseUrl !== "" || (own.provider !== "" && (!isSameProvider || own.apiKey !== "" || own.keyProblem !== null));
  if (!isOwn && own.apiKey !== "")
    settings.problems.push(
      `${settings.ownKey(`${group}api_key`)} is not used: set ${settings.ownKey(`${group}provider`)} as well, to say where it may go`,
    );
  const { apiKey, baseUrl, keyProblem } = isOwn ? own : system;
  const model = own.model || (isSameProvider ? system.model : "");
  // Without the key that was meant for it, nothing is asked: neither without a key nor with somebody else's.
  return { provider, model, apiKey, baseUrl: baseUrl || null, isOwn, ...(keyProblem === null ? {} : { unusable: keyProblem }) };
}

/** `keyProblem`: there is a key, and why it cannot be used. */
type Layer = { provider: string; model: string; apiKey: string; baseUrl: string; keyProblem: string | null };

const NOTHING: Layer = { provider: "", model: "", apiKey: "", baseUrl: "", keyProblem: null };

function ofLayer(get: (name: string) => string, keyProblem: string | null): Layer {
  return { provider: get("provider"), model: get("model"), apiKey: get("api_key"), baseUrl: get("base_url"), keyProblem };
}

function keyOf(settings: Settings, { isOwn }: Reach, name: string): string {
  return isOwn ? settings.ownKey(name) : systemKey(name);
}

function withoutOwner({ isOwn: _, ...reach }: Reach): Omit<Reach, "isOwn"> {
  return reach;
}

function reasoningOf(text: string): ModelChoice["reasoning"] | null {
  return REASONING.find((level) => level === text) ?? null;
}

function zoneOf(text: string): string | null {
  return isTimezone(text) ? text : null;
}

/** An unreadable one becomes UTC where the date is written. */
function serverZone(config: Pick<ConfigReads, "get">): string {
  return config.get("config/server/timezone") ?? "UTC";
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
