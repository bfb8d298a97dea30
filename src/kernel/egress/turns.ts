// So many at a time per key; the rest wait in line.

export class Turns {
  readonly #most: number;
  readonly #lines = new Map<string, { running: number; waiting: Set<() => void> }>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Resolves with the function that gives the turn back; rejects with the signal's reason, and then nothing was taken. */
  async take(key: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const line = this.#lines.get(key) ?? { running: 0, waiting: new Set() };
    this.#lines.set(key, line);
    if (line.running < this.#most) line.running++;
    else await this.#wait(line.waiting, signal);
    let isBack = false;
    return () => {
      if (isBack) return;
      isBack = true;
      const [next] = line.waiting;
      if (next === undefined) line.running--;
      else next();
      if (line.running === 0) this.#lines.delete(key);
    };
  }

  /** The turn is handed on, never free in between, so nobody overtakes the line. */
  #wait(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiting.delete(go);
        signal.removeEventListener("abort", aborted);
      };
      const go = () => {
        leave();
        resolve();
      };
      const aborted = () => {
        leave();
        reject(signal.reason as Error);
      };
      waiting.add(go);
      signal.addEventListener("abort", aborted, { once: true });
    });
  }
}
