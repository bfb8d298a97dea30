// Ways to fail on purpose, for the crash tests. They exist only in bundles built with GSV_FAULTS defined as true; in
// any other build the constant is false and the bundler removes what stands behind it.

import { appendFileSync, existsSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import type { Models } from "../../ports/models.ts";
import type { ProcessPorts } from "../../process/kernel-port.ts";
import { HIL_REQUESTED, PROC_CHANGED, RUN_FINISHED, RUN_OUTPUT, RUN_STARTED, TOOL_FINISHED } from "../../protocol/signal-names.ts";
import type { ProcessEvent } from "../../protocol/signals.ts";

declare const GSV_FAULTS: boolean;

const FAULTS = typeof GSV_FAULTS !== "undefined" && GSV_FAULTS;

type StoragePoint = "before-commit" | "after-commit" | "mid-flush" | "mid-start" | "mid-blob-rename";

/** Steps of a run, in their order: a process tells or asks something, and the gateway dies before or after it. */
export type RunPoint =
  | "run-accepted"
  | "run-queued"
  | "run-model-called"
  | "run-half-streamed"
  | "run-answered"
  | "run-tool-intent"
  | "run-tool-done"
  | "run-tool-kept"
  | "run-question-asked"
  | "run-question-pending"
  | "run-decided"
  | "run-decision-heard"
  | "run-archiving"
  | "run-archived"
  | "run-compacted"
  | "run-finished";

/**
 * Dies here, hard, the k-th time this point is passed, where the environment says `GSV_CRASH_AT=name:k`. In a thread of
 * repositories the name begins with `repo-`, and each thread counts for itself.
 */
export function crashPoint(name: StoragePoint | RunPoint): void {
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

/**
 * Makes the n-th commit fail as a full disk would, or the next one that somebody waits for; in a thread of repositories where
 * `GSV_REPO_FULL_AT` says so. On a slow machine rows that nobody waits for are committed by themselves.
 */
export function commitFault(isAwaited: boolean): void {
  fullFault();
  const at = FAULTS ? process.env[isMainThread ? "GSV_FULL_AT" : "GSV_REPO_FULL_AT"] : undefined;
  if (at === undefined) return;
  commits++;
  // In a thread of repositories three of them: whoever waits for a single one need not be somebody who is counted.
  if (failures === (isMainThread ? 1 : 3) || !isAwaited || commits < Number(at)) return;
  failures++;
  throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
}

let commits = 0;
let failures = 0;

/**
 * Makes every commit of the kernel fail as a full disk would while the file exists that `GSV_FULL_WHILE` names, which grows by a
 * byte each time.
 */
function fullFault(): void {
  const path = FAULTS && isMainThread ? process.env.GSV_FULL_WHILE : undefined;
  if (path === undefined || !existsSync(path)) return;
  appendFileSync(path, ".");
  throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
}

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

/**
 * What a process has of the outside, with the points of a run in it. Where the environment says so it is a broken gateway as
 * well: `GSV_ACK_EARLY` says of every row that it is on disk, `GSV_EFFECT_TWICE` forgets that a call was sent before.
 */
export function withRunFaults(ports: ProcessPorts): ProcessPorts {
  if (!FAULTS) return ports;
  const { kernel, models, sql } = ports;
  return {
    ...ports,
    sql: acknowledgesEarly() ? neverWaiting(sql) : sql,
    models: dying(models),
    kernel: {
      ...kernel,
      emit(events) {
        for (const event of events) for (const point of pointsOf(event)) crashPoint(point);
        return kernel.emit(events);
      },
      async sys(call, signal, began) {
        crashPoint("run-tool-intent");
        const outcome = await kernel.sys(process.env.GSV_EFFECT_TWICE === "1" ? { ...call, isAgain: false } : call, signal, began);
        crashPoint(outcome.kind === "asked" ? "run-question-asked" : "run-tool-done");
        return outcome;
      },
      async archive(path, bytes) {
        crashPoint("run-archiving");
        await kernel.archive(path, bytes);
        crashPoint("run-archived");
      },
    },
  };
}

/** What a process is asked from outside. */
export function runAsked(name: string, when: "before" | "after"): void {
  if (FAULTS && name === "decided") crashPoint(when === "before" ? "run-decided" : "run-decision-heard");
}

function dying(models: Models): Models {
  return {
    async *stream(request, signal) {
      crashPoint("run-model-called");
      for await (const event of models.stream(request, signal)) {
        if (event.type === "text_delta") crashPoint("run-half-streamed");
        yield event;
      }
    },
  };
}

function pointsOf({ signal, payload }: ProcessEvent): RunPoint[] {
  if (signal === PROC_CHANGED && payload.event === "conversation.compacted") return ["run-compacted"];
  if (signal === PROC_CHANGED && payload.changes.includes("queue")) return ["run-queued"];
  const point = TOLD.get(signal);
  return point === undefined ? [] : [point];
}

const TOLD = new Map<string, RunPoint>([
  [RUN_STARTED, "run-accepted"],
  [RUN_OUTPUT, "run-answered"],
  [TOOL_FINISHED, "run-tool-kept"],
  [HIL_REQUESTED, "run-question-pending"],
  [RUN_FINISHED, "run-finished"],
]);

function neverWaiting(sql: ProcessPorts["sql"]): ProcessPorts["sql"] {
  return {
    all: (query, ...bindings) => sql.all(query, ...bindings),
    get: (query, ...bindings) => sql.get(query, ...bindings),
    run: (query, ...bindings) => sql.run(query, ...bindings),
    transaction: (body) => sql.transaction(body),
    relaxed: (body) => sql.relaxed(body),
    durable: () => Promise.resolve(),
  };
}
