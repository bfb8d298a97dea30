// A model that failed several times in a row is left alone for a while, so that a hundred runs do not each wait for it.
// Then one call may try; the others follow when it went well.

const FAILURES = 5;
const REST_MS = 30_000;
/** Whoever uses more models than this at a time does without memory of the oldest. */
const KEPT = 1000;

type State = { failures: number; restUntil: number; isProbed: boolean };

export class Breaker {
  readonly #states = new Map<string, State>();

  /** How long a call has to wait before it may try; 0 where it may now. Who may must tell the end. */
  enter(key: string, now: number): number {
    const state = this.#states.get(key);
    if (state === undefined || state.failures < FAILURES) return 0;
    if (now < state.restUntil) return state.restUntil - now;
    if (state.isProbed) return 1000;
    state.isProbed = true;
    return 0;
  }

  succeeded(key: string): void {
    this.#states.delete(key);
  }

  failed(key: string, now: number): void {
    const state = this.#states.get(key) ?? { failures: 0, restUntil: 0, isProbed: false };
    state.failures++;
    state.isProbed = false;
    if (state.failures >= FAILURES) state.restUntil = now + REST_MS;
    this.#states.delete(key);
    this.#states.set(key, state);
    if (this.#states.size > KEPT) this.#states.delete(this.#states.keys().next().value ?? "");
  }

  /** It ended without telling anything about the model: it was stopped, or the request was at fault. */
  left(key: string): void {
    const state = this.#states.get(key);
    if (state !== undefined) state.isProbed = false;
  }
}
