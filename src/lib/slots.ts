// Runs at most a number of tasks at a time; the others wait in order.

export class Slots {
  #free: number;
  readonly #count: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#count = count;
    this.#free = count;
  }

  get isIdle(): boolean {
    return this.#free === this.#count;
  }

  /** Rejects if the signal is aborted before the task has begun. */
  async run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await this.#wait(signal);
    try {
      return await task();
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#free++;
      else next();
    }
  }

  #wait(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(begin);
        reject(new Error("Aborted while it waited"));
      };
      const begin = () => {
        this.#waiting.delete(begin);
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      if (signal?.aborted === true) return leave();
      signal?.addEventListener("abort", leave, { once: true });
      this.#waiting.add(begin);
    });
  }
}
