// Deliberate faults for the crash tests. They exist only in bundles built with GSV_FAULTS defined as true; in any other build the
// constant is false and the bundler removes the code behind it.

import { appendFileSync, existsSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import type { Models } from "../../ports/models.ts";
import type { ProcessCall } from "../../process/actor.ts";
import type { ProcessPorts } from "../../process/kernel-port.ts";
import { HIL_REQUESTED, PROC_CHANGED, RUN_FINISHED, RUN_OUTPUT, RUN_STARTED, TOOL_FINISHED } from "../../protocol/signal-names.ts";
import type { ProcessEvent } from "../../protocol/signals.ts";

declare const GSV_FAULTS: boolean;

const FAULTS = typeof GSV_FAULTS !== "undefined" && GSV_FAULTS;

type StorageCrashPoint = "before-commit" | "after-commit" | "mid-flush" | "mid-start" | "mid-blob-rename" | JournalCrashPoint;

/** Steps of the journal and of its recovery. */
export type JournalCrashPoint =
  | "mid-append"
  | "before-sync"
  | "before-lazy-commit"
  | "after-lazy-commit"
  | "mid-rotation"
  | "before-segment-removal"
  | "mid-recovery";

/** Steps of a run, in their order: a process reports or requests something, and the gateway dies before or after it. */
export type RunCrashPoint =
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

/** Steps of the run of a schedule, which the ledger has: its message is about to be sent, and its process has the message. */
type ScheduleCrashPoint = "schedule-planned" | "schedule-sent";

/**
 * Kills the process with SIGKILL the k-th time this point is passed, if the environment says `GSV_CRASH_AT=name:k`. In a
 * repository thread the name starts with `repo-`, and each thread counts for itself. `before` is done before that.
 */
export function crashAt(name: StorageCrashPoint | RunCrashPoint | ScheduleCrashPoint, before: () => void = () => {}): void {
  if (!FAULTS) return;
  const [wanted, count] = (process.env.GSV_CRASH_AT ?? "").split(":");
  if (wanted !== (isMainThread ? name : `repo-${name}`)) return;
  passes++;
  if (passes !== Number(count)) return;
  before();
  process.kill(process.pid, "SIGKILL");
}

let passes = 0;

/** Whether this is the deliberately broken gateway that answers before it commits: the crash test must catch it. */
export function acknowledgesEarly(): boolean {
  return FAULTS && process.env.GSV_ACK_EARLY === "1";
}

/**
 * Makes the n-th commit, or the next one that a caller waits for, fail like a full disk; in a repository thread if
 * `GSV_REPO_FULL_AT` says so. On a slow machine rows that nobody waits for are committed separately.
 */
export function failCommitIfDue(isAwaited: boolean): void {
  failWhileFull();
  const at = FAULTS ? process.env[isMainThread ? "GSV_FULL_AT" : "GSV_REPO_FULL_AT"] : undefined;
  if (at === undefined) return;
  commits++;
  // Fails three times in a repository thread, because the caller of a single failed commit may not be one that the test counts.
  if (failures === (isMainThread ? 1 : 3) || !isAwaited || commits < Number(at)) return;
  failures++;
  throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
}

let commits = 0;
let failures = 0;

/**
 * Makes every commit of the kernel fail like a full disk while the file named by `GSV_FULL_WHILE` exists. Each failure appends a
 * byte to that file.
 */
function failWhileFull(): void {
  const path = FAULTS && isMainThread ? process.env.GSV_FULL_WHILE : undefined;
  if (path === undefined || !existsSync(path)) return;
  appendFileSync(path, ".");
  throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
}

/** Pragmas that limit the database to a number of pages: a disk that fills up in the middle of a statement. */
export function diskLimitPragmas(): string[] {
  const pages = FAULTS ? process.env[isMainThread ? "GSV_PAGES_MAX" : "GSV_REPO_PAGES_MAX"] : undefined;
  return pages === undefined ? [] : [`max_page_count = ${Number(pages)}`];
}

/** The size at which a new segment of the journal begins: `GSV_JOURNAL_BYTES` makes that happen often. */
export function journalBytesMax(usual: number): number {
  return (FAULTS ? Number(process.env.GSV_JOURNAL_BYTES ?? 0) : 0) || usual;
}

/**
 * What goes wrong with this put of a blob, if the environment says `GSV_BLOB_FAULT=how:from:to`, counted from 1: `full` creates
 * no file, `short` writes half of one, `sync` runs out of space at the sync, `broken` fails there with an I/O error.
 */
export function nextBlobFault(): "full" | "short" | "sync" | "broken" | null {
  const [how, from, to] = FAULTS ? (process.env.GSV_BLOB_FAULT ?? "").split(":") : [];
  if (!how) return null;
  puts++;
  return puts >= Number(from) && puts <= Number(to) ? (how as "full") : null;
}

let puts = 0;

/** An error like the operating system's. */
export function systemError(code: "ENOSPC" | "EIO"): Error {
  return Object.assign(new Error(`${code}: on purpose`), { code });
}

/**
 * A process's ports with the crash points of a run in them. The environment can also break the gateway: `GSV_ACK_EARLY` claims
 * that every row is on disk, `GSV_EFFECT_TWICE` forgets that a call was sent before.
 */
export function withRunFaults(ports: ProcessPorts): ProcessPorts {
  if (!FAULTS) return ports;
  const { kernel, models, sql } = ports;
  return {
    ...ports,
    sql: acknowledgesEarly() ? withoutDurability(sql) : sql,
    models: withModelCrashPoints(models),
    kernel: {
      ...kernel,
      emit(events) {
        for (const event of events) for (const point of crashPointsFor(event)) crashAt(point);
        return kernel.emit(events);
      },
      async runSyscall(call, signal, onStart) {
        crashAt("run-tool-intent");
        const outcome = await kernel.runSyscall(
          process.env.GSV_EFFECT_TWICE === "1" ? { ...call, isRepeat: false } : call,
          signal,
          onStart,
        );
        crashAt(outcome.kind === "asked" ? "run-question-asked" : "run-tool-done");
        return outcome;
      },
      async archive(path, bytes) {
        crashAt("run-archiving");
        await kernel.archive(path, bytes);
        crashAt("run-archived");
      },
    },
  };
}

/** Crash points around a call to a process. */
export function crashAroundCall(name: string, args: object, when: "before" | "after"): void {
  if (!FAULTS) return;
  if (name === ("handleDecision" satisfies ProcessCall)) crashAt(when === "before" ? "run-decided" : "run-decision-heard");
  if (name === ("send" satisfies ProcessCall) && "runId" in args && String(args.runId).startsWith("schedule:"))
    crashAt(when === "before" ? "schedule-planned" : "schedule-sent");
}

function withModelCrashPoints(models: Models): Models {
  return {
    async *stream(request, signal) {
      crashAt("run-model-called");
      for await (const event of models.stream(request, signal)) {
        if (event.type === "text_delta") crashAt("run-half-streamed");
        yield event;
      }
    },
  };
}

function crashPointsFor({ signal, payload }: ProcessEvent): RunCrashPoint[] {
  if (signal === PROC_CHANGED && payload.event === "conversation.compacted") return ["run-compacted"];
  if (signal === PROC_CHANGED && payload.changes.includes("queue")) return ["run-queued"];
  const point = POINT_OF_SIGNAL.get(signal);
  return point === undefined ? [] : [point];
}

const POINT_OF_SIGNAL = new Map<string, RunCrashPoint>([
  [RUN_STARTED, "run-accepted"],
  [RUN_OUTPUT, "run-answered"],
  [TOOL_FINISHED, "run-tool-kept"],
  [HIL_REQUESTED, "run-question-pending"],
  [RUN_FINISHED, "run-finished"],
]);

function withoutDurability(sql: ProcessPorts["sql"]): ProcessPorts["sql"] {
  return {
    all: (query, ...bindings) => sql.all(query, ...bindings),
    get: (query, ...bindings) => sql.get(query, ...bindings),
    run: (query, ...bindings) => sql.run(query, ...bindings),
    transaction: (body) => sql.transaction(body),
    runRelaxed: (body) => sql.runRelaxed(body),
    waitUntilDurable: () => Promise.resolve(),
  };
}
