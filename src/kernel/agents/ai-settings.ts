// Which model a user's processes use, its endpoint and key, and how much context it gets. A key is sent only where its owner meant
// it to go: root's key to the provider and server that root chose, a user's key to those that the user chose.

import { type CatalogueOverrides, readOverrides } from "../../models/catalogue.ts";
import { findProvider } from "../../models/providers.ts";
import type { ModelChoice } from "../../ports/models.ts";
import { isTimezone } from "../../lib/timezone.ts";
import type { ConfigReads } from "../nouns/config.ts";
import { Settings, systemKey, makeWholeNumberParser } from "./read-setting.ts";

export type AiSettings = {
  choice: ModelChoice;
  /** Whose settings say which model that is. */
  choiceFrom: "user" | "gateway";
  fallback: ModelChoice | null;
  /** `user` overrides the known window of the model; `system` is for models whose window is unknown. */
  contextWindow: { user: number | null; system: number | null };
  catalogue: CatalogueOverrides;
  /** The limit for each source of context that users and agents write. */
  maxContextBytes: number;
  timezone: string;
  /** Settings that are not used, and why, for the person who can fix them. */
  problems: readonly string[];
};

export const AI_DEFAULTS = { reasoning: "off", maxTokens: 8_192, contextWindowTokens: 256_000, maxContextBytes: 32_768 } as const;

/** The most that is read for a prompt, whatever a user sets. */
const CONTEXT_BYTES_MAX = 256 * 1024;
const TOKENS_MAX = 100_000_000;
const REASONING: readonly ModelChoice["reasoning"][] = ["off", "minimal", "low", "medium", "high", "xhigh"];
/** Not a provider: turns off the fallback that root set. */
const NO_FALLBACK = "none";

export function readAiSettings(config: Pick<ConfigReads, "get">, uid: number): AiSettings {
  const settings = new Settings(config, uid);
  const endpoint = readMainEndpoint(settings);
  const fallback = readFallbackEndpoint(settings, endpoint);
  const tokens = makeWholeNumberParser(1, TOKENS_MAX);
  const tokensText = `a whole number from 1 to ${TOKENS_MAX}`;
  const rest = {
    reasoning: settings.readOwnOrSystem("reasoning", parseReasoning, `one of ${REASONING.join(", ")}`) ?? AI_DEFAULTS.reasoning,
    maxOutputTokens: settings.readOwnOrSystem("max_tokens", tokens, tokensText) ?? AI_DEFAULTS.maxTokens,
  };
  const catalogueText = settings.readSystem("catalogue", (text) => (isJsonObject(text) ? text : null), "a JSON object");
  return {
    choice: { ...omitIsOwn(endpoint), ...rest },
    choiceFrom: endpoint.isOwn || settings.readOwnText("model") !== "" || settings.readOwnText("provider") !== "" ? "user" : "gateway",
    fallback: fallback === null ? null : { ...omitIsOwn(fallback), ...rest },
    contextWindow: {
      user: settings.readOwn("context_window_tokens", tokens, tokensText),
      system: settings.readSystem("context_window_tokens", tokens, tokensText) ?? AI_DEFAULTS.contextWindowTokens,
    },
    catalogue: readOverrides(catalogueText ?? ""),
    maxContextBytes:
      settings.readOwnOrSystem(
        "max_context_bytes",
        makeWholeNumberParser(0, CONTEXT_BYTES_MAX),
        `a whole number up to ${CONTEXT_BYTES_MAX}`,
      ) ?? AI_DEFAULTS.maxContextBytes,
    timezone: settings.readOwn("timezone", parseTimeZone, "a time zone") ?? readServerTimeZone(config),
    problems: settings.problems,
  };
}

/** The model servers of root's settings, which the gateway may reach although their addresses are private. Users' are not included. */
export function listRootsModelServers(config: Pick<ConfigReads, "get">): string[] {
  return ["", "fallback/"].flatMap((group) => {
    const baseUrl = config.get(systemKey(`${group}base_url`))?.trim() ?? "";
    if (baseUrl !== "") return [baseUrl];
    const provider = findProvider(config.get(systemKey(`${group}provider`))?.trim() ?? "");
    return provider?.local === undefined || provider.baseUrl === null ? [] : [provider.baseUrl];
  });
}

