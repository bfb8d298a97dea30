// The Clock port: wall time, and the object's one alarm, which outlives its memory.

import type { Clock } from "../../ports/clock.ts";

export class CloudflareClock implements Clock {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  now(): number {
    return Date.now();
  }

  elapsed(): number {
    return performance.now();
  }

  wakeAt(ms: number): void {
    // Written like any row: if it fails, the platform restarts the object, and its kernel asks again.
    void this.#storage.setAlarm(ms);
  }
}
