// Long work done in turns, so that whoever shares the thread gets theirs.

import { breath } from "../lib/breath.ts";

export class Turns {
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
    return breath();
  }
}
