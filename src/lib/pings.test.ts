import { expect, it } from "vitest";
import { isGone, PING_EVERY_MS, type Pinged, PingRounds } from "./pings.ts";

const SILENCE_MS = 15_000;

/** Rounds at these times, each with its ping; the time at which the peer is given up. */
function givenUpAt(times: readonly number[], peer: Pinged, hear: (peer: Pinged, now: number) => void = () => {}): number | null {
  const rounds = new PingRounds(0);
  for (const now of times) {
    const stoodStill = rounds.next(now);
    if (isGone(peer, now, SILENCE_MS, stoodStill)) return now;
    peer.pingedAt = now;
    hear(peer, now);
  }
  return null;
}

const every = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at * PING_EVERY_MS);
const fresh = (): Pinged => ({ heardAt: 0, pingedAt: 0, unanswered: 0 });

it("gives up a peer that is silent", () => {
  expect(givenUpAt(every(5_000, 10), fresh())).toBe(20_000);
});

it("keeps one that answers, however late each time", () => {
  expect(givenUpAt(every(5_000, 50), fresh(), (peer, now) => (peer.heardAt = now + 4_999))).toBeNull();
});

it("gives one it has not heard because it stood still two pings more", () => {
  const times = [5_000, 70_000, 75_000, 80_000, 85_000];
  expect(givenUpAt(times, fresh())).toBe(80_000);
  expect(givenUpAt(times, fresh(), (peer, now) => (peer.heardAt = now >= 75_000 ? now : 0))).toBeNull();
});

it("does not give up where it stands still again and again", () => {
  const times = Array.from({ length: 20 }, (_, at) => (at + 1) * 12_000);
  expect(givenUpAt(times, fresh())).toBeNull();
});
