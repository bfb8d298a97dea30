// Who is served when, by a clock that only the work moves.

import { expect, test } from "vitest";
import { breath } from "../lib/breath.ts";
import { Turns } from "./turns.ts";

function world() {
  let now = 0;
  const log: string[] = [];
  const failures: unknown[] = [];
  const turns = new Turns({
    now: () => now,
    rest: async (ms) => {
      now += ms;
      log.push(`rest ${ms}`);
    },
    failed: (error) => failures.push(error),
  });
  const work = (name: string, ms: number) => () => {
    now += ms;
    log.push(name);
  };
  return { turns, log, failures, work, pass: (ms: number) => (now += ms) };
}

async function settled(isDone: () => boolean): Promise<void> {
  while (!isDone()) await breath();
}

test("little is done at once, and in order with what waits", async () => {
  const { turns, log, work } = world();
  turns.take(1, work("a", 1));
  turns.take(1, work("b", 20));
  expect(log).toEqual(["a", "b"]);
  turns.take(1, work("c", 1));
  turns.take(1, work("d", 1));
  expect(log).toEqual(["a", "b"]);
  await settled(() => log.includes("d"));
  expect(log.filter((entry) => !entry.startsWith("rest"))).toEqual(["a", "b", "c", "d"]);
});

test("who asks for little is served before all that somebody else has asked for", async () => {
  const { turns, log, work } = world();
  for (let at = 0; at < 100; at++) turns.take("much", work(`much ${at}`, 4));
  const before = log.length;
  turns.take("little", work("little", 1));
  expect(log.at(-1)).toBe("little");
  expect(before).toBeLessThan(10);
  await settled(() => log.includes("much 99"));
});

test("of two who wait, who has used less goes first", async () => {
  const { turns, log, work } = world();
  for (let at = 0; at < 10; at++) turns.take("much", work("much", 30));
  for (let at = 0; at < 10; at++) turns.take("less", work("less", 10));
  await settled(() => log.filter((entry) => !entry.startsWith("rest")).length === 20);
  const served = log.filter((entry) => !entry.startsWith("rest"));
  expect(served.lastIndexOf("less")).toBeLessThan(15);
});

test("while others are there, whoever used much waits until it is regained; alone, nobody rests", async () => {
  const busy = world();
  busy.turns.take(1, busy.work("first", 30));
  busy.turns.take(2, busy.work("other", 1));
  busy.turns.take(1, busy.work("second", 1));
  await settled(() => busy.log.includes("second"));
  expect(busy.log.some((entry) => entry.startsWith("rest"))).toBe(true);

  const alone = world();
  alone.turns.take(2, alone.work("long ago", 1));
  alone.pass(2_000);
  alone.turns.take(1, alone.work("first", 30));
  alone.turns.charge(1, 100);
  for (let at = 0; at < 5; at++) alone.turns.take(1, alone.work("more", 3));
  await settled(() => alone.log.filter((entry) => entry === "more").length === 5);
  expect(alone.log.some((entry) => entry.startsWith("rest"))).toBe(false);
});

test("what only begins something counts for what it is said to cost", async () => {
  const { turns, log, work } = world();
  const waited: number[] = [];
  for (let at = 0; at < 10; at++) void turns.wait(1, 5).then(() => waited.push(at));
  await Promise.resolve();
  expect(waited.length).toBeLessThan(6);
  turns.take(2, work("other", 1));
  expect(log).toEqual(["other"]);
  await settled(() => waited.length === 10);
  expect(waited).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test("what work charges for later counts for its turn", async () => {
  let breaths = 0;
  const turns = new Turns({
    now: () => 0,
    breath: async () => void breaths++,
    failed: (error) => {
      throw error;
    },
  });
  const at: number[] = [];
  for (let count = 0; count < 4; count++)
    turns.queue(1, () => {
      at.push(breaths);
      turns.charge(1, 6);
    });
  await settled(() => at.length === 4);
  expect(at).toEqual([1, 2, 3, 4]);
});

test("work that fails does not end the turns of others", async () => {
  const { turns, log, failures, work } = world();
  turns.queue(1, () => {
    throw new Error("broken");
  });
  turns.queue(1, work("after", 1));
  await settled(() => log.includes("after"));
  expect(failures).toEqual([new Error("broken")]);
});

test("who has used less does not wait until somebody else has rested, and does not rest for them", async () => {
  let now = 0;
  const log: string[] = [];
  const rests: number[] = [];
  const turns = new Turns({
    now: () => now,
    // It never ends by itself.
    rest: (ms) => {
      rests.push(ms);
      return new Promise(() => {});
    },
    failed: (error) => log.push(String(error)),
  });
  const work = (name: string, ms: number) => () => {
    now += ms;
    log.push(name);
  };
  turns.take("less", work("less 0", 14));
  turns.take("much", work("much 0", 60));
  turns.charge("less", 20);
  turns.take("much", work("much 1", 1));
  await settled(() => rests.length > 0);
  turns.take("less", work("less 1", 1));
  await settled(() => log.includes("less 1"));
  await settled(() => rests.length > 1);
  expect(log).toEqual(["less 0", "much 0", "less 1"]);
});
