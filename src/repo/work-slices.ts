// Splits long work into slices and yields to the event loop between them, because others share the thread.

import { yieldToEventLoop } from "../lib/yield.ts";

export class WorkSlices {
  readonly #unitsPerSlice: number;
  #units = 0;

  constructor(unitsPerSlice: number) {
    this.#unitsPerSlice = unitsPerSlice;
  }

  /** Counts the work done; true when the caller should `pause`. */
  addWork(units: number = 1): boolean {
    this.#units += units;
    if (this.#units < this.#unitsPerSlice) return false;
    this.#units = 0;
    return true;
  }

  pause(): Promise<void> {
    return yieldToEventLoop();
  }
}
