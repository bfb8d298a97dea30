// Time, and the one wake an actor may ask for. A wake may be late or come twice; many timers are rows in a table.

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds on a monotonic clock, to measure how long something took. */
  elapsed(): number;
  /** Replaces the wake requested before. */
  wakeAt(ms: number): void;
}
