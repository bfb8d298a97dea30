// Long work done in stints, so that whoever shares the thread has a turn in between.

import { yieldToEventLoop } from "../lib/yield.ts";

export class Stints {
  readonly #unitsPerTurn: number;
  #units = 0;

  constructor(unitsPerTurn: number) {
    this.#unitsPerTurn = unitsPerTurn;
  }

  /** Counts what was done; true when it is time to `pause`. */
  isOver(units: number = 1): boolean {
    this.#units += units;
    if (this.#units < this.#unitsPerTurn) return false;
    this.#units = 0;
    return true;
  }

  pause(): Promise<void> {
    return yieldToEventLoop();
  }
}
