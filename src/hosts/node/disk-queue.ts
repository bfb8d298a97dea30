// The order in which files of processes are opened and synced. Each of that keeps the gateway's thread waiting for the disk, so
// there is one in every turn of the event loop, and owners take turns: one whose many processes write all the time delays their own.

export class DiskQueue {
  /** By owner; whose turn is next is first. */
  readonly #waiting = new Map<number, (() => void)[]>();
  #isScheduled = false;

  add(owner: number, work: () => void): void {
    const waiting = this.#waiting.get(owner);
    if (waiting === undefined) this.#waiting.set(owner, [work]);
    else waiting.push(work);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      try {
        this.#next();
      } finally {
        this.#schedule();
      }
    });
  }

  #next(): void {
    const [owner, waiting] = this.#waiting.entries().next().value!;
    const work = waiting.shift()!;
    this.#waiting.delete(owner);
    if (waiting.length > 0) this.#waiting.set(owner, waiting);
    work();
  }
}
