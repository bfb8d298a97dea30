// The order in which files of processes are synced. Each sync keeps the gateway's thread waiting for the disk, so there is one in
// every turn of the event loop, and owners take turns: one whose many processes write all the time delays their own.

export class CommitTurns {
  /** By owner; whose turn is next is first. */
  readonly #waiting = new Map<number, (() => void)[]>();
  #isScheduled = false;

  add(owner: number, commit: () => void): void {
    const waiting = this.#waiting.get(owner);
    if (waiting === undefined) this.#waiting.set(owner, [commit]);
    else waiting.push(commit);
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
    const commit = waiting.shift()!;
    this.#waiting.delete(owner);
    if (waiting.length > 0) this.#waiting.set(owner, waiting);
    commit();
  }
}
