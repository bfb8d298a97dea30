// Decides when a peer is gone: it was silent for too long and missed two pings in a row that it could have answered. If this side
// was suspended (a busy machine, a sleeping laptop), frames that arrived meanwhile are unread, so its earlier pings do not count.

export const PING_EVERY_MS = 5_000;
const UNANSWERED_MAX = 2;
const LATE_MS = PING_EVERY_MS / 2;

export type PingState = { heardAt: number; pingedAt: number; unanswered: number };

export class PingRounds {
  #lastAt: number;

  constructor(now: number) {
    this.#lastAt = now;
  }

  /** Begins a round; true if this side stood still since the last one. */
  startRound(now: number): boolean {
    const isLate = now - this.#lastAt > PING_EVERY_MS + LATE_MS;
    this.#lastAt = now;
    return isLate;
  }
}

/** Call once per round, before the next ping. */
export function updateAndCheckGone(peer: PingState, now: number, silenceMs: number, stoodStill: boolean): boolean {
  if (stoodStill || peer.heardAt >= peer.pingedAt) peer.unanswered = 0;
  else peer.unanswered++;
  return peer.unanswered >= UNANSWERED_MAX && now - peer.heardAt > silenceMs;
}
