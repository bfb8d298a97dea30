// The Clock port in virtual time. Wakes come late and twice, as the contract allows; `Lateness` says how late.

import type { Clock } from "../../../src/ports/clock.ts";
import type { Agenda, Item } from "./agenda.ts";

/** No host wakes an actor synchronously. */
const SOONEST_MS = 1;

export type Lateness = { lateMs: () => number; twice: () => boolean };

export class MemoryClock implements Clock {
  readonly #agenda: Agenda;
  readonly #woke: () => void;
  readonly #lateness: Lateness;
  #pending: Item | undefined;

  constructor(agenda: Agenda, woke: () => void, lateness: Lateness = { lateMs: () => 0, twice: () => false }) {
    this.#agenda = agenda;
    this.#woke = woke;
    this.#lateness = lateness;
  }

  now(): number {
    return Math.floor(this.#agenda.now);
  }

  elapsed(): number {
    return this.#agenda.now;
  }

  wakeAt(ms: number): void {
    if (this.#pending !== undefined) this.#pending.dropped = true;
    // Lateness counts from `ms`, not from now: asking again for an overdue wake does not delay it further.
    const at = Math.max(ms + this.#lateness.lateMs(), this.#agenda.now + SOONEST_MS);
    this.#pending = this.#agenda.at(at, "wake", this.#woke, "kernel");
    if (this.#lateness.twice()) this.#agenda.at(at + SOONEST_MS, "wake again", this.#woke, "kernel");
  }
}
