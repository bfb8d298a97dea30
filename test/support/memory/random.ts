// Seeded randomness: the only source of chance in a simulated world. The same seed gives the same sequence on every machine, so
// nothing here may use a clock or Math.random.

export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: string) {
    let hash = 0x811c9dc5;
    for (const character of seed) hash = Math.imul(hash ^ character.codePointAt(0)!, 0x01000193) >>> 0;
    this.#a = hash;
    this.#b = hash ^ 0x9e3779b9;
    this.#c = hash ^ 0x243f6a88;
    for (let i = 0; i < 12; i++) this.#next();
  }

  /** At least 0, below 1. */
  unit(): number {
    return this.#next() / 2 ** 32;
  }

  /** An integer from low to high, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.unit() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.unit() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.between(0, items.length - 1)]!;
  }

  shuffled<T>(items: readonly T[]): T[] {
    const copy = [...items];
    for (let i = copy.length - 1; i > 0; i--) {
      const j = this.between(0, i);
      [copy[i], copy[j]] = [copy[j]!, copy[i]!];
    }
    return copy;
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.#next() & 255);
  }

  /** sfc32. */
  #next(): number {
    const t = (((this.#a + this.#b) >>> 0) + this.#counter) >>> 0;
    this.#counter = (this.#counter + 1) >>> 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) >>> 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + t) >>> 0;
    return t;
  }
}
