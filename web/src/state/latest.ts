// The newest value of something that is read from the gateway. Reads never overlap: one requested during another runs after it,
// so the value shown is the one read last. The value stays while it is refetched, also if that fails.

import { type ReadonlySignal, signal } from "@preact/signals";

export class Latest<T> {
  readonly #read: () => Promise<T>;
  readonly #describeError: (error: unknown) => string;
  readonly #value = signal<T | null>(null);
  readonly #problem = signal<string | null>(null);
  readonly #isReading = signal(false);
  #isStale = false;
  /** `update` changed the value after the running read started, so the result of that read may be older. */
  #isSuperseded = false;
  #running: Promise<void> | null = null;

  /** `describeError` makes the text of `problem`. */
  constructor(read: () => Promise<T>, say: (error: unknown) => string) {
    this.#read = read;
    this.#describeError = say;
  }

  /** Null until the first read succeeds. */
  get value(): ReadonlySignal<T | null> {
    return this.#value;
  }

  /** Why the last read failed; null after a success. */
  get problem(): ReadonlySignal<string | null> {
    return this.#problem;
  }

  get isReading(): ReadonlySignal<boolean> {
    return this.#isReading;
  }

  /** Resolves when a read that started after this call has ended. */
  refetch(): Promise<void> {
    this.#isStale = true;
    this.#running ??= this.#readUntilFresh().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  /** Applies a change whose result is already known. A running read is repeated. */
  update(change: (value: T) => T): void {
    const value = this.#value.peek();
    if (value === null) return;
    this.#value.value = change(value);
    if (this.#running === null) return;
    this.#isStale = true;
    this.#isSuperseded = true;
  }

  async #readUntilFresh(): Promise<void> {
    this.#isReading.value = true;
    while (this.#isStale) {
      this.#isStale = false;
      this.#isSuperseded = false;
      try {
        const value = await this.#read();
        if (!this.#isSuperseded) this.#value.value = value;
        this.#problem.value = null;
      } catch (error) {
        this.#problem.value = this.#describeError(error);
      }
    }
    this.#isReading.value = false;
  }
}
