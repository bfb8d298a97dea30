// Which models a provider offers, from its own list. Each dialect has its own request; Workers AI has none.

import { type Net, NetError } from "../ports/net.ts";
import type { ModelChoice } from "../ports/models.ts";
import type { Provider } from "./providers.ts";

export type Listing =
  | { ok: true; models: string[] }
  /** No response, or one that is no list. */
  | { ok: false; status: number | null; error: NetError | null };

const ASK_MS = 15_000;
const BYTES_MAX = 8 * 1024 * 1024;
const MODELS_MAX = 1_000;
const ID_CHARS = 256;

/** By name: models for embeddings, pictures or sound cannot hold a conversation. */
const NOT_CHAT = /embed|whisper|(^|[-/])tts|dall-e|moderation|rerank|transcribe|realtime|(^|[-/])(image|imagen|veo|sora|audio)\b/i;

export async function listModels(net: Net, choice: ModelChoice, provider: Provider, signal: AbortSignal): Promise<Listing> {
  const request = makeListRequest(choice, provider);
  if (request === null) return { ok: false, status: null, error: null };
  try {
    const answer = await net.fetch({ ...request, method: "GET" }, { signal, timeoutMs: ASK_MS, bytesMax: BYTES_MAX });
    const text = await new Response(answer.body).text();
    const models = answer.status === 200 ? parseModelIds(text, provider) : null;
    return models === null ? { ok: false, status: answer.status, error: null } : { ok: true, models };
  } catch (error) {
    return { ok: false, status: null, error: error instanceof NetError ? error : new NetError("protocol", "The answer cannot be read") };
  }
}

function makeListRequest({ apiKey, baseUrl }: ModelChoice, provider: Provider): { url: string; headers: Record<string, string> } | null {
  const base = (baseUrl ?? provider.baseUrl)?.replace(/\/+$/, "");
  if (base === undefined || provider.dialect === "workers-ai") return null;
  const keyHeader = (name: string, value: string): Record<string, string> => (apiKey === "" ? {} : { [name]: value });
  switch (provider.dialect) {
    case "anthropic":
      return { url: `${base}/models?limit=1000`, headers: { ...keyHeader("x-api-key", apiKey), "anthropic-version": "2023-06-01" } };
    case "google":
      return { url: `${base}/models?pageSize=1000`, headers: keyHeader("x-goog-api-key", apiKey) };
    default:
      return { url: `${base}/models`, headers: keyHeader("authorization", `Bearer ${apiKey}`) };
  }
}

function parseModelIds(text: string, { dialect }: Provider): string[] | null {
  const value = parseJson(text);
  const field = dialect === "google" ? "models" : "data";
  const entries: unknown = typeof value === "object" && value !== null ? Reflect.get(value, field) : undefined;
  // Ollama without a model returns null instead of an empty list.
  if (entries === null) return [];
  if (!Array.isArray(entries)) return null;
  const ids = entries.flatMap((entry: unknown) => modelIdIn(entry, dialect));
  return [...new Set(ids)].toSorted().slice(0, MODELS_MAX);
}

function modelIdIn(entry: unknown, dialect: Provider["dialect"]): string[] {
  if (typeof entry !== "object" || entry === null) return [];
  const { id, name, supportedGenerationMethods: methods } = entry as Record<string, unknown>;
  if (dialect === "google" && Array.isArray(methods) && !methods.includes("generateContent")) return [];
  const text = dialect === "google" ? name : id;
  if (typeof text !== "string" || text.length > ID_CHARS || NOT_CHAT.test(text)) return [];
  return [text.replace(/^models\//, "")];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
