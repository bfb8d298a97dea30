// A semaphore per key: a fixed number of holders at a time; others queue.

export class KeyedSemaphore {
  readonly #max: number;
  readonly #queues = new Map<string, { running: number; waiting: Set<() => void> }>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Resolves with the function that releases the slot; rejects with the signal's reason without taking a slot. */
  async take(key: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const queue = this.#queues.get(key) ?? { running: 0, waiting: new Set() };
    this.#queues.set(key, queue);
    if (queue.running < this.#max) queue.running++;
    else await this.#wait(queue.waiting, signal);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      const [next] = queue.waiting;
      if (next === undefined) queue.running--;
      else next();
      if (queue.running === 0) this.#queues.delete(key);
    };
  }

  /** A released slot goes directly to the next in the queue, so that nobody overtakes it. */
  #wait(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiting.delete(start);
        signal.removeEventListener("abort", onAbort);
      };
      const start = () => {
        leave();
        resolve();
      };
      const onAbort = () => {
        leave();
        reject(signal.reason as Error);
      };
      waiting.add(start);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }
}
