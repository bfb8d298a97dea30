// Decides what a schedule does when it is due, and writes that down: a run in the ledger, or a time that was skipped. Those that are due
// are in the queue of their user, and no more of them are looked at than the user may start. Runs inside a transaction; scheduler.ts
// does what was decided once that is durable.

import { SysError } from "../../lib/sys-error.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { countRuns, nextRun } from "../../schedules/next-run.ts";
import { findProfile } from "../agents/profiles.ts";
import { initPidOf } from "../nouns/processes.ts";
import type { ScheduleRunRow } from "../nouns/schedule-runs.ts";
import { isOnce, type ScheduleChange, type ScheduleRow } from "../nouns/schedules.ts";
import type { ReadContext, WriteContext } from "../context.ts";
import type { NotifyNouns } from "../notifications/notify.ts";
import { finishRun, pauseSchedule } from "./outcome.ts";

type Nouns = NotifyNouns & Pick<WriteContext, "schedules" | "scheduleRuns" | "processes" | "wakeBy">;

/** A time that is late by less counts as in time, for example after a restart. */
export const GRACE_MS = 60_000;
const MINUTE_MS = 60_000;
/** The shortest time from one look at a queue that waits for free starts to the next. */
const LATER_MS = 2_000;
/** If the gateway is lost during a start, it is woken for it after this. */
export const UNDER_WAY_MS = 30_000;
/** Missed times are counted up to this. */
const MISSED_COUNT_MAX = 100;
/** Runs of a schedule share this many processes: the one that was used longest ago is emptied and used again. */
const PROCESSES_MAX = 20;
/** How long the process of a schedule of one run is surely kept after that has ended; then it may be used for another. */
const SPARES_KEPT_MS = 7 * 24 * 60 * MINUTE_MS;
const SPARES_TRIES = 10;
const STILL_AT_WORK = "The run before was still at work";
const WAS_DOWN = "The gateway was not running at this time";

export type MakeId = () => string;

/** Looks at the first in the queue of a user, no more than may start. Returns the runs that start now. */
export function planQueue(nouns: Nouns, uid: number, max: number, makeId: MakeId): ScheduleRunRow[] {
  const queued = nouns.schedules.listQueued(uid, nouns.now, Math.min(max, countFreeStarts(nouns, uid)));
  return queued.flatMap((schedule) => orPause(nouns, schedule, () => plan(nouns, schedule, makeId)) ?? []);
}

/** Looks at one schedule that is due, out of turn. Null if it does not start now, for example because its user may start no more. */
export function planDue(nouns: Nouns, schedule: ScheduleRow, makeId: MakeId): ScheduleRunRow | null {
  if (countFreeStarts(nouns, schedule.uid) === 0) return null;
  return orPause(nouns, schedule, () => plan(nouns, schedule, makeId));
}

/** When a user who has started as many runs as they may in a minute may start another; null if they may now. */
export function findFreeStartAt({ scheduleRuns, now }: Pick<ReadContext, "scheduleRuns" | "now">, uid: number): number | null {
  const first = scheduleRuns.findStartOfNewest(uid, LIMITS.scheduleRunsPerMinute, { since: now - MINUTE_MS, now });
  return first === null ? null : Math.max(first + MINUTE_MS, now + LATER_MS);
}

