// How much context a model really has. Servers of one's own are asked, since theirs is what they were started with, not what
// the model could take; the answer is kept for a while, and where none comes, nobody waits for it again at once.

import type { ModelChoice } from "../ports/models.ts";
import type { Net } from "../ports/net.ts";
import { type CatalogueOverrides, factsOf } from "./catalogue.ts";
import { type Provider, providerOf } from "./providers.ts";

export type ContextWindow = { tokens: number | null; source: "config" | "model" | "unknown" };
export type WindowOverrides = {
  /** users/<uid>/ai/context_window_tokens, which counts before all else. */
  user: number | null;
  /** config/ai/context_window_tokens, for models nobody knows. */
  system: number | null;
  catalogue?: CatalogueOverrides;
};

const KEPT_MS = 10 * 60_000;
const FAILED_KEPT_MS = 60_000;
const ASK_MS = 5_000;
const KEPT = 100;

export class Windows {
  readonly #net: Net;
  readonly #now: () => number;
  readonly #asked = new Map<string, { until: number; tokens: Promise<number | null> }>();

  constructor(net: Net, now: () => number) {
    this.#net = net;
    this.#now = now;
  }

  async of(choice: ModelChoice, overrides: WindowOverrides): Promise<ContextWindow> {
    if (overrides.user !== null) return { tokens: overrides.user, source: "config" };
    const tokens = (await this.#ask(choice)) ?? factsOf(choice, overrides.catalogue).contextWindow;
    if (tokens !== null) return { tokens, source: "model" };
    return overrides.system === null ? { tokens: null, source: "unknown" } : { tokens: overrides.system, source: "config" };
  }

  #ask(choice: ModelChoice): Promise<number | null> {
    const provider = providerOf(choice.provider);
    const baseUrl = choice.baseUrl ?? provider?.baseUrl ?? null;
    if (provider?.local === undefined || baseUrl === null) return Promise.resolve(null);
    const key = `${choice.provider} ${baseUrl} ${choice.model}`;
    const known = this.#asked.get(key);
    if (known !== undefined && known.until > this.#now()) return known.tokens;
    const entry = { until: this.#now() + KEPT_MS, tokens: this.#fetch(provider, baseUrl.replace(/\/+$/, ""), choice) };
    this.#asked.set(key, entry);
    if (this.#asked.size > KEPT) this.#asked.delete(this.#asked.keys().next().value ?? "");
    void entry.tokens.then((tokens) => {
      if (tokens === null) entry.until = this.#now() + FAILED_KEPT_MS;
    });
    return entry.tokens;
  }

  async #fetch({ local }: Provider, baseUrl: string, choice: ModelChoice): Promise<number | null> {
    const root = baseUrl.replace(/\/v1$/, "");
    const get = (url: string, body?: unknown) => this.#json(url, choice.apiKey, body);
    switch (local) {
      case "ollama":
        return (
          ofOllamaRunning(await get(`${root}/api/ps`), choice.model) ?? ofOllama(await get(`${root}/api/show`, { model: choice.model }))
        );
      case "llamacpp":
        return count(at(await get(`${root}/props`), "default_generation_settings", "n_ctx"));
      case "lmstudio":
        return ofModels(await get(`${root}/api/v0/models`), choice.model);
      case "vllm":
        return ofModels(await get(`${baseUrl}/models`), choice.model);
      default:
        return (
          ofModels(await get(`${baseUrl}/models`), choice.model) ??
          count(at(await get(`${root}/props`), "default_generation_settings", "n_ctx"))
        );
    }
  }

  /** Null for whatever is not an answer in JSON. */
  async #json(url: string, apiKey: string, body?: unknown): Promise<unknown> {
    try {
      const headers = { "content-type": "application/json", ...(apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` }) };
      const answer = await this.#net.fetch(
        body === undefined
          ? { url, method: "GET", headers }
          : { url, method: "POST", headers, body: new TextEncoder().encode(JSON.stringify(body)) },
        { timeoutMs: ASK_MS, bytesMax: 4 * 1024 * 1024 },
      );
      const text = await new Response(answer.body).text();
      return answer.status === 200 ? (JSON.parse(text) as unknown) : null;
    } catch {
      return null;
    }
  }
}

/** What a loaded model was loaded with; the model's own limit may be far more than fits into the machine. */
function ofOllamaRunning(answer: unknown, model: string): number | null {
  const running = list(at(answer, "models")).find((entry) => [at(entry, "model"), at(entry, "name")].some((name) => isNamed(name, model)));
  return count(at(running, "context_length"));
}

function ofOllama(answer: unknown): number | null {
  const parameters = at(answer, "parameters");
  const chosen = typeof parameters === "string" ? /^num_ctx\s+(\d+)$/m.exec(parameters) : null;
  if (chosen !== null) return Number(chosen[1]);
  const info = at(answer, "model_info");
  const field = Object.keys(typeof info === "object" && info !== null ? info : {}).find((name) => name.endsWith(".context_length"));
  return field === undefined ? null : count(at(info, field));
}

function ofModels(answer: unknown, model: string): number | null {
  const entry = list(at(answer, "data")).find((one) => at(one, "id") === model);
  for (const field of ["loaded_context_length", "max_model_len", "max_context_length", "context_length"]) {
    const tokens = count(at(entry, field));
    if (tokens !== null) return tokens;
  }
  return null;
}

function isNamed(name: unknown, model: string): boolean {
  return name === model || name === `${model}:latest`;
}

function at(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (inner, field) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, field) : undefined),
    value,
  );
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function count(value: unknown): number | null {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : null;
}
