// Returns memory to the system when the gateway has nothing to do after a busy time. V8 collects garbage only while a program
// allocates, and glibc keeps the pages between what is still in use, so without this an idle gateway keeps what its busiest minute
// needed.

import { type EventLoopUtilization, performance } from "node:perf_hooks";
import { DatabaseSync } from "node:sqlite";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const CHECK_MS = 5_000;
/** Above this share of busy time somebody may be waiting, and a collection stops everything for some 50 ms. */
const BUSY_MAX = 0.1;
/** Idle checks in a row before a release. */
const IDLE_CHECKS = 3;
/** Less is not worth a collection. */
const BYTES_MIN = 8 * 1024 * 1024;

export type Memory = {
  residentBytes: () => number;
  /** The share of time in which the event loop was busy since the last call. */
  busyShare: () => number;
  release: () => void;
};

/** Starts checks that return memory when it has grown and the gateway is idle. The returned function stops them. */
export function releaseMemoryWhenIdle(): () => void {
  const check = makeIdleCheck({ residentBytes: () => process.memoryUsage.rss(), busyShare: makeBusyShare(), release: releaseMemory });
  const timer = setInterval(check, CHECK_MS).unref();
  return () => clearInterval(timer);
}

/** Memory that a release could not return counts as needed until it falls. */
export function makeIdleCheck({ residentBytes, busyShare, release }: Memory): () => void {
  let needed = residentBytes();
  let idleChecks = 0;
  return () => {
    idleChecks = busyShare() < BUSY_MAX ? idleChecks + 1 : 0;
    const before = residentBytes();
    needed = Math.min(needed, before);
    if (idleChecks < IDLE_CHECKS || before - needed < BYTES_MIN) return;
    idleChecks = 0;
    release();
    const after = residentBytes();
    if (before - after < BYTES_MIN) needed = after;
  };
}

export function releaseMemory(): void {
  collectGarbage();
  if (process.platform === "linux") trimMalloc();
}

function makeBusyShare(): () => number {
  let last: EventLoopUtilization = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

let collect: ((options: { type: "major"; flavor: "last-resort" }) => void) | undefined;

/** Node offers no other way to ask for a collection than this flag. */
function collectGarbage(): void {
  if (collect === undefined) {
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as typeof collect;
  }
  collect!({ type: "major", flavor: "last-resort" });
}

/**
 * Calls glibc's malloc_trim, which returns all free pages to the system. Node cannot call C functions, but SQLite can call a function of
 * a library as the entry point of an extension. The database's address then takes the place of the padding that malloc_trim leaves at
 * the top of the heap, where malloc itself returns pages. A library without this function, such as musl, has an allocator that returns
 * pages by itself.
 */
function trimMalloc(): void {
  const database = new DatabaseSync(":memory:", { allowExtension: true });
  try {
    database.loadExtension("libc.so.6", "malloc_trim");
  } catch {
    // SQLite takes malloc_trim's "memory was returned" for an error.
  } finally {
    database.close();
  }
}
