// Ways to fail on purpose, for the crash tests. They exist only in bundles built with GSV_FAULTS defined as true; in
// any other build the constant is false and the bundler removes what stands behind it.

import { isMainThread } from "node:worker_threads";

declare const GSV_FAULTS: boolean;

const FAULTS = typeof GSV_FAULTS !== "undefined" && GSV_FAULTS;

/**
 * Dies here, hard, the k-th time this point is passed, where the environment says `GSV_CRASH_AT=name:k`. In a thread of
 * repositories the name begins with `repo-`, and each thread counts for itself.
 */
export function crashPoint(name: "before-commit" | "after-commit" | "mid-flush" | "mid-start" | "mid-blob-rename"): void {
  if (!FAULTS) return;
  const [wanted, count] = (process.env.GSV_CRASH_AT ?? "").split(":");
  if (wanted !== (isMainThread ? name : `repo-${name}`)) return;
  passed++;
  if (passed === Number(count)) process.kill(process.pid, "SIGKILL");
}

let passed = 0;

/** The deliberately broken gateway that answers before it commits: the crash test must catch it. */
export function acknowledgesEarly(): boolean {
  return FAULTS && process.env.GSV_ACK_EARLY === "1";
}

/** Makes the n-th commit fail as a full disk would. */
export function commitFault(): void {
  if (!FAULTS || process.env.GSV_FULL_AT === undefined) return;
  commits++;
  if (commits === Number(process.env.GSV_FULL_AT)) throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
}

let commits = 0;

/** A database that may not grow past so many pages: a disk that is full in the middle of a statement. */
export function smallDisk(): string[] {
  return FAULTS && process.env.GSV_PAGES_MAX !== undefined ? [`max_page_count = ${Number(process.env.GSV_PAGES_MAX)}`] : [];
}
