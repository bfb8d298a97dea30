// Decides what a schedule does when the kernel looks at it, and writes that down: a run in the ledger, a time that was skipped, or
// nothing yet. Runs inside a transaction; scheduler.ts does what was decided once that is durable.

import { SysError } from "../../lib/sys-error.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { countRuns, nextRun } from "../../schedules/next-run.ts";
import { findProfile } from "../agents/profiles.ts";
import { initPidOf } from "../nouns/processes.ts";
import type { ScheduleRunRow } from "../nouns/schedule-runs.ts";
import { isOnce, type ScheduleChange, type ScheduleRow } from "../nouns/schedules.ts";
import type { WriteContext } from "../context.ts";
import type { NotifyNouns } from "../notifications/notify.ts";
import { finishRun, pauseSchedule } from "./outcome.ts";

type Nouns = NotifyNouns & Pick<WriteContext, "schedules" | "scheduleRuns" | "processes">;

/** A time that is late by less counts as in time, for example after a restart. */
export const GRACE_MS = 60_000;
const MINUTE_MS = 60_000;
/** When the kernel looks again at a schedule that has to wait. */
const LATER_MS = 2_000;
/** Missed times are counted up to this. */
const MISSED_COUNT_MAX = 100;
/** Runs of a schedule share this many processes: the one that was used longest ago is emptied and used again. */
const PROCESSES_MAX = 20;
/** How long a schedule of one run is surely kept after it has ended; then its process may be used for another. */
const ENDED_KEPT_MS = 7 * 24 * 60 * MINUTE_MS;
const ENDED_TRIES = 10;
const STILL_AT_WORK = "The run before was still at work";
const WAS_DOWN = "The gateway was not running at this time";

export type MakeId = () => string;

/** Returns the run that starts now, if one does. */
export function planRun(nouns: Nouns, schedule: ScheduleRow, makeId: MakeId): ScheduleRunRow | null {
  return orPause(nouns, schedule, () => plan(nouns, schedule, makeId));
}

/** The clock was set back: its next time was computed from the later clock, and may be far away. */
export function recountSchedule(nouns: Nouns, schedule: ScheduleRow): void {
  const { schedules, now } = nouns;
  orPause(nouns, schedule, () => {
    // What counts from a time that is in the future again counts from now.
    const anchorAt = Math.min(schedule.anchorAt, now);
    const next = findNext(nouns, { ...schedule, anchorAt }, now) ?? schedule.nextAt;
    schedules.update(schedule.id, { anchorAt, nextAt: next, wakeAt: next, countedAt: now });
    return null;
  });
}

/** An expression that was accepted once may not be any more, for example because a later version of ICU does not know its zone. */
function orPause<T>(nouns: Nouns, schedule: ScheduleRow, work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof SysError)) throw error;
    pauseSchedule(nouns, schedule, error.message);
    return null;
  }
}

function plan(nouns: Nouns, schedule: ScheduleRow, makeId: MakeId): ScheduleRunRow | null {
  const { schedules, scheduleRuns, now, emit, after } = nouns;
  const { id, uid, nextAt, enabled } = schedule;
  if (!enabled || nextAt === null) return wait(nouns, schedule, null);
  if (nextAt > now) return wait(nouns, schedule, nextAt);
  const isLast = isOnce(schedule.expression);
  const isAtWork = isStillAtWork(nouns, schedule);
  const { dueAt, missed, isLate } = chooseTime(schedule, nextAt, now);
  const isMissed = isLate && schedule.catchUp === "skip";
  const isSkipped = isMissed || (isAtWork && !isLast);
  const laterAt = isSkipped ? null : isAtWork ? now + LATER_MS : findLaterTime(nouns, uid);
  if (laterAt !== null) return wait(nouns, schedule, laterAt);
  const next = findNext(nouns, schedule, now);
  const change: ScheduleChange = { nextAt: next, wakeAt: next, countedAt: now, ...(isLast ? { enabled: false } : {}) };
  after(() => emit.announceChanges(uid, ["schedules"]));
  if (isSkipped) {
    const error = isMissed ? WAS_DOWN : STILL_AT_WORK;
    schedules.update(id, { ...change, lastStatus: "skipped", lastError: error });
    const isCounted = !isMissed && scheduleRuns.addSkip(id, schedule.runningAt ?? now, now);
    const times = isLate ? missed + 1 : 1;
    if (!isCounted)
      scheduleRuns.add({ ...makeRun(schedule, makeId(), dueAt, now), state: "skipped", error, finishedAtMs: now, missed: times });
    return null;
  }
  const run = { ...makeRun(schedule, makeId(), dueAt, now), ...chooseWork(nouns, schedule, makeId), missed };
  if (!scheduleRuns.add(run)) {
    // The clock was set back, and this time has run before.
    schedules.update(id, change);
    return null;
  }
  start(nouns, schedule, run, change);
  return run;
}

/** A run that somebody asks for; the next time stays as it is. Null if one is at work. */
export function planForcedRun(nouns: Nouns, schedule: ScheduleRow, makeId: MakeId): ScheduleRunRow | null {
  const { scheduleRuns, emit, after, now } = nouns;
  if (isStillAtWork(nouns, schedule)) return null;
  const run = { ...makeRun(schedule, makeId(), now, now), isForced: true, ...chooseWork(nouns, schedule, makeId) };
  scheduleRuns.add(run);
  start(nouns, schedule, run, {});
  after(() => emit.announceChanges(schedule.uid, ["schedules"]));
  return run;
}

