// The Clock port: wall time, and one timer. Due times live in the kernel's tables, so a restart asks for it again.

import type { Clock } from "../../ports/clock.ts";

/** setTimeout cannot wait longer. The kernel finds nothing due and asks again. */
const WAIT_MS_MAX = 2 ** 31 - 1;

export class NodeClock implements Clock {
  #woke: (() => void) | null = null;
  #dueAt: number | null = null;
  #timer: NodeJS.Timeout | undefined;

  /** From now on. What was due while the gateway was down is due before there is anybody to wake. */
  start(woke: () => void): void {
    this.#woke = woke;
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
    if (this.#woke !== null) this.#timer = setTimeout(this.#woke, Math.min(Math.max(0, ms - Date.now()), WAIT_MS_MAX));
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
