// A mutex per key: concurrent appends that start from the same content would overwrite each other.

export class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>();

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const own = before.then(work);
    const settled = own.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(key, settled);
    try {
      return await own;
    } finally {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    }
  }
}