/** The first time after `now` that has not run, which it may have if the clock was set back. */
function findNext({ scheduleRuns }: Pick<Nouns, "scheduleRuns">, { id, expression, anchorAt }: ScheduleRow, now: number): number | null {
  const known = scheduleRuns.listTimes(id, now);
  let next = nextRun(expression, now, anchorAt);
  while (next !== null && known.has(next)) next = nextRun(expression, next, anchorAt);
  return next;
}

function start({ schedules }: Nouns, { id, runCount }: ScheduleRow, { runId, startedAtMs }: ScheduleRunRow, change: ScheduleChange): void {
  schedules.update(id, { ...change, runId, runningAt: startedAtMs, lastRunAt: startedAtMs, runCount: runCount + 1 });
}

function wait({ schedules, now }: Nouns, { id }: ScheduleRow, wakeAt: number | null): null {
  schedules.update(id, { wakeAt, countedAt: now });
  return null;
}

/** When a user who has started as many runs as they may in a minute may start another; null if they may now. */
function findLaterTime({ scheduleRuns, now }: Nouns, uid: number): number | null {
  const first = scheduleRuns.findStartOfNewest(uid, LIMITS.scheduleRunsPerMinute, { since: now - MINUTE_MS, now });
  return first === null ? null : Math.max(first + MINUTE_MS, now + LATER_MS);
}

/**
 * Of all times that are due: the last one, if it is in time. Otherwise they were missed, and the first stands for all of them, unless
 * the kernel itself made the schedule wait.
 */
function chooseTime({ expression, anchorAt, wakeAt }: ScheduleRow, nextAt: number, now: number) {
  let inTime: number | null = null;
  let at = nextRun(expression, Math.max(nextAt - 1, now - GRACE_MS), anchorAt);
  while (at !== null && at <= now) {
    inTime = at;
    at = nextRun(expression, at, anchorAt);
  }
  if (inTime === null) {
    // The kernel may have made it wait, and then looks at it in time.
    const isLate = wakeAt === null || wakeAt <= nextAt || now - wakeAt > GRACE_MS;
    return { dueAt: nextAt, missed: countRuns(expression, nextAt, now, anchorAt, MISSED_COUNT_MAX), isLate };
  }
  const missed = inTime === nextAt ? 0 : 1 + countRuns(expression, nextAt, inTime - 1, anchorAt, MISSED_COUNT_MAX);
  return { dueAt: inTime, missed, isLate: false };
}

/** Whether its last run is unfinished. A run whose process has nothing to do any more has ended without a report. */
function isStillAtWork(nouns: Nouns, { runId }: ScheduleRow): boolean {
  const run = runId === null ? undefined : nouns.scheduleRuns.get(runId);
  if (run === undefined || (run.state !== "starting" && run.state !== "running")) return false;
  const isLost = run.state === "running" && run.pid !== null && nouns.processes.get(run.pid)?.isBusy !== true;
  if (isLost) finishRun(nouns, run, { state: "error", error: "The process ended without an answer", isFault: false });
  return !isLost;
}

function makeRun({ id, uid }: ScheduleRow, runId: string, dueAt: number, now: number): ScheduleRunRow {
  const unknown = { finishedAtMs: null, error: null, summary: null, pid: null, conversationId: null, target: null, madeOf: null };
  return { runId, scheduleId: id, uid, dueAt, isForced: false, startedAtMs: now, state: "starting", missed: 0, ...unknown };
}

/**
 * What the run does, and the process that does it. Both are in the ledger, so that a start that is repeated does the same, whatever was
 * changed meanwhile.
 */
function chooseWork(nouns: Nouns, { id, uid, target }: ScheduleRow, makeId: MakeId) {
  const { scheduleRuns, processes } = nouns;
  if (target.kind === "process.event") return { target, pid: target.pid };
  if (findProfile(target.profile ?? "")?.spawnMode === "singleton") return { target, pid: initPidOf(uid) };
  const { profile, parentPid, workspace, assignment } = target;
  const madeOf = JSON.stringify([profile, parentPid, workspace, assignment]);
  if (workspace?.mode === "new") return { target, pid: makeId(), madeOf };
  const used = scheduleRuns.listProcesses(id, madeOf);
  const free = used.length < PROCESSES_MAX ? undefined : used.find((pid) => processes.get(pid)?.isBusy === false);
  return { target, pid: free ?? takeProcessOfEnded(nouns, uid, madeOf) ?? makeId(), madeOf };
}

/** The process of a schedule of one run that ended long ago, which goes. */
function takeProcessOfEnded({ schedules, scheduleRuns, processes, now }: Nouns, uid: number, madeOf: string): string | null {
  for (const id of schedules.listOver(uid, now - ENDED_KEPT_MS, ENDED_TRIES)) {
    const pid = scheduleRuns.listProcesses(id, madeOf).find((one) => processes.get(one)?.isBusy === false);
    if (pid === undefined) continue;
    schedules.remove(id);
    scheduleRuns.removeSchedule(id);
    return pid;
  }
  return null;
}
