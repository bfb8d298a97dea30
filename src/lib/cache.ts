// A map with a limit, for values that can be made again. When it is full it is emptied: that needs no order of use, and what is needed
// soon comes back.

export class Cache<K, V extends {} | null> {
  readonly #entries = new Map<K, V>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  find(key: K): V | undefined {
    return this.#entries.get(key);
  }

  /** The value of the key; makes it if it is not known. */
  get(key: K, make: () => V): V {
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const made = make();
    this.set(key, made);
    return made;
  }

  set(key: K, value: V): void {
    if (this.#entries.size >= this.#max && !this.#entries.has(key)) this.#entries.clear();
    this.#entries.set(key, value);
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }
}
