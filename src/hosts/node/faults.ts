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

/** Makes the n-th commit fail as a full disk would; in a thread of repositories where `GSV_REPO_FULL_AT` says so. */
export function commitFault(): void {
  const at = FAULTS ? process.env[isMainThread ? "GSV_FULL_AT" : "GSV_REPO_FULL_AT"] : undefined;
  if (at === undefined) return;
  commits++;
  if (commits === Number(at)) throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
}

let commits = 0;

/** A database that may not grow past so many pages: a disk that is full in the middle of a statement. */
export function smallDisk(): string[] {
  const pages = FAULTS ? process.env[isMainThread ? "GSV_PAGES_MAX" : "GSV_REPO_PAGES_MAX"] : undefined;
  return pages === undefined ? [] : [`max_page_count = ${Number(pages)}`];
}

/**
 * What goes wrong with this put of a blob, where the environment says `GSV_BLOB_FAULT=how:from:to`, counted from 1:
 * `full` takes no file, `short` takes half of one, `sync` has no room when it comes to the disk, `broken` fails there.
 */
export function blobFault(): "full" | "short" | "sync" | "broken" | null {
  const [how, from, to] = FAULTS ? (process.env.GSV_BLOB_FAULT ?? "").split(":") : [];
  if (!how) return null;
  puts++;
  return puts >= Number(from) && puts <= Number(to) ? (how as "full") : null;
}

let puts = 0;

/** As the system would say it. */
export function systemError(code: "ENOSPC" | "EIO"): Error {
  return Object.assign(new Error(`${code}: on purpose`), { code });
}
