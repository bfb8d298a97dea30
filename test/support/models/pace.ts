// Lets an answer through one event at a time, when the test says so: a slow model whose speed does not depend on the machine's load.

import { type Deferred, deferred } from "../../../src/lib/deferred.ts";

export class Pace {
  #allowed: number;
  #waiting: Deferred | null = null;

  /** `allowed` events pass without a call of `allow`. */
  constructor(allowed = 0) {
    this.#allowed = allowed;
  }

  /** Lets `count` more events through; `Infinity` for all the rest. */
  allow(count = 1): void {
    this.#allowed += count;
    this.#waiting?.resolve();
    this.#waiting = null;
  }

  /** Resolves when the next event may pass. */
  async next(): Promise<void> {
    while (this.#allowed === 0) {
      this.#waiting ??= deferred();
      await this.#waiting.promise;
    }
    this.#allowed -= 1;
  }
}
