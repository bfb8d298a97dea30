// The Clock port: wall time, and one timer. Due times are in the kernel's tables, so after a restart the kernel asks for a wake
// again. A timer does not run while the machine sleeps, and does not notice when the clock is set, so a long wait is looked at again
// and again.

import type { Clock } from "../../ports/clock.ts";

/** How long a wake may be late after the machine has slept or its clock was set. */
const LOOK_MS = 15_000;
/** The clock was set, rather than corrected a little. */
const JUMP_MS = 1_000;

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
    if (this.#wake !== null) this.#wait(ms, this.#wake);
  }

  #wait(dueAt: number, wake: () => void): void {
    const before = this.#skew();
    const look = (): void => {
      // The kernel must notice a clock that was set back, too: what it waits for is then further away than it should be.
      if (Date.now() >= dueAt || Math.abs(this.#skew() - before) >= JUMP_MS) wake();
      else this.#wait(dueAt, wake);
    };
    this.#timer = setTimeout(look, Math.min(Math.max(0, dueAt - Date.now()), LOOK_MS));
  }

  /** Changes when the clock is set, and while the machine sleeps. */
  #skew(): number {
    return Date.now() - performance.now();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
