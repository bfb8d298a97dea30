// The Clock port in virtual time. Wakes come late and twice, as the contract allows; how late is up to the world.

import type { Clock } from "../../../src/ports/clock.ts";
import type { Agenda, Item } from "./agenda.ts";

/** No host wakes an actor in the very moment it asks. */
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
    // Late by the moment that was asked for first: asking again for what is overdue does not make it later still.
    const at = Math.max(ms + this.#lateness.lateMs(), this.#agenda.now + SOONEST_MS);
    this.#pending = this.#agenda.at(at, "wake", this.#woke, "kernel");
    if (this.#lateness.twice()) this.#agenda.at(at + SOONEST_MS, "wake again", this.#woke, "kernel");
  }
}
