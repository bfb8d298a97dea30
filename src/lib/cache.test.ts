// The cache that is emptied when it is full.

import { expect, test } from "vitest";
import { Cache } from "./cache.ts";

test("makes each value once, null included, until it is deleted", () => {
  const cache = new Cache<string, string | null>(10);
  const made: string[] = [];
  const ask = (key: string) =>
    cache.get(key, () => {
      made.push(key);
      return key === "absent" ? null : key;
    });
  expect([ask("a"), ask("a"), ask("absent"), ask("absent")]).toEqual(["a", "a", null, null]);
  expect(made).toEqual(["a", "absent"]);
  cache.delete("a");
  ask("a");
  expect(made).toEqual(["a", "absent", "a"]);
  cache.clear();
  expect(cache.find("a")).toBeUndefined();
});

test("holds no more than its limit, and a new value of a known key empties nothing", () => {
  const cache = new Cache<number, number>(3);
  for (let key = 0; key < 3; key++) cache.set(key, key);
  cache.set(2, 20);
  expect([0, 1, 2].map((key) => cache.find(key))).toEqual([0, 1, 20]);
  cache.set(3, 3);
  expect([0, 1, 2, 3].map((key) => cache.find(key))).toEqual([undefined, undefined, undefined, 3]);
});
