import { expect, test } from "vitest";
import { deferred } from "./deferred.ts";
import { Slots } from "./slots.ts";

test("runs so many at a time, and the others in order", async () => {
  const slots = new Slots(2);
  const begun: number[] = [];
  const ends = Array.from({ length: 5 }, () => deferred());
  const runs = ends.map(({ promise }, at) =>
    slots.run(async () => {
      begun.push(at);
      await promise;
      return at;
    }),
  );
  expect(begun).toEqual([0, 1]);
  ends[1]!.resolve();
  expect(await runs[1]).toBe(1);
  expect(begun).toEqual([0, 1, 2]);
  ends[0]!.resolve();
  await runs[0];
  expect(begun).toEqual([0, 1, 2, 3]);
  for (const { resolve } of ends) resolve();
  expect(await Promise.all(runs)).toEqual([0, 1, 2, 3, 4]);
  expect(slots.isIdle).toBe(true);
});

test("a task that fails frees its slot", async () => {
  const slots = new Slots(1);
  const failing = slots.run(() => Promise.reject(new Error("failed")));
  const next = slots.run(() => Promise.resolve("ran"));
  expect(slots.isIdle).toBe(false);
  await expect(failing).rejects.toThrow("failed");
  expect(await next).toBe("ran");
  expect(slots.isIdle).toBe(true);
});

test("an abort ends the wait of a task, and not the task itself", async () => {
  const slots = new Slots(1);
  const over = new AbortController();
  const end = deferred<string>();
  const first = slots.run(() => end.promise, over.signal);
  const second = slots.run(() => Promise.resolve("second"), over.signal);
  const third = slots.run(() => Promise.resolve("third"));
  over.abort();
  await expect(second).rejects.toThrow("Aborted while it waited");
  await expect(slots.run(() => Promise.resolve("fourth"), over.signal)).rejects.toThrow("Aborted while it waited");
  end.resolve("first");
  expect(await Promise.all([first, third])).toEqual(["first", "third"]);
  expect(slots.isIdle).toBe(true);
});
