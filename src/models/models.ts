// The Models port over all providers: picks the provider, retries where that may help, stops calling a model that keeps failing,
// and finally uses the fallback. attempt.ts makes one attempt; demo.ts is the demo model, which needs no network.

import { sleep } from "../lib/sleep.ts";
import type { Crypto } from "../ports/crypto.ts";
import type { ModelChoice, ModelEvent, ModelRequest, Models } from "../ports/models.ts";
import type { Net } from "../ports/net.ts";
import { attempt, type AttemptServices, type Outcome } from "./attempt.ts";
import { Breaker } from "../lib/breaker.ts";
import { type CatalogueOverrides, findModelFacts, readOverrides } from "./catalogue.ts";
import { LoadedModels } from "./dialects.ts";
import { streamDemo } from "./demo.ts";
import { ABORTED, makeFailure, type Failure, keyFailure } from "./failure.ts";
import { type Provider, PROVIDERS, findProvider } from "./providers.ts";
import { type ContextWindow, type WindowOverrides, ContextWindows } from "./window.ts";
import type { WorkersAi } from "./workers-ai.ts";

export type ModelsOptions = {
  net: Net;
  crypto: Pick<Crypto, "randomBytes" | "uuid">;
  /** The platform's binding, on Cloudflare. */
  workersAi?: WorkersAi;
  /** The value of config/ai/catalogue, read for every answer. */
  catalogue?: () => string;
  limits?: Partial<typeof LIMITS>;
  now?: () => number;
};

export const LIMITS = {
  tries: 3,
  /** Attempts start only within this time of the first. The duration of an attempt is not limited. */
  budgetMs: 180_000,
  /** The longest wait for the next byte. */
  silenceMs: 60_000,
  /** The same for self-hosted servers: reading a long prompt takes minutes on a small machine. */
  localSilenceMs: 300_000,
  /** The wait before the second attempt; doubled for each further one. */
  backoffMs: 1_000,
};

type FinalOutcome = Outcome & { choice: ModelChoice };

/** How long a model is left alone that has failed several times in a row. */
const REST_MS = 30_000;

export class ProviderModels implements Models {
  readonly #options: ModelsOptions;
  readonly #limits: typeof LIMITS;
  readonly #now: () => number;
  readonly #breaker = new Breaker(REST_MS);
  readonly #windows: ContextWindows;
  readonly #loaded = new LoadedModels();
  /** The catalogue as it was last read, and its text. */
  #catalogue: { text: string; overrides: CatalogueOverrides } = { text: "", overrides: new Map() };

  constructor(options: ModelsOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#now = options.now ?? Date.now;
    this.#windows = new ContextWindows(options.net, this.#now);
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const final = yield* this.#streamWithFallback(request, signal);
    const { choice, content } = final;
    const by = choice === request.choice ? {} : { by: { provider: choice.provider, model: choice.model } };
    if (final.ok) yield { type: "done", content, usage: final.usage, stop: final.stop, ...by };
    else {
      const { kind, message } = final.failure;
      yield { type: "error", content, usage: final.usage, error: { kind, message }, ...by };
    }
  }

  contextWindow(choice: ModelChoice, overrides: WindowOverrides): Promise<ContextWindow> {
    return this.#windows.resolve(choice, { catalogue: this.#readCatalogueOverrides(), ...overrides });
  }

