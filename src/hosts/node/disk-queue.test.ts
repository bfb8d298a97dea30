import { expect, test } from "vitest";
import { DiskQueue } from "./disk-queue.ts";

const loopTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("runs one task per turn of the event loop, and alternates between owners", async () => {
  const queue = new DiskQueue();
  const done: string[] = [];
  for (const name of ["a1", "a2", "a3"]) queue.add(1, () => done.push(name));
  queue.add(2, () => done.push("b1"));
  expect(done).toEqual([]);
  await loopTurn();
  expect(done).toEqual(["a1"]);
  await loopTurn();
  expect(done).toEqual(["a1", "b1"]);
  await loopTurn();
  await loopTurn();
  expect(done).toEqual(["a1", "b1", "a2", "a3"]);
});
