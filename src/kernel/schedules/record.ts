// Schedules and their runs as callers see them.

import { describeExpression } from "../../schedules/describe.ts";
import { SysError } from "../../lib/sys-error.ts";
import type { ScheduleExpression, ScheduleRecord, ScheduleRun } from "../../protocol/schedule-records.ts";
import type { ReadContext } from "../context.ts";
import type { ScheduleRunRow } from "../nouns/schedule-runs.ts";
import type { ScheduleRow } from "../nouns/schedules.ts";

export function makeScheduleRecord({ accounts }: Pick<ReadContext, "accounts">, row: ScheduleRow): ScheduleRecord {
  const { id, uid, creator, name, description, enabled, expression, target, catchUp, notify, createdAt, updatedAt } = row;
  const username = accounts.findByUid(uid)?.username ?? String(uid);
  return {
    id,
    ownerUid: uid,
    creator,
    runAs: { kind: "user", uid, username },
    name,
    ...(description === null ? {} : { description }),
    enabled,
    expression,
    target,
    overlapPolicy: "skip",
    catchUp,
    notify,
    says: sayExpression(expression),
    createdAtMs: createdAt,
    updatedAtMs: updatedAt,
    state: {
      nextRunAtMs: row.nextAt,
      runningAtMs: row.runningAt,
      lastRunAtMs: row.lastRunAt,
      lastStatus: row.lastStatus,
      lastError: row.lastError,
      lastDurationMs: row.lastMs,
      runCount: row.runCount,
      pausedBecause: row.pausedBecause,
    },
  };
}

/** What was accepted once may not be any more: a later version of ICU may not know the zone. */
export function sayExpression(expression: ScheduleExpression, timezone?: string): string {
  try {
    return describeExpression(expression, timezone);
  } catch (error) {
    if (error instanceof SysError) return error.message;
    throw error;
  }
}

export function makeRunRecord({
  uid: _,
  target: __,
  targetBy: ___,
  madeOf: ____,
  retryAt: _____,
  dueAt,
  isForced,
  state,
  ...run
}: ScheduleRunRow): ScheduleRun {
  return { ...run, dueAtMs: isForced ? null : dueAt, status: state === "starting" ? "running" : state };
}
