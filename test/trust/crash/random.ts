// Seeded randomness: the same seed makes the same choices.

export class Random {
  readonly #seed: number;
  #state: number;

  constructor(seed: number) {
    this.#seed = seed >>> 0;
    this.#state = this.#seed;
  }

  /** An independent stream, so that how much one lane draws does not change what another gets. */
  fork(...labels: number[]): Random {
    return new Random(labels.reduce((hash, label) => Math.imul(hash ^ (label + 0x9e3779b9), 0x85ebca6b) ^ (hash >>> 13), this.#seed));
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Both ends included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(from: readonly T[]): T | undefined {
    return from[Math.floor(this.next() * from.length)];
  }

  /** Up to `count` different ones. */
  sample<T>(from: readonly T[], count: number): T[] {
    const left = [...from];
    const taken: T[] = [];
    while (taken.length < count && left.length > 0) taken.push(left.splice(Math.floor(this.next() * left.length), 1)[0]!);
    return taken;
  }
}
