// Frames of peers that exceed their share or do not read their answers.

import { expect, test } from "vitest";
import { yieldToEventLoop } from "../../lib/yield.ts";
import { FrameFlow } from "./frame-flow.ts";
import { Shares } from "./shares.ts";

/** `hasOthers`: another user makes a request whenever time passes. */
function world(hasOthers = false) {
  let now = 0;
  const handled: string[] = [];
  const full = new Set<string>();
  const paused = new Set<string>();
  const sockets = ["a", "a2", "a3", "a4", "b"];
  const shares: Shares = new Shares({
    now: () => now,
    pause: async (ms) => {
      now += ms;
      if (hasOthers) shares.runOrQueue(2, () => {});
      await yieldToEventLoop();
    },
    onError: (error) => expect.unreachable(String(error)),
  });
  const peersSockets = {
    isFull: (socketId: string) => full.has(socketId),
    setPaused: (socketId: string, isPaused: boolean) => void (isPaused ? paused.add(socketId) : paused.delete(socketId)),
  };
  const flow: FrameFlow = new FrameFlow(shares, peersSockets, {
    sharerOf: (socketId) => socketId.charAt(0),
    socketsOf: (sharer) => sockets.filter((socketId) => socketId.startsWith(String(sharer))),
    handleFrame: (socketId, text) => {
      now += 4;
      handled.push(`${socketId} ${text.slice(0, 20)}`);
    },
  });
  return { flow, handled, full, paused, shares, now: () => now };
}

test("handles frames of a peer in order, with another peer's frame in between", async () => {
  const { flow, handled } = world();
  for (let at = 0; at < 20; at++) flow.receive("a", String(at));
  const before = handled.length;
  expect(before).toBeLessThan(10);
  flow.receive("b", "hello");
  expect(handled.at(-1)).toBe("b hello");
  while (handled.length < 21) await yieldToEventLoop();
  expect(handled.filter((entry) => entry.startsWith("a"))).toEqual(Array.from({ length: 20 }, (_, at) => `a ${at}`));
});

test("handles no frames of a peer until it has read its answers, and then in order", async () => {
  const { flow, handled, full } = world();
  full.add("a");
  flow.receive("a", "1");
  flow.receive("a", "2");
  await yieldToEventLoop();
  expect(handled).toEqual([]);
  full.delete("a");
  flow.onSocketDrained("a");
  while (handled.length < 2) await yieldToEventLoop();
  expect(handled).toEqual(["a 1", "a 2"]);
});

test("stops reading from a peer whose frames pile up until they are handled", async () => {
  const { flow, handled, paused } = world();
  for (let at = 0; at < 12; at++) flow.receive("a", `${at} ${"x".repeat(64 * 1024)}`);
  expect([...paused]).toEqual(["a"]);
  while (handled.length < 12) await yieldToEventLoop();
  expect([...paused]).toEqual([]);
});

test("drops queued frames when their socket closes", async () => {
  const { flow, handled, full } = world();
  full.add("a");
  flow.receive("a", "1");
  flow.onSocketClosed("a");
  full.delete("a");
  await yieldToEventLoop();
  await yieldToEventLoop();
  expect(handled).toEqual([]);
});

test("large frames wait while running calls of their sender hold too much memory, and small ones do not", async () => {
  const { flow, handled } = world();
  const large = (name: string) => `${name} ${"x".repeat(30 * 1024 * 1024)}`;
  const releases = ["1", "2"].map((name) => {
    flow.receive("a", large(name));
    return flow.holdFrame("a", large(name).length);
  });
  while (handled.length < 2) await yieldToEventLoop();
  flow.receive("a", large("3"));
  flow.receive("a2", "stop");
  flow.receive("b", large("b"));
  while (handled.length < 4) await yieldToEventLoop();
  await yieldToEventLoop();
  expect(handled.map((entry) => entry.slice(0, 5).trim())).toEqual(["a 1 x", "a 2 x", "a2 st", "b b x"]);
  releases[0]!();
  while (handled.length < 5) await yieldToEventLoop();
  expect(handled[4]).toMatch(/^a 3/);
});

test("spaces out long frames only while others are active, and does not delay the sender's small frames", async () => {
  const long = "x".repeat(2 * 1024 * 1024);
  const alone = world();
  for (let at = 0; at < 3; at++) alone.flow.receive("a", `${at} ${long}`);
  while (alone.handled.length < 3) await yieldToEventLoop();
  expect(alone.now()).toBeLessThan(100);

  const { flow, handled, shares, now } = world(true);
  shares.runOrQueue(2, () => {});
  for (let at = 0; at < 3; at++) flow.receive("a", `${at} ${long}`);
  flow.receive("a2", "stop");
  while (handled.length < 4) await yieldToEventLoop();
  expect(handled.map((entry) => entry.slice(0, 5).trim())).toEqual(["a 0 x", "a2 st", "a 1 x", "a 2 x"]);
  expect(now()).toBeGreaterThanOrEqual(2_000);
});

test("stops reading from all sockets of a user while too much of theirs is queued", async () => {
  const { flow, full, paused, handled } = world();
  full.add("a");
  for (let at = 0; at < 2; at++) flow.receive("a", "x".repeat(20 * 1024 * 1024));
  expect([...paused].toSorted()).toEqual(["a", "a2", "a3", "a4"]);
  paused.delete("a4");
  flow.onIdentified("a4");
  flow.onIdentified("b");
  expect([...paused].toSorted()).toEqual(["a", "a2", "a3", "a4"]);
  full.delete("a");
  flow.onSocketDrained("a");
  while (handled.length < 2) await yieldToEventLoop();
  expect([...paused]).toEqual([]);
});
