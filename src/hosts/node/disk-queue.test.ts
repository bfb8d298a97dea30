import { expect, test } from "vitest";
import { DiskQueue } from "./disk-queue.ts";

const loopTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("one piece of work in a turn of the loop, and owners take turns", async () => {
  const turns = new DiskQueue();
  const done: string[] = [];
  for (const name of ["a1", "a2", "a3"]) turns.add(1, () => done.push(name));
  turns.add(2, () => done.push("b1"));
  expect(done).toEqual([]);
  await loopTurn();
  expect(done).toEqual(["a1"]);
  await loopTurn();
  expect(done).toEqual(["a1", "b1"]);
  await loopTurn();
  await loopTurn();
  expect(done).toEqual(["a1", "b1", "a2", "a3"]);
});
