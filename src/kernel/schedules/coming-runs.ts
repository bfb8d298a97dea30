// The coming runs of schedules, of one or of many together. A run is computed when it is asked for: one of a rare time takes long to find.

import { SysError } from "../../lib/sys-error.ts";
import { nextRun } from "../../schedules/next-run.ts";
import type { ScheduleRow } from "../nouns/schedules.ts";

export type ComingSchedule = Pick<ScheduleRow, "id" | "name" | "expression" | "anchorAt" | "nextAt">;
export type ComingRun = { scheduleId: string; name: string; atMs: number };
type Pending = { schedule: ComingSchedule; runs: Iterator<number, undefined>; at: number | undefined };

/** The next runs of a schedule, at most `count`. The first is `nextAt`; one that is disabled has none. */
export function listRunsOf(schedule: ComingSchedule, now: number, count: number): number[] {
  return listComingRuns([schedule], { now, until: Infinity, limit: count }).map(({ atMs }) => atMs);
}

/** The runs of all of them up to `until`, in order, at most `limit`. */
export function listComingRuns(
  schedules: readonly ComingSchedule[],
  { now, until, limit }: { now: number; until: number; limit: number },
): ComingRun[] {
  const pending = schedules.map((schedule) => advance({ schedule, runs: iterateRuns(schedule, now), at: undefined }));
  const found: ComingRun[] = [];
  while (found.length < limit) {
    const first = findFirst(pending);
    if (first?.at === undefined || first.at > until) break;
    found.push({ scheduleId: first.schedule.id, name: first.schedule.name, atMs: first.at });
    if (found.length < limit) advance(first);
  }
  return found;
}

function* iterateRuns({ expression, anchorAt, nextAt }: ComingSchedule, now: number): Generator<number, undefined> {
  if (nextAt === null) return;
  yield nextAt;
  // Of a time that is due and waits, the times that pass meanwhile are no runs of their own.
  let at = findNext(expression, Math.max(nextAt, now), anchorAt);
  while (at !== null) {
    yield at;
    at = findNext(expression, at, anchorAt);
  }
}

function findNext(expression: ScheduleRow["expression"], after: number, anchorAt: number): number | null {
  try {
    return nextRun(expression, after, anchorAt);
  } catch (error) {
    // Its next look at the schedule pauses it, and says why.
    if (error instanceof SysError) return null;
    throw error;
  }
}

function advance(one: Pending): Pending {
  one.at = one.runs.next().value;
  return one;
}

function findFirst(pending: readonly Pending[]): Pending | undefined {
  let first: Pending | undefined;
  for (const one of pending) if (one.at !== undefined && (first?.at === undefined || one.at < first.at)) first = one;
  return first;
}
