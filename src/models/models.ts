// Every model behind the port: chooses the provider, tries again where that may help, leaves alone what keeps failing, and
// turns to the fallback in the end. One try is in attempt.ts; the demo model, which needs nobody, in demo.ts.

import { sleep } from "../lib/sleep.ts";
import type { Crypto } from "../ports/crypto.ts";
import type { ModelChoice, ModelEvent, ModelRequest, Models } from "../ports/models.ts";
import type { Net } from "../ports/net.ts";
import { attempt, type AttemptServices, type Outcome } from "./attempt.ts";
import { Breaker } from "./breaker.ts";
import { factsOf, readOverrides } from "./catalogue.ts";
import { demo } from "./demo.ts";
import { ABORTED, failure, type Failure, refusedKey } from "./failure.ts";
import { type Provider, PROVIDERS, providerOf } from "./providers.ts";
import { type ContextWindow, type WindowOverrides, Windows } from "./window.ts";
import type { WorkersAi } from "./workers-ai.ts";

export type ModelsOptions = {
  net: Net;
  crypto: Pick<Crypto, "bytes" | "uuid">;
  /** The platform's binding, on Cloudflare. */
  workersAi?: WorkersAi;
  /** The value of config/ai/catalogue, read anew for every answer. */
  catalogue?: () => string;
  limits?: Partial<typeof LIMITS>;
  now?: () => number;
};

export const LIMITS = {
  tries: 3,
  /** A try begins within this time of the first, or not at all. How long one takes is nobody's business but its own. */
  budgetMs: 180_000,
  /** The longest wait for the next byte. */
  silenceMs: 60_000,
  /** The same for servers of one's own: reading a long prompt takes minutes on a small machine. */
  localSilenceMs: 300_000,
  /** The wait before the second try; doubled for each further one. */
  backoffMs: 1_000,
};

type Ended = Outcome & { choice: ModelChoice };

export class ProviderModels implements Models {
  readonly #options: ModelsOptions;
  readonly #limits: typeof LIMITS;
  readonly #now: () => number;
  readonly #breaker = new Breaker();
  readonly #windows: Windows;

  constructor(options: ModelsOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#now = options.now ?? Date.now;
    this.#windows = new Windows(options.net, this.#now);
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const ended = yield* this.#choices(request, signal);
    const { choice, content } = ended;
    const by = choice === request.choice ? {} : { by: { provider: choice.provider, model: choice.model } };
    if (ended.ok) yield { type: "done", content, usage: ended.usage, stop: ended.stop, ...by };
    else {
      const { kind, message } = ended.failure;
      yield { type: "error", content, usage: ended.usage, error: { kind, message }, ...by };
    }
  }

  contextWindow(choice: ModelChoice, overrides: WindowOverrides): Promise<ContextWindow> {
    return this.#windows.of(choice, { catalogue: this.#overrides(), ...overrides });
  }