/** The clock was set back: its next time was computed from the later clock, and may be far away. */
export function recountSchedule(nouns: Nouns, schedule: ScheduleRow): void {
  const { schedules, now } = nouns;
  orPause(nouns, schedule, () => {
    // What counts from a time that is in the future again counts from now.
    const anchorAt = Math.min(schedule.anchorAt, now);
    const next = findNext(nouns, { ...schedule, anchorAt }, now) ?? schedule.nextAt;
    schedules.update(schedule.id, { anchorAt, nextAt: next, wakeAt: next, countedAt: now });
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
  if (!enabled || nextAt === null || nextAt > now) {
    // The clock was set back.
    schedules.update(id, { nextAt, wakeAt: enabled ? nextAt : null, countedAt: now });
    return null;
  }
  const isLast = isOnce(schedule.expression);
  const isAtWork = isStillAtWork(nouns, schedule);
  const { dueAt, missed, isLate } = chooseTime(schedule, nextAt, now);
  const isMissed = isLate && schedule.catchUp === "skip";
  const isSkipped = isMissed || (isAtWork && !isLast);
  if (isAtWork && !isSkipped) {
    // The end of its run wakes it.
    schedules.update(id, { wakeAt: null, queuedAt: schedule.queuedAt ?? now });
    return null;
  }
  const next = findNext(nouns, schedule, now);
  const ended: ScheduleChange = isLast ? { enabled: false, endedAt: now, hasSpares: true } : {};
  const change: ScheduleChange = { nextAt: next, wakeAt: next, countedAt: now, ...ended };
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
export function planForcedRun(nouns: Nouns, schedule: ScheduleRow, runId: string, makeId: MakeId): ScheduleRunRow | null {
  const { scheduleRuns, emit, after, now } = nouns;
  if (isStillAtWork(nouns, schedule)) return null;
  const run = { ...makeRun(schedule, runId, now, now), isForced: true, ...chooseWork(nouns, schedule, makeId) };
  scheduleRuns.add(run);
  start(nouns, schedule, run, schedule.endedAt === null ? {} : { endedAt: now, hasSpares: true });
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

function start(nouns: Nouns, { id, runCount }: ScheduleRow, { runId, startedAtMs, retryAt }: ScheduleRunRow, change: ScheduleChange): void {
  nouns.schedules.update(id, { ...change, runId, runningAt: startedAtMs, lastRunAt: startedAtMs, runCount: runCount + 1 });
  nouns.wakeBy(retryAt);
}

function countFreeStarts({ scheduleRuns, now }: Nouns, uid: number): number {
  return Math.max(0, LIMITS.scheduleRunsPerMinute - scheduleRuns.countStarts(uid, { since: now - MINUTE_MS, now }));
}

/**
 * Of all times that are due: the last one, if it is in time. Otherwise the first stands for all of them; they were missed, unless one was
 * in time when the schedule joined the queue.
 */
function chooseTime({ expression, anchorAt, queuedAt }: ScheduleRow, nextAt: number, now: number) {
  const firstInTime = (at: number) => nextRun(expression, Math.max(nextAt - 1, at - GRACE_MS), anchorAt) ?? Infinity;
  let inTime: number | null = null;
  let at: number | null = firstInTime(now);
  while (at !== null && at <= now) {
    inTime = at;
    at = nextRun(expression, at, anchorAt);
  }
  if (inTime === null) {
    const isLate = queuedAt === null || firstInTime(queuedAt) > queuedAt;
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
  const unknown = {
    finishedAtMs: null,
    error: null,
    summary: null,
    pid: null,
    conversationId: null,
    target: null,
    targetBy: null,
    madeOf: null,
  };
  const retryAt = now + UNDER_WAY_MS;
  return {
    runId,
    scheduleId: id,
    uid,
    dueAt,
    isForced: false,
    startedAtMs: now,
    state: "starting",
    missed: 0,
    refusedCalls: 0,
    retryAt,
    ...unknown,
  };
}

/**
 * What the run does, who said so, and the process that does it. All are in the ledger, so that a start that is repeated does the same, whatever was
 * changed meanwhile.
 */
function chooseWork(nouns: Nouns, { id, uid, target, targetBy }: ScheduleRow, makeId: MakeId) {
  const { scheduleRuns, processes } = nouns;
  if (target.kind === "process.event") return { target, targetBy, pid: target.pid };
  if (findProfile(target.profile ?? "")?.spawnMode === "singleton") return { target, targetBy, pid: initPidOf(uid) };
  const { profile, parentPid, workspace, assignment } = target;
  const madeOf = JSON.stringify([profile, parentPid, workspace, assignment]);
  if (workspace?.mode === "new") return { target, targetBy, pid: makeId(), madeOf };
  const used = scheduleRuns.listProcesses(id, madeOf);
  const free = used.length < PROCESSES_MAX ? undefined : used.find((pid) => processes.get(pid)?.isBusy === false);
  return { target, targetBy, pid: free ?? takeSpareProcess(nouns, uid, madeOf) ?? makeId(), madeOf };
}

/** A process of a schedule of one run that ended long ago. The schedule and its history stay. */
function takeSpareProcess({ schedules, scheduleRuns, processes, now }: Nouns, uid: number, madeOf: string): string | null {
  for (const id of schedules.listWithSpares(uid, now - SPARES_KEPT_MS, SPARES_TRIES)) {
    const pid = scheduleRuns.listProcesses(id, madeOf).find((one) => processes.get(one)?.isBusy === false);
    if (pid !== undefined) scheduleRuns.releaseProcess(id, pid);
    // So that the next search finds others.
    if (!scheduleRuns.hasProcesses(id)) schedules.update(id, { hasSpares: false });
    if (pid !== undefined) return pid;
  }
  return null;
}
