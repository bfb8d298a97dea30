// What ends a request early: the caller, its time, or a failure found while the body is read. All of them abort one signal
// whose reason is a NetError, and whoever works for the request listens to that signal alone.

import { NetError } from "../../ports/net.ts";

/** Calls `fire` once after that many milliseconds, unless the function it returns was called before. */
export type Timer = (ms: number, fire: () => void) => () => void;

export class Watch {
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal | undefined;
  readonly #stopTimer: () => void;
  #isOver = false;
  readonly #parentAborted = () => {
    const reason: unknown = this.#parent?.reason;
    this.fail(reason instanceof NetError ? reason : new NetError("aborted", "The request was cancelled", reason));
  };

  constructor(timer: Timer, ms: number, late: () => NetError, parent: AbortSignal | undefined) {
    this.#parent = parent;
    this.#stopTimer = timer(ms, () => this.fail(late()));
    if (parent?.aborted) this.#parentAborted();
    else parent?.addEventListener("abort", this.#parentAborted, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Does nothing after the end: what fails then no longer matters to anybody. */
  fail(error: NetError): void {
    if (this.#isOver) return;
    this.end();
    this.#controller.abort(error);
  }

  end(): void {
    this.#isOver = true;
    this.#stopTimer();
    this.#parent?.removeEventListener("abort", this.#parentAborted);
  }
}
