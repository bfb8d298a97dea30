// Lets an answer through one event at a time, when the test says so: a slow model whose speed no loaded machine changes.

import { type Deferred, deferred } from "../../../src/lib/deferred.ts";

export class Pace {
  #allowed: number;
  #waiting: Deferred | null = null;

  /** How many events go before the test has said anything. */
  constructor(allowed = 0) {
    this.#allowed = allowed;
  }

  /** Lets so many more through; `Infinity` for the rest of it. */
  allow(count = 1): void {
    this.#allowed += count;
    this.#waiting?.resolve();
    this.#waiting = null;
  }

  /** Resolves when the next event may go. */
  async next(): Promise<void> {
    while (this.#allowed === 0) {
      this.#waiting ??= deferred();
      await this.#waiting.promise;
    }
    this.#allowed -= 1;
  }
}
