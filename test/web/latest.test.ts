// The newest value of a read call (web/src/state/latest.ts).

import { expect, test } from "vitest";
import { Latest } from "../../web/src/state/latest.ts";

type Read = { resolve(value: string): void; reject(error: Error): void };

function makeLatest() {
  const reads: Read[] = [];
  const latest = new Latest<string>(
    () => new Promise((resolve, reject) => reads.push({ resolve, reject })),
    (error) => `Failed: ${(error as Error).message}`,
  );
  return { latest, reads };
}

test("runs one read at a time, and one more for all requests made meanwhile", async () => {
  const { latest, reads } = makeLatest();
  expect([latest.value.value, latest.isReading.value]).toEqual([null, false]);
  const first = latest.refetch();
  void latest.refetch();
  void latest.refetch();
  expect([reads.length, latest.isReading.value]).toEqual([1, true]);
  reads[0]!.resolve("old");
  await expect.poll(() => reads.length).toBe(2);
  expect(latest.value.value).toBe("old");
  reads[1]!.resolve("new");
  await first;
  expect([latest.value.value, latest.isReading.value, reads.length]).toEqual(["new", false, 2]);
});

test("keeps the value when a read fails, gives the reason, and clears it after a success", async () => {
  const { latest, reads } = makeLatest();
  const first = latest.refetch();
  reads[0]!.resolve("value");
  await first;
  const second = latest.refetch();
  reads[1]!.reject(new Error("away"));
  await second;
  expect([latest.value.value, latest.problem.value, latest.isReading.value]).toEqual(["value", "Failed: away", false]);
  const third = latest.refetch();
  reads[2]!.resolve("again");
  await third;
  expect([latest.value.value, latest.problem.value]).toEqual(["again", null]);
});

test("does not restore a value that a change has replaced", async () => {
  const { latest, reads } = makeLatest();
  latest.update(() => "nothing was there to change");
  expect(latest.value.value).toBeNull();
  const first = latest.refetch();
  reads[0]!.resolve("a");
  await first;
  const second = latest.refetch();
  latest.update((value) => `${value} changed`);
  reads[1]!.resolve("a");
  await expect.poll(() => reads.length).toBe(3);
  expect(latest.value.value).toBe("a changed");
  reads[2]!.resolve("a changed, and read");
  await second;
  expect(latest.value.value).toBe("a changed, and read");
});
