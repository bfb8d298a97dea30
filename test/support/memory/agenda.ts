// Virtual time: a list of what will happen, and when. Nothing happens by itself; the driver of the world takes the next item.
// Items in the kernel's memory are owned by "kernel", so that a crash can drop them all at once.

import type { Random } from "./random.ts";

export type Owner = "kernel" | "world";

export type Item = { at: number; rank: number; what: string; owner: Owner; run: () => void; dropped: boolean };

export class Agenda {
  readonly #random: Random;
  #items: Item[] = [];
  #now: number;

  constructor(random: Random, startMs: number) {
    this.#random = random;
    this.#now = startMs;
  }

  /** With fractions, so that items in one millisecond still have an order. Clocks show whole milliseconds. */
  get now(): number {
    return this.#now;
  }

  /** The seed decides the order of items at the same moment. */
  at(ms: number, what: string, run: () => void, owner: Owner = "world"): Item {
    const item = { at: Math.max(ms, this.#now), rank: this.#random.unit(), what, owner, run, dropped: false };
    this.#items.push(item);
    return item;
  }

  after(ms: number, what: string, run: () => void, owner: Owner = "world"): Item {
    return this.at(this.#now + ms, what, run, owner);
  }

  drop(owner: Owner): void {
    for (const item of this.#items) if (item.owner === owner) item.dropped = true;
  }

  has(what: string): boolean {
    return this.#items.some((item) => !item.dropped && item.what === what);
  }

  /** The next item not later than `until`, with the clock moved to it. */
  take(until: number): Item | undefined {
    this.#items = this.#items.filter((item) => !item.dropped);
    let best: Item | undefined;
    for (const item of this.#items)
      if (best === undefined || item.at < best.at || (item.at === best.at && item.rank < best.rank)) best = item;
    if (best === undefined || best.at > until) {
      this.#now = Math.max(this.#now, until);
      return undefined;
    }
    this.#items.splice(this.#items.indexOf(best), 1);
    this.#now = best.at;
    return best;
  }
}
