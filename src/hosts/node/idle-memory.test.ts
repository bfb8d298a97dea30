// Memory that the gateway returns to the system when it has nothing to do.

import { expect, test } from "vitest";
import { yieldToEventLoop } from "../../lib/yield.ts";
import { makeIdleCheck, releaseMemory } from "./idle-memory.ts";

const MB = 1024 * 1024;
const isGlibc = process.platform === "linux" && "glibcVersionRuntime" in (process.report.getReport() as { header: object }).header;

test("memory is released once it has grown and the gateway is idle", () => {
  const state = { resident: 100 * MB, busy: 0.5, inUse: 120 * MB, releases: 0 };
  const runCheck = makeIdleCheck({
    residentBytes: () => state.resident,
    busyShare: () => state.busy,
    release: () => {
      state.releases++;
      state.resident = state.inUse;
    },
  });
  const runChecks = (count: number) => {
    for (let at = 0; at < count; at++) runCheck();
    return state.releases;
  };
  state.resident = 300 * MB;
  expect(runChecks(10), "busy").toBe(0);
  state.busy = 0.01;
  expect(runChecks(2), "not idle for long").toBe(0);
  expect(runChecks(1), "idle").toBe(1);
  expect(runChecks(3), "a release that returned something is repeated").toBe(2);
  expect(runChecks(20), "what is in use stays").toBe(2);
  state.inUse = 90 * MB;
  state.resident = 127 * MB;
  expect(runChecks(3), "little growth").toBe(2);
  state.resident = 129 * MB;
  expect(runChecks(3), "growth").toBe(3);
});

test("collects what nobody needs", async () => {
  const ref = makeGarbage();
  // A weak reference holds its target until the end of the turn.
  await yieldToEventLoop();
  releaseMemory();
  expect(ref.deref()).toBeUndefined();
});

test.runIf(isGlibc)("returns the pages between what is still in use", async () => {
  const kept = fragmentHeap(200 * MB);
  await yieldToEventLoop();
  const before = process.memoryUsage.rss();
  releaseMemory();
  expect((before - process.memoryUsage.rss()) / MB).toBeGreaterThan(100);
  expect(kept.length).toBeGreaterThan(0);
});

function makeGarbage(): WeakRef<object> {
  return new WeakRef({ nobody: "needs this" });
}

/** Allocates and drops buffers; every hundredth is kept. */
function fragmentHeap(bytes: number): Buffer[] {
  const size = 2_048;
  const buffers = Array.from({ length: bytes / size }, () => Buffer.allocUnsafeSlow(size).fill(1));
  return buffers.filter((_, at) => at % 100 === 0);
}
