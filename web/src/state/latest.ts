// The newest value of something that is read from the gateway. Never two reads at once: one that is asked for while another
// is under way comes after it, so what was read last is what is shown. A value stays while it is read anew, and while that
// fails.

import { type ReadonlySignal, signal } from "@preact/signals";

export class Latest<T> {
  readonly #read: () => Promise<T>;
  readonly #say: (error: unknown) => string;
  readonly #value = signal<T | null>(null);
  readonly #problem = signal<string | null>(null);
  readonly #reading = signal(false);
  #isStale = false;
  /** A change was shown since the read under way began, so what that one brings may be older. */
  #isOvertaken = false;
  #under: Promise<void> | null = null;

  /** `say` makes a sentence of a failure. */
  constructor(read: () => Promise<T>, say: (error: unknown) => string) {
    this.#read = read;
    this.#say = say;
  }

  /** Null until the first has come. */
  get value(): ReadonlySignal<T | null> {
    return this.#value;
  }

  /** Why the last read failed, until one succeeds. */
  get problem(): ReadonlySignal<string | null> {
    return this.#problem;
  }

  get reading(): ReadonlySignal<boolean> {
    return this.#reading;
  }

  /** Resolves when a read that began after this was called has ended. */
  refetch(): Promise<void> {
    this.#isStale = true;
    this.#under ??= this.#readUntilFresh().finally(() => {
      this.#under = null;
    });
    return this.#under;
  }

  /** Shows a change at once whose answer already told how things stand; a read that was under way is done again. */
  set(change: (value: T) => T): void {
    const value = this.#value.peek();
    if (value === null) return;
    this.#value.value = change(value);
    if (this.#under === null) return;
    this.#isStale = true;
    this.#isOvertaken = true;
  }

  async #readUntilFresh(): Promise<void> {
    this.#reading.value = true;
    while (this.#isStale) {
      this.#isStale = false;
      this.#isOvertaken = false;
      try {
        const value = await this.#read();
        if (!this.#isOvertaken) this.#value.value = value;
        this.#problem.value = null;
      } catch (error) {
        this.#problem.value = this.#say(error);
      }
    }
    this.#reading.value = false;
  }
}
