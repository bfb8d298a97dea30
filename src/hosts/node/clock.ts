// The Clock port: wall time, and one timer. Due times are in the kernel's tables, so after a restart the kernel asks for a wake
// again.

import type { Clock } from "../../ports/clock.ts";

/** setTimeout cannot wait longer. On such an early wake the kernel finds nothing due and asks again. */
const WAIT_MS_MAX = 2 ** 31 - 1;

export class NodeClock implements Clock {
  #wake: (() => void) | null = null;
  #dueAt: number | null = null;
  #timer: NodeJS.Timeout | undefined;

  /** Starts to deliver wakes. Timers that came due while the gateway was down would otherwise fire before the kernel exists. */
  start(wake: () => void): void {
    this.#wake = wake;
    if (this.#dueAt !== null) this.wakeAt(this.#dueAt);
  }

  now(): number {
    return Date.now();
  }

  elapsed(): number {
    return performance.now();
  }

  wakeAt(ms: number): void {
    this.stop();
    this.#dueAt = ms;
    if (this.#wake !== null) this.#timer = setTimeout(this.#wake, Math.min(Math.max(0, ms - Date.now()), WAIT_MS_MAX));
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
