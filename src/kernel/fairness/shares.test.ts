// Which sharer is served when, with a clock that only work and pauses advance.

import { expect, test } from "vitest";
import { yieldToEventLoop } from "../../lib/yield.ts";
import { Shares } from "./shares.ts";

function world() {
  let now = 0;
  const log: string[] = [];
  const failures: unknown[] = [];
  const shares = new Shares({
    now: () => now,
    pause: async (ms) => {
      now += ms;
      log.push(`rest ${ms}`);
    },
    onError: (error) => failures.push(error),
  });
  const work = (name: string, ms: number) => () => {
    now += ms;
    log.push(name);
  };
  return { shares, log, failures, work, pass: (ms: number) => (now += ms) };
}

async function waitUntil(isDone: () => boolean): Promise<void> {
  while (!isDone()) await yieldToEventLoop();
}

test("a little work runs immediately, and later work in order behind what is queued", async () => {
  const { shares, log, work } = world();
  shares.runOrQueue(1, work("a", 1));
  shares.runOrQueue(1, work("b", 20));
  expect(log).toEqual(["a", "b"]);
  shares.runOrQueue(1, work("c", 1));
  shares.runOrQueue(1, work("d", 1));
  expect(log).toEqual(["a", "b"]);
  await waitUntil(() => log.includes("d"));
  expect(log.filter((entry) => !entry.startsWith("rest"))).toEqual(["a", "b", "c", "d"]);
});

test("a sharer who asks for little is served before another's large backlog", async () => {
  const { shares, log, work } = world();
  for (let at = 0; at < 100; at++) shares.runOrQueue("much", work(`much ${at}`, 4));
  const before = log.length;
  shares.runOrQueue("little", work("little", 1));
  expect(log.at(-1)).toBe("little");
  expect(before).toBeLessThan(10);
  await waitUntil(() => log.includes("much 99"));
});

test("of two waiting sharers, the one who has used less is served first", async () => {
  const { shares, log, work } = world();
  for (let at = 0; at < 10; at++) shares.runOrQueue("much", work("much", 30));
  for (let at = 0; at < 10; at++) shares.runOrQueue("less", work("less", 10));
  await waitUntil(() => log.filter((entry) => !entry.startsWith("rest")).length === 20);
  const served = log.filter((entry) => !entry.startsWith("rest"));
  expect(served.lastIndexOf("less")).toBeLessThan(15);
});

test("a sharer who has used much rests while others are active, and does not rest alone", async () => {
  const busy = world();
  busy.shares.runOrQueue(1, busy.work("first", 30));
  busy.shares.runOrQueue(2, busy.work("other", 1));
  busy.shares.runOrQueue(1, busy.work("second", 1));
  await waitUntil(() => busy.log.includes("second"));
  expect(busy.log.some((entry) => entry.startsWith("rest"))).toBe(true);

  const alone = world();
  alone.shares.runOrQueue(2, alone.work("long ago", 1));
  alone.pass(2_000);
  alone.shares.runOrQueue(1, alone.work("first", 30));
  alone.shares.charge(1, 100);
  for (let at = 0; at < 5; at++) alone.shares.runOrQueue(1, alone.work("more", 3));
  await waitUntil(() => alone.log.filter((entry) => entry === "more").length === 5);
  expect(alone.log.some((entry) => entry.startsWith("rest"))).toBe(false);
});

test("work that only starts something is charged its declared cost", async () => {
  const { shares, log, work } = world();
  const waited: number[] = [];
  for (let at = 0; at < 10; at++) void shares.waitForTurn(1, 5).then(() => waited.push(at));
  await Promise.resolve();
  expect(waited.length).toBeLessThan(6);
  shares.runOrQueue(2, work("other", 1));
  expect(log).toEqual(["other"]);
  await waitUntil(() => waited.length === 10);
  expect(waited).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test("what work charges for later counts towards the current slice", async () => {
  let yields = 0;
  const shares = new Shares({
    now: () => 0,
    yield: async () => void yields++,
    onError: (error) => {
      throw error;
    },
  });
  const at: number[] = [];
  for (let count = 0; count < 4; count++)
    shares.queue(1, () => {
      at.push(yields);
      shares.charge(1, 6);
    });
  await waitUntil(() => at.length === 4);
  expect(at).toEqual([1, 2, 3, 4]);
});

test("work that throws does not stop other queued work", async () => {
  const { shares, log, failures, work } = world();
  shares.queue(1, () => {
    throw new Error("broken");
  });
  shares.queue(1, work("after", 1));
  await waitUntil(() => log.includes("after"));
  expect(failures).toEqual([new Error("broken")]);
});

test("a sharer who has used less neither waits for another's rest nor rests for them", async () => {
  let now = 0;
  const log: string[] = [];
  const rests: number[] = [];
  const shares = new Shares({
    now: () => now,
    // Never resolves by itself.
    pause: (ms) => {
      rests.push(ms);
      return new Promise(() => {});
    },
    onError: (error) => log.push(String(error)),
  });
  const work = (name: string, ms: number) => () => {
    now += ms;
    log.push(name);
  };
  shares.runOrQueue(1, work("less 0", 14));
  shares.runOrQueue(2, work("much 0", 60));
  shares.charge(1, 20);
  shares.runOrQueue(2, work("much 1", 1));
  await waitUntil(() => rests.length > 0);
  shares.runOrQueue(1, work("less 1", 1));
  await waitUntil(() => log.includes("less 1"));
  await waitUntil(() => rests.length > 1);
  expect(log).toEqual(["less 0", "much 0", "less 1"]);
});

test("nobody rests for a stranger, who may be the same person before they logged in", async () => {
  let now = 0;
  const log: string[] = [];
  const shares = new Shares({
    now: () => now,
    pause: () => {
      throw new Error("rested");
    },
    onError: (error) => log.push(String(error)),
  });
  const work = (name: string, ms: number) => () => {
    now += ms;
    log.push(name);
  };
  shares.runOrQueue("192.0.2.1", work("logs in", 1));
  shares.runOrQueue(1, work("first", 60));
  shares.runOrQueue(1, work("second", 60));
  await waitUntil(() => log.includes("second"));
  expect(log).toEqual(["logs in", "first", "second"]);
});
