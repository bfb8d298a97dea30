import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { NodeClock } from "./clock.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] }));
afterEach(() => void vi.useRealTimers());

test("a wake that is due before the start fires once, after it", () => {
  const clock = new NodeClock();
  let wakes = 0;
  clock.wakeAt(1);
  vi.advanceTimersByTime(60_000);
  expect(wakes).toBe(0);
  clock.start(() => void wakes++);
  expect(wakes).toBe(0);
  vi.advanceTimersByTime(0);
  expect(wakes).toBe(1);
  vi.advanceTimersByTime(60_000);
  expect(wakes).toBe(1);
  clock.stop();
});
