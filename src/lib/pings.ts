// When to take a peer for gone: it was silent for too long, and did not answer two pings in a row that it could have
// answered. A side that stood still itself (a busy machine, a laptop that slept) has heard nothing either, and what came
// meanwhile lies unread: its pings from before do not count.

export const PING_EVERY_MS = 5_000;
const UNANSWERED_MAX = 2;
const LATE_MS = PING_EVERY_MS / 2;

export type Pinged = { heardAt: number; pingedAt: number; unanswered: number };

export class PingRounds {
  #lastAt: number;

  constructor(now: number) {
    this.#lastAt = now;
  }

  /** Begins a round; true where this side stood still since the last one. */
  next(now: number): boolean {
    const isLate = now - this.#lastAt > PING_EVERY_MS + LATE_MS;
    this.#lastAt = now;
    return isLate;
  }
}

/** To be asked once in each round, before the next ping. */
export function isGone(peer: Pinged, now: number, silenceMs: number, stoodStill: boolean): boolean {
  if (stoodStill || peer.heardAt >= peer.pingedAt) peer.unanswered = 0;
  else peer.unanswered++;
  return peer.unanswered >= UNANSWERED_MAX && now - peer.heardAt > silenceMs;
}
