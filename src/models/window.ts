// The real context size of a model. Self-hosted servers are asked, because theirs is what they were started with, not what the
// model supports. Results are cached, failures for a shorter time, so that nobody waits for them again at once.

import type { ModelChoice } from "../ports/models.ts";
import type { Net } from "../ports/net.ts";
import { type CatalogueOverrides, findModelFacts } from "./catalogue.ts";
import { type Provider, findProvider } from "./providers.ts";

export type ContextWindow = { tokens: number | null; source: "config" | "model" | "unknown" };
export type WindowOverrides = {
  /** users/<uid>/ai/context_window_tokens, which takes precedence over everything. */
  user: number | null;
  /** config/ai/context_window_tokens, for unknown models. */
  system: number | null;
  catalogue?: CatalogueOverrides;
};

const CACHE_MS = 10 * 60_000;
const FAILURE_CACHE_MS = 60_000;
const TIMEOUT_MS = 5_000;
const CACHE_MAX = 100;

export class ContextWindows {
  readonly #net: Net;
  readonly #now: () => number;
  readonly #cache = new Map<string, { until: number; tokens: Promise<number | null> }>();

  constructor(net: Net, now: () => number) {
    this.#net = net;
    this.#now = now;
  }

  async resolve(choice: ModelChoice, overrides: WindowOverrides): Promise<ContextWindow> {
    if (overrides.user !== null) return { tokens: overrides.user, source: "config" };
    const tokens = (await this.#askServer(choice)) ?? findModelFacts(choice, overrides.catalogue).contextWindow;
    if (tokens !== null) return { tokens, source: "model" };
    return overrides.system === null ? { tokens: null, source: "unknown" } : { tokens: overrides.system, source: "config" };
  }

  #askServer(choice: ModelChoice): Promise<number | null> {
    const provider = findProvider(choice.provider);
    const baseUrl = choice.baseUrl ?? provider?.baseUrl ?? null;
    if (provider?.local === undefined || baseUrl === null) return Promise.resolve(null);
    const key = `${choice.provider} ${baseUrl} ${choice.model}`;
    const known = this.#cache.get(key);
    if (known !== undefined && known.until > this.#now()) return known.tokens;
    const entry = { until: this.#now() + CACHE_MS, tokens: this.#fetchWindow(provider, baseUrl.replace(/\/+$/, ""), choice) };
    this.#cache.set(key, entry);
    if (this.#cache.size > CACHE_MAX) this.#cache.delete(this.#cache.keys().next().value ?? "");
    void entry.tokens.then((tokens) => {
      if (tokens === null) entry.until = this.#now() + FAILURE_CACHE_MS;
    });
    return entry.tokens;
  }

  async #fetchWindow({ local }: Provider, baseUrl: string, choice: ModelChoice): Promise<number | null> {
    const root = baseUrl.replace(/\/v1$/, "");
    const get = (url: string, body?: unknown) => this.#fetchJson(url, choice.apiKey, body);
    switch (local) {
      case "ollama":
        return (
          ollamaRunningWindow(await get(`${root}/api/ps`), choice.model) ??
          ollamaWindow(await get(`${root}/api/show`, { model: choice.model }))
        );
      case "llamacpp":
        return positiveInteger(fieldAt(await get(`${root}/props`), "default_generation_settings", "n_ctx"));
      case "lmstudio":
        return modelListWindow(await get(`${root}/api/v0/models`), choice.model);
      case "vllm":
        return modelListWindow(await get(`${baseUrl}/models`), choice.model);
      default:
        return (
          modelListWindow(await get(`${baseUrl}/models`), choice.model) ??
          positiveInteger(fieldAt(await get(`${root}/props`), "default_generation_settings", "n_ctx"))
        );
    }
  }

  /** Null for anything but a JSON response. */
  async #fetchJson(url: string, apiKey: string, body?: unknown): Promise<unknown> {
    try {
      const headers = { "content-type": "application/json", ...(apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` }) };
      const answer = await this.#net.fetch(
        body === undefined
          ? { url, method: "GET", headers }
          : { url, method: "POST", headers, body: new TextEncoder().encode(JSON.stringify(body)) },
        { timeoutMs: TIMEOUT_MS, bytesMax: 4 * 1024 * 1024 },
      );
      const text = await new Response(answer.body).text();
      return answer.status === 200 ? (JSON.parse(text) as unknown) : null;
    } catch {
      return null;
    }
  }
}

/** The size a loaded model was loaded with; the model's own limit may be far more than fits into the machine. */
function ollamaRunningWindow(answer: unknown, model: string): number | null {
  const running = arrayOrEmpty(fieldAt(answer, "models")).find((entry) =>
    [fieldAt(entry, "model"), fieldAt(entry, "name")].some((name) => isSameModel(name, model)),
  );
  return positiveInteger(fieldAt(running, "context_length"));
}

function ollamaWindow(answer: unknown): number | null {
  const parameters = fieldAt(answer, "parameters");
  const chosen = typeof parameters === "string" ? /^num_ctx\s+(\d+)$/m.exec(parameters) : null;
  if (chosen !== null) return Number(chosen[1]);
  const info = fieldAt(answer, "model_info");
  const field = Object.keys(typeof info === "object" && info !== null ? info : {}).find((name) => name.endsWith(".context_length"));
  return field === undefined ? null : positiveInteger(fieldAt(info, field));
}

function modelListWindow(answer: unknown, model: string): number | null {
  const entry = arrayOrEmpty(fieldAt(answer, "data")).find((one) => fieldAt(one, "id") === model);
  for (const field of ["loaded_context_length", "max_model_len", "max_context_length", "context_length"]) {
    const tokens = positiveInteger(fieldAt(entry, field));
    if (tokens !== null) return tokens;
  }
  return null;
}

function isSameModel(name: unknown, model: string): boolean {
  return name === model || name === `${model}:latest`;
}

function fieldAt(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (inner, field) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, field) : undefined),
    value,
  );
}

function arrayOrEmpty(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function positiveInteger(value: unknown): number | null {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : null;
}