  async *#streamWithFallback(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, FinalOutcome> {
    const startedAt = this.#now();
    const first = yield* this.#tryRepeatedly(request, startedAt, signal);
    const { fallback } = request;
    if (first.ok || fallback === undefined || !mayFallBack(first.failure)) return { ...first, choice: request.choice };
    yield { type: "retrying", attempt: 1, waitMs: 0, why: `${first.failure.message}. Asking ${fallback.model} instead` };
    const second = yield* this.#tryRepeatedly({ ...request, choice: fallback }, startedAt, signal);
    return { ...second, choice: fallback };
  }

  async *#tryRepeatedly(request: ModelRequest, startedAt: number, signal: AbortSignal): AsyncGenerator<ModelEvent, Outcome> {
    for (let tries = 1; ; tries++) {
      const outcome = yield* this.#tryOnce(request, signal);
      if (outcome.ok || !outcome.failure.isRetryable || tries === this.#limits.tries || signal.aborted) return outcome;
      // Rounded up, because clients treat it as whole milliseconds.
      const waitMs = Math.ceil(Math.max(outcome.failure.waitMs, this.#backoff(tries)));
      if (this.#now() + waitMs > startedAt + this.#limits.budgetMs) return waitTooLongOutcome(outcome, waitMs);
      yield { type: "retrying", attempt: tries + 1, waitMs, why: outcome.failure.message };
      await sleep(waitMs, signal);
      if (signal.aborted) return { ok: false, content: [], usage: null, failure: ABORTED };
    }
  }

  async *#tryOnce(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, Outcome> {
    const { choice } = request;
    if (choice.provider === "demo") return yield* streamDemo(request, signal);
    const provider = findProvider(choice.provider);
    const problem = provider === undefined ? unknownProviderFailure(choice) : missingSettingFailure(choice, provider);
    if (provider === undefined || problem !== null) return refusedOutcome(problem!);
    const key = [choice.provider, choice.baseUrl, choice.model, choice.apiKey].join(" ");
    const restMs = this.#breaker.startOrGetWaitMs(key, this.#now());
    if (restMs > 0) return refusedOutcome(breakerOpenFailure(choice, restMs));
    const facts = findModelFacts(choice, this.#readCatalogueOverrides());
    let outcome: Outcome | null = null;
    try {
      outcome = yield* attempt(request, provider, facts, this.#makeAttemptServices(provider), signal);
      return outcome;
    } finally {
      // Also if the consumer stops reading: then the probe is released.
      if (outcome?.ok) this.#breaker.recordSuccess(key);
      else if (outcome !== null && isModelsFault(outcome.failure)) this.#breaker.recordFailure(key, this.#now());
      else this.#breaker.releaseProbe(key);
    }
  }

  #makeAttemptServices(provider: Provider): AttemptServices {
    return {
      models: this.#loaded,
      net: this.#options.net,
      workersAi: this.#options.workersAi,
      newId: () => `call_${this.#options.crypto.uuid().replaceAll("-", "")}`,
      now: this.#now,
      silenceMs: provider.local === undefined ? this.#limits.silenceMs : this.#limits.localSilenceMs,
    };
  }

  /** Jittered between half of the time and all of it, so that runs that failed together do not retry together. */
  #backoff(tries: number): number {
    const [byte = 0] = this.#options.crypto.randomBytes(1);
    return this.#limits.backoffMs * 2 ** (tries - 1) * (0.5 + byte / 510);
  }

  #readCatalogueOverrides(): CatalogueOverrides {
    const text = this.#options.catalogue?.() ?? "";
    if (text !== this.#catalogue.text) this.#catalogue = { text, overrides: readOverrides(text) };
    return this.#catalogue.overrides;
  }
}

/** Another model may do better, unless a person stopped the run or the conversation is too long. */
function mayFallBack({ kind }: Failure): boolean {
  return kind !== "aborted" && kind !== "too-long";
}

function isModelsFault({ kind }: Failure): boolean {
  return kind === "overloaded" || kind === "silent" || kind === "unreachable" || kind === "rate-limited";
}

function refusedOutcome(failure: Failure): Outcome {
  return { ok: false, content: [], usage: null, failure };
}

function unknownProviderFailure({ provider }: ModelChoice): Failure {
  const known = [...Object.keys(PROVIDERS), "demo"].join(", ");
  return makeFailure("unknown-model", `There is no provider "${provider}": set one of ${known} with gsv config set config/ai/provider`);
}

function missingSettingFailure(choice: ModelChoice, provider: Provider): Failure | null {
  if (choice.unusable !== undefined) return makeFailure("refused-key", choice.unusable);
  if (provider.needsKey && choice.apiKey === "") return keyFailure(choice, provider.title);
  if ((choice.baseUrl ?? provider.baseUrl) === null)
    return makeFailure("unreachable", `The URL of the model server is not set: gsv config set config/ai/base_url http://127.0.0.1:8080/v1`);
  return null;
}

function breakerOpenFailure({ model }: ModelChoice, ms: number): Failure {
  const seconds = Math.ceil(ms / 1000);
  // Not a passing failure: the breaker exists to spare the wait, and the fallback is called at once.
  return makeFailure(
    "overloaded",
    `${model} failed several times in a row and is not called for ${seconds} s: wait, or choose another model`,
  );
}

function waitTooLongOutcome(outcome: Extract<Outcome, { ok: false }>, waitMs: number): Outcome {
  const message = `${outcome.failure.message}. It asks to wait ${Math.ceil(waitMs / 1000)} s, which is longer than a run waits`;
  return { ...outcome, failure: { ...outcome.failure, message: outcome.failure.waitMs > 0 ? message : outcome.failure.message } };
}
