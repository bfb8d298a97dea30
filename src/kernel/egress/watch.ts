// Combines everything that ends a request early: the caller, the timeout, or a failure while the body is read. All of them abort one
// signal whose reason is a NetError, and all code that handles the request listens only to that signal.

import { NetError } from "../../ports/net.ts";

/** Calls `fire` once after `ms` milliseconds, unless the returned function is called before. */
export type Timer = (ms: number, fire: () => void) => () => void;

export class Deadline {
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal | undefined;
  readonly #stopTimer: () => void;
  #isOver = false;
  readonly #onParentAbort = () => {
    const reason: unknown = this.#parent?.reason;
    this.fail(reason instanceof NetError ? reason : new NetError("aborted", "The request was cancelled", reason));
  };

  constructor(timer: Timer, ms: number, timeoutError: () => NetError, parent: AbortSignal | undefined) {
    this.#parent = parent;
    this.#stopTimer = timer(ms, () => this.fail(timeoutError()));
    if (parent?.aborted) this.#onParentAbort();
    else parent?.addEventListener("abort", this.#onParentAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Does nothing after the end: later failures no longer matter. */
  fail(error: NetError): void {
    if (this.#isOver) return;
    this.end();
    this.#controller.abort(error);
  }

  end(): void {
    this.#isOver = true;
    this.#stopTimer();
    this.#parent?.removeEventListener("abort", this.#onParentAbort);
  }
}
