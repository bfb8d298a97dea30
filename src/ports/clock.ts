// Time, and the one wake an actor may ask for. A wake may come late or twice; many timers are rows in a table.

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since some moment, by a clock that is never set: for how long something took. */
  elapsed(): number;
  /** Replaces the wake asked for before. */
  wakeAt(ms: number): void;
}
