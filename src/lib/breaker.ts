// A circuit breaker: a server that failed several times in a row gets no calls for a while, so that a hundred runs do not each
// wait for it. Then one call may probe it; the others follow when the probe succeeds.

const FAILURE_THRESHOLD = 5;
/** The oldest entries are dropped beyond this many. */
const KEYS_MAX = 1000;

type State = { failures: number; restUntil: number; isProbing: boolean };

export class Breaker {
  readonly #states = new Map<string, State>();
  readonly #restMs: number;

  constructor(restMs: number) {
    this.#restMs = restMs;
  }

  /** How long a call must wait before it may start; 0 if it may start now. A call that starts must report its end. */
  startOrGetWaitMs(key: string, now: number): number {
    const state = this.#states.get(key);
    if (state === undefined || state.failures < FAILURE_THRESHOLD) return 0;
    if (now < state.restUntil) return state.restUntil - now;
    if (state.isProbing) return 1000;
    state.isProbing = true;
    return 0;
  }

  recordSuccess(key: string): void {
    this.#states.delete(key);
  }

  recordFailure(key: string, now: number): void {
    const state = this.#states.get(key) ?? { failures: 0, restUntil: 0, isProbing: false };
    state.failures++;
    state.isProbing = false;
    if (state.failures >= FAILURE_THRESHOLD) state.restUntil = now + this.#restMs;
    this.#states.delete(key);
    this.#states.set(key, state);
    if (this.#states.size > KEYS_MAX) this.#states.delete(this.#states.keys().next().value ?? "");
  }

  /** Releases the probe of a call that says nothing about the server: it was stopped, or the request was at fault. */
  releaseProbe(key: string): void {
    const state = this.#states.get(key);
    if (state !== undefined) state.isProbing = false;
  }
}
