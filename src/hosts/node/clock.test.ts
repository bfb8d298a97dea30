import { expect, test } from "vitest";
import { NodeClock } from "./clock.ts";

test("what is due before the start is told after it, once", async () => {
  const clock = new NodeClock();
  let wakes = 0;
  clock.wakeAt(1);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(wakes).toBe(0);
  clock.start(() => void wakes++);
  expect(wakes).toBe(0);
  await expect.poll(() => wakes).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(wakes).toBe(1);
  clock.stop();
});
