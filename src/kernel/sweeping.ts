// Removes what has outlived its use: an hour after something was done, and after that once a day at most, as long as there is
// something that will have outlived its use by then. So a gateway that nobody uses is not woken for it. What goes when is for
// the nouns to say.

import type { Timers } from "./nouns/timers.ts";

/** `prune` is false where there is more of it, for which others wait no longer. */
export type Prunable = { prune(now: number): boolean | void; nextPruneAt(): number | null };

type Means = {
  timers: Timers;
  /** The first of them may take several steps. */
  nouns: readonly [Prunable, ...Prunable[]];
  /** Of tokens that are connected: how long ago they came in says nothing of their use. */
  hasTokens: () => boolean;
  /** What is done besides, after the transaction. */
  swept: (now: number) => void;
  relaxed: (body: () => void) => void;
  now: () => number;
  wakeBy: (dueAt: number) => void;
};

const KIND = "sweep";
const SOON_MS = 60 * 60 * 1000;
const LATER_MS = 24 * SOON_MS;
/** Until the next step of a sweep that is not done: others have their turn in between. */
const STEP_MS = 100;

export class Sweeping {
  readonly #means: Means;
  /** Until then one is due soon enough, whatever is done. */
  #soonUntil = 0;

  constructor(means: Means) {
    this.#means = means;
  }

  /** Inside a transaction. A start for the sweep itself finds it due, and so is no reason for the next one. */
  begin(): void {
    const { timers, now } = this.#means;
    if (timers.dueAt(KIND, "") === null) timers.arm(KIND, "", now() + SOON_MS);
  }

  /** Something is done, so there may be something to sweep soon. */
  touched(): void {
    const { timers, relaxed, now, wakeBy } = this.#means;
    if (now() < this.#soonUntil) return;
    const dueAt = (this.#soonUntil = now() + SOON_MS);
    if ((timers.dueAt(KIND, "") ?? Infinity) <= dueAt) return;
    relaxed(() => timers.arm(KIND, "", dueAt));
    wakeBy(dueAt);
  }

  /** Inside the transaction in which its timer was taken. */
  fire(kind: string, now: number): void {
    if (kind !== KIND) return;
    const { timers, nouns, swept } = this.#means;
    const [first, ...others] = nouns;
    if (first.prune(now) === false) return timers.arm(KIND, "", now + STEP_MS);
    for (const noun of others) noun.prune(now);
    this.#soonUntil = 0;
    const nextAt = this.#nextAt(now);
    if (nextAt !== null) timers.arm(KIND, "", nextAt);
    swept(now);
  }

  #nextAt(now: number): number | null {
    const { nouns, hasTokens } = this.#means;
    const due = nouns.map((noun) => noun.nextPruneAt()).filter((at) => at !== null);
    if (hasTokens()) due.push(now);
    return due.length === 0 ? null : Math.max(now + LATER_MS, Math.min(...due));
  }
}