/** `isOwn`: the user chose where requests go, so the key is the user's own or none. */
type Endpoint = Pick<ModelChoice, "provider" | "model" | "apiKey" | "baseUrl" | "unusable"> & { isOwn: boolean };

function readMainEndpoint(settings: Settings): Endpoint {
  const endpoint = readEndpoint(settings, "");
  const { provider, model } = endpoint;
  if (model === "" && provider !== "demo")
    settings.problems.push(`No model is chosen for ${provider}: set ${configKeyOf(settings, endpoint, "model")}`);
  return endpoint;
}

/**
 * A user's own endpoint never falls back to the system's: a user who keeps their work on a server of their own does not want it sent
 * elsewhere when that server fails. A fallback that names only a model uses the main endpoint.
 */
function readFallbackEndpoint(settings: Settings, main: Endpoint): Endpoint | null {
  const fallback = readEndpoint(settings, "fallback/", main.isOwn);
  const { provider, model, baseUrl, apiKey, unusable } = fallback;
  if (provider === NO_FALLBACK || (provider === "" && model === "")) return null;
  if (provider === "" && baseUrl === null) return { ...main, model };
  const endpoint = { ...fallback, provider: provider || main.provider };
  if (model === "" && endpoint.provider !== "demo") {
    settings.problems.push(
      `No model is chosen for the fallback ${endpoint.provider}: set ${configKeyOf(settings, fallback, "fallback/model")}`,
    );
    return null;
  }
  const isSameServer = endpoint.provider === main.provider && baseUrl === main.baseUrl;
  return apiKey === "" && unusable === undefined && isSameServer ? { ...main, ...endpoint, apiKey: main.apiKey } : endpoint;
}

/** Reads the settings of one group; the user's take precedence over the system's. */
function readEndpoint(settings: Settings, group: "" | "fallback/", isOwnOnly = false): Endpoint {
  const own = readLayer((name) => settings.readOwnText(`${group}${name}`), settings.read(settings.ownKey(`${group}api_key`)).problem);
  const system = isOwnOnly
    ? EMPTY_LAYER
    : readLayer((name) => settings.readSystemText(`${group}${name}`), settings.read(systemKey(`${group}api_key`)).problem);
  const provider = own.provider || system.provider;
  const isSameProvider = provider === system.provider;
  const isOwn = own.baseUrl !== "" || (own.provider !== "" && (!isSameProvider || own.apiKey !== "" || own.keyProblem !== null));
  if (!isOwn && own.apiKey !== "")
    settings.problems.push(
      `${settings.ownKey(`${group}api_key`)} is not used: set ${settings.ownKey(`${group}provider`)} as well, to say which provider it is for`,
    );
  const { apiKey, baseUrl, keyProblem } = isOwn ? own : system;
  const model = own.model || (isSameProvider ? system.model : "");
  // If the key cannot be read, no request is sent: neither without a key nor with another one.
  return { provider, model, apiKey, baseUrl: baseUrl || null, isOwn, ...(keyProblem === null ? {} : { unusable: keyProblem }) };
}

/** `keyProblem`: why the stored key cannot be used; null if it can or if there is none. */
type Layer = { provider: string; model: string; apiKey: string; baseUrl: string; keyProblem: string | null };

const EMPTY_LAYER: Layer = { provider: "", model: "", apiKey: "", baseUrl: "", keyProblem: null };

function readLayer(get: (name: string) => string, keyProblem: string | null): Layer {
  return { provider: get("provider"), model: get("model"), apiKey: get("api_key"), baseUrl: get("base_url"), keyProblem };
}

function configKeyOf(settings: Settings, { isOwn }: Endpoint, name: string): string {
  return isOwn ? settings.ownKey(name) : systemKey(name);
}

function omitIsOwn({ isOwn: _, ...endpoint }: Endpoint): Omit<Endpoint, "isOwn"> {
  return endpoint;
}

function parseReasoning(text: string): ModelChoice["reasoning"] | null {
  return REASONING.find((level) => level === text) ?? null;
}

function parseTimeZone(text: string): string | null {
  return isTimezone(text) ? text : null;
}

/** Not checked here: agent/context writes the date in UTC if the time zone is invalid. */
function readServerTimeZone(config: Pick<ConfigReads, "get">): string {
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
