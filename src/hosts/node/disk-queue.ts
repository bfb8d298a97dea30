// The order in which files of processes are opened. Each opening blocks the gateway's thread on the disk, so only one happens per turn
// of the event loop. Owners alternate: one who wakes many processes at once delays only their own.

export class DiskQueue {
  /** By owner; the next owner to be served is first. */
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
        this.#runNext();
      } finally {
        this.#schedule();
      }
    });
  }

  #runNext(): void {
    const [owner, waiting] = this.#waiting.entries().next().value!;
    const work = waiting.shift()!;
    this.#waiting.delete(owner);
    if (waiting.length > 0) this.#waiting.set(owner, waiting);
    work();
  }
}
