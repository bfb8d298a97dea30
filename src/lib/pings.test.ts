import { expect, it } from "vitest";
import { updateAndCheckGone, PING_EVERY_MS, type PingState, PingRounds } from "./pings.ts";

const SILENCE_MS = 15_000;

/** Runs rounds at these times, each with a ping, and returns when the peer counts as gone. */
function goneAt(times: readonly number[], peer: PingState, answer: (peer: PingState, now: number) => void = () => {}): number | null {
  const rounds = new PingRounds(0);
  for (const now of times) {
    const stoodStill = rounds.startRound(now);
    if (updateAndCheckGone(peer, now, SILENCE_MS, stoodStill)) return now;
    peer.pingedAt = now;
    answer(peer, now);
  }
  return null;
}

const every = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at * PING_EVERY_MS);
const fresh = (): PingState => ({ heardAt: 0, pingedAt: 0, unanswered: 0 });

it("a silent peer is gone", () => {
  expect(goneAt(every(5_000, 10), fresh())).toBe(20_000);
});

it("a peer that answers late every time is not gone", () => {
  expect(goneAt(every(5_000, 50), fresh(), (peer, now) => (peer.heardAt = now + 4_999))).toBeNull();
});

it("after a standstill of this side a silent peer gets two more pings", () => {
  const times = [5_000, 70_000, 75_000, 80_000, 85_000];
  expect(goneAt(times, fresh())).toBe(80_000);
  expect(goneAt(times, fresh(), (peer, now) => (peer.heardAt = now >= 75_000 ? now : 0))).toBeNull();
});

it("a peer is not gone while this side stands still repeatedly", () => {
  const times = Array.from({ length: 20 }, (_, at) => (at + 1) * 12_000);
  expect(goneAt(times, fresh())).toBeNull();
});
