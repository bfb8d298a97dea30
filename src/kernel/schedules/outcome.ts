// The end of a schedule's run: recorded in the transaction of the event that reports it, so that neither is lost without the other.

import { shorten } from "../../lib/shorten.ts";
import type { ScheduleRunReads, ScheduleRunRow } from "../nouns/schedule-runs.ts";
import type { ScheduleRow } from "../nouns/schedules.ts";
import type { WriteContext } from "../context.ts";
import { dismissAbout, type NotifyNouns, notify, openProcess } from "../notifications/notify.ts";

/** `isFault`: false if it did not fail by itself, such as when a person stopped it. */
export type Outcome = { state: "ok"; summary: string | null } | { state: "error"; error: string; isFault: boolean };

type Nouns = NotifyNouns & Pick<WriteContext, "schedules" | "scheduleRuns" | "wakeBy">;

/** After so many failures in a row a schedule is paused. */
export const FAILURES_MAX = 5;
const SUMMARY_CHARS_MAX = 2_000;
const REPORT_MS = 2_000;
const PREFIX = "schedule:";

/** The process's run that answers the message of a schedule's run. */
export function processRunId(runId: string): string {
  return `${PREFIX}${runId}`;
}

/** Whether this run of a process may be for a schedule. */
export function isScheduled(processRun: string): boolean {
  return processRun.startsWith(PREFIX);
}

/** A run of a process has ended: was it for a schedule? */
export function recordProcessRunEnd(
  nouns: Nouns,
  pid: string,
  {
    runId,
    status,
    text,
    error,
    reason,
  }: { runId: string; status: string; text: string | null; error?: string | undefined; reason: string },
): void {
  const run = findRun(nouns, pid, runId);
  if (run === undefined) return;
  if (status === "ok") finishRun(nouns, run, { state: "ok", summary: text });
  else if (status === "aborted") finishRun(nouns, run, { state: "error", error: "It was stopped", isFault: false });
  else finishRun(nouns, run, { state: "error", error: error ?? reason, isFault: true });
}

/** A call of a process was refused: its run may end well, and has not done everything it wanted to. */
export function recordRefusedCall(nouns: Pick<WriteContext, "scheduleRuns">, pid: string, processRun: string): void {
  const run = findRun(nouns, pid, processRun);
  if (run !== undefined) nouns.scheduleRuns.addRefusedCall(run.runId);
}

/** The run of a schedule that this run of a process is for. */
export function findRun(
  { scheduleRuns }: { scheduleRuns: Pick<ScheduleRunReads, "get"> },
  pid: string,
  processRun: string,
): ScheduleRunRow | undefined {
  if (!isScheduled(processRun)) return undefined;
  const run = scheduleRuns.get(processRun.slice(PREFIX.length));
  // Clients choose run ids too: only the process that the schedule chose reports on it.
  return run === undefined || (run.pid !== null && run.pid !== pid) ? undefined : run;
}

export function finishRun(nouns: Nouns, run: ScheduleRunRow, outcome: Outcome): void {
  const { schedules, scheduleRuns, emit, after, now } = nouns;
  const error = outcome.state === "error" ? shorten(outcome.error, SUMMARY_CHARS_MAX) : null;
  const summary = outcome.state === "ok" && outcome.summary !== null ? shorten(outcome.summary.trim(), SUMMARY_CHARS_MAX) || null : null;
  if (!scheduleRuns.finish(run.runId, outcome.state, { error, summary }, now)) return;
  after(() => emit.announceChanges(run.uid, ["schedules"]));
  const schedule = schedules.find(run.scheduleId);
  if (schedule === undefined) return;
  const isFault = outcome.state === "error" && outcome.isFault;
  const failures = outcome.state === "ok" ? 0 : schedule.failures + Number(isFault);
  schedules.update(schedule.id, {
    lastStatus: outcome.state,
    lastError: error,
    lastMs: Math.max(0, now - run.startedAtMs),
    failures,
    ...(schedule.runId === run.runId ? { runId: null, runningAt: null } : {}),
  });
  if (schedule.runId === run.runId) wakeWaiting(nouns, schedule, schedule.nextAt);
  if (isFault && failures >= FAILURES_MAX && schedule.enabled && schedule.nextAt !== null)
    return pauseSchedule(nouns, schedule, `It failed ${FAILURES_MAX} times in a row, the last time with: ${error}`, run.pid ?? undefined);
  tellOwner(nouns, schedule, run, { error, summary, isFault });
}

/**
 * A process has nothing to do any more. A schedule that waits for a run of it is looked at again a little later: until then the process may
 * report how that run has ended.
 */
export function onProcessIdle(nouns: Pick<Nouns, "schedules" | "scheduleRuns" | "wakeBy" | "now">, pid: string): void {
  for (const { runId, scheduleId } of nouns.scheduleRuns.listRunning(pid)) {
    const schedule = nouns.schedules.find(scheduleId);
    if (schedule?.runId === runId) wakeWaiting(nouns, schedule, nouns.now + REPORT_MS);
  }
}

/** If a schedule waits for its run, it is looked at again. */
function wakeWaiting(
  { schedules, wakeBy }: Pick<Nouns, "schedules" | "wakeBy">,
  { id, wakeAt, queuedAt }: ScheduleRow,
  at: number | null,
): void {
  if (wakeAt !== null || queuedAt === null) return;
  schedules.update(id, { wakeAt: at });
  wakeBy(at);
}

/** Disables a schedule that cannot go on like this, and tells its owner why. */
export function pauseSchedule(nouns: Nouns, { id, uid, name }: ScheduleRow, pausedBecause: string, pid?: string): void {
  nouns.schedules.update(id, { enabled: false, nextAt: null, wakeAt: null, pausedBecause });
  nouns.after(() => nouns.emit.announceChanges(uid, ["schedules"]));
  dismissAbout(nouns, uid, aboutFailure(id));
  notify(nouns, uid, {
    topic: "schedules",
    title: `Schedule paused: ${name}`,
    body: `${pausedBecause}. Enable it again when the cause is mended.`,
    level: "warning",
    pid,
    actions: [{ kind: "open", label: "Open", target: `/schedules/${encodeURIComponent(id)}` }],
    about: aboutPause(id),
  });
}

function tellOwner(
  nouns: Nouns,
  { id, uid, name, notify: wanted }: ScheduleRow,
  { pid }: ScheduleRunRow,
  { error, summary, isFault }: { error: string | null; summary: string | null; isFault: boolean },
): void {
  const isFailure = error !== null;
  if (wanted === "none" || (isFailure ? !isFault : wanted !== "all")) return;
  notify(nouns, uid, {
    topic: "schedules",
    title: isFailure ? `Schedule failed: ${name}` : name,
    ...(isFailure ? { body: error } : summary === null ? {} : { body: summary }),
    level: isFailure ? "error" : "info",
    pid: pid ?? undefined,
    actions: pid === null ? [] : [openProcess(pid)],
    // Of failures the last one says enough.
    ...(isFailure ? { about: aboutFailure(id) } : {}),
  });
}

/** What its notifications are about, except its results. */
export function aboutSchedule(id: string): readonly string[] {
  return [aboutPause(id), aboutFailure(id)];
}

function aboutPause(id: string): string {
  return `schedule-paused:${id}`;
}

function aboutFailure(id: string): string {
  return `schedule-failed:${id}`;
}
