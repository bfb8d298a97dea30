// The collection that the gateway asks for when its last process sleeps.

import { expect, test } from "vitest";
import { yieldToEventLoop } from "../../lib/yield.ts";
import { collectGarbageIfLarge } from "./collect-garbage.ts";

test("collects what nobody needs, once the heap is large", async () => {
  const kept = Array.from({ length: 8_000_000 }, (_, at) => at);
  const ref = makeGarbage();
  // A weak reference holds its target until the end of the turn.
  await yieldToEventLoop();
  collectGarbageIfLarge();
  expect([kept.length, ref.deref()]).toEqual([8_000_000, undefined]);
});

function makeGarbage(): WeakRef<object> {
  return new WeakRef({ nobody: "needs this" });
}