  async *#choices(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, Ended> {
    const startedAt = this.#now();
    const first = yield* this.#tries(request, startedAt, signal);
    const { fallback } = request;
    if (first.ok || fallback === undefined || !isForFallback(first.failure)) return { ...first, choice: request.choice };
    yield { type: "retrying", attempt: 1, waitMs: 0, why: `${first.failure.message}. Asking ${fallback.model} instead` };
    const second = yield* this.#tries({ ...request, choice: fallback }, startedAt, signal);
    return { ...second, choice: fallback };
  }

  async *#tries(request: ModelRequest, startedAt: number, signal: AbortSignal): AsyncGenerator<ModelEvent, Outcome> {
    for (let tries = 1; ; tries++) {
      const outcome = yield* this.#try(request, signal);
      if (outcome.ok || !outcome.failure.isPassing || tries === this.#limits.tries || signal.aborted) return outcome;
      // Whole, although it is jittered: whoever is told of it keeps it among times.
      const waitMs = Math.ceil(Math.max(outcome.failure.waitMs, this.#backoff(tries)));
      if (this.#now() + waitMs > startedAt + this.#limits.budgetMs) return late(outcome, waitMs);
      yield { type: "retrying", attempt: tries + 1, waitMs, why: outcome.failure.message };
      await sleep(waitMs, signal);
      if (signal.aborted) return { ok: false, content: [], usage: null, failure: ABORTED };
    }
  }

  async *#try(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, Outcome> {
    const { choice } = request;
    if (choice.provider === "demo") return yield* demo(request, signal);
    const provider = providerOf(choice.provider);
    const hindrance = provider === undefined ? unknownProvider(choice) : missing(choice, provider);
    if (provider === undefined || hindrance !== null) return refused(hindrance!);
    const key = [choice.provider, choice.baseUrl, choice.model, choice.apiKey].join(" ");
    const restMs = this.#breaker.enter(key, this.#now());
    if (restMs > 0) return refused(resting(choice, restMs));
    const facts = factsOf(choice, this.#overrides());
    let told: Outcome | null = null;
    try {
      told = yield* attempt(request, provider, facts, this.#services(provider), signal);
      return told;
    } finally {
      // Also where nobody reads on: then it was left.
      if (told?.ok) this.#breaker.succeeded(key);
      else if (told !== null && isModelsFault(told.failure)) this.#breaker.failed(key, this.#now());
      else this.#breaker.left(key);
    }
  }

  #services(provider: Provider): AttemptServices {
    return {
      net: this.#options.net,
      workersAi: this.#options.workersAi,
      newId: () => `call_${this.#options.crypto.uuid().replaceAll("-", "")}`,
      now: this.#now,
      silenceMs: provider.local === undefined ? this.#limits.silenceMs : this.#limits.localSilenceMs,
    };
  }

  /** Between half of the time and all of it, so that many who failed together do not come back together. */
  #backoff(tries: number): number {
    const [byte = 0] = this.#options.crypto.bytes(1);
    return this.#limits.backoffMs * 2 ** (tries - 1) * (0.5 + byte / 510);
  }

  #overrides() {
    return readOverrides(this.#options.catalogue?.() ?? "");
  }
}

/** Where another model may do better: not where the person stopped it, nor where the conversation has to shrink. */
function isForFallback({ kind }: Failure): boolean {
  return kind !== "aborted" && kind !== "too-long";
}

function isModelsFault({ kind }: Failure): boolean {
  return kind === "overloaded" || kind === "silent" || kind === "unreachable" || kind === "rate-limited";
}

function refused(failure: Failure): Outcome {
  return { ok: false, content: [], usage: null, failure };
}

function unknownProvider({ provider }: ModelChoice): Failure {
  const known = [...Object.keys(PROVIDERS), "demo"].join(", ");
  return failure("unknown-model", `There is no provider "${provider}": set one of ${known} with gsv config set config/ai/provider`);
}

function missing(choice: ModelChoice, provider: Provider): Failure | null {
  if (choice.unusable !== undefined) return failure("refused-key", choice.unusable);
  if (provider.needsKey && choice.apiKey === "") return refusedKey(choice, provider.title);
  if ((choice.baseUrl ?? provider.baseUrl) === null)
    return failure("unreachable", `Where the model server is must be set: gsv config set config/ai/base_url http://127.0.0.1:8080/v1`);
  return null;
}

function resting({ model }: ModelChoice, ms: number): Failure {
  const seconds = Math.ceil(ms / 1000);
  // Not passing: the wait is what the rest is there to spare, and the fallback is asked at once.
  return failure("overloaded", `${model} failed several times in a row and is left alone for ${seconds} s: wait, or choose another model`);
}

function late(outcome: Extract<Outcome, { ok: false }>, waitMs: number): Outcome {
  const message = `${outcome.failure.message}. It asks for a wait of ${Math.ceil(waitMs / 1000)} s, longer than a run waits`;
  return { ...outcome, failure: { ...outcome.failure, message: outcome.failure.waitMs > 0 ? message : outcome.failure.message } };
}
