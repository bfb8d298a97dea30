// Adds and changes schedules: checks what was asked for, and computes when it runs first.

import { fail } from "../../lib/sys-error.ts";
import { checkExpression, nextRun } from "../../schedules/next-run.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { type Caller, isRoot } from "../../protocol/caller.ts";
import type { CatchUp, Principal, ScheduleExpression, ScheduleNotify, ScheduleTarget } from "../../protocol/schedule-records.ts";
import { mustBeProfile } from "../agents/profiles.ts";
import type { WriteContext } from "../context.ts";
import { type ScheduleChange, type ScheduleReads, type ScheduleRow, sizeOf } from "../nouns/schedules.ts";
import { dismissAbout } from "../notifications/notify.ts";
import { aboutSchedule } from "./outcome.ts";

export type NewSchedule = {
  name: string;
  description?: string | undefined;
  enabled: boolean;
  expression: ScheduleExpression;
  target: ScheduleTarget;
  catchUp: CatchUp;
  notify?: ScheduleNotify | undefined;
};

export type SchedulePatch = {
  name?: string | undefined;
  description?: string | null | undefined;
  enabled?: boolean | undefined;
  expression?: ScheduleExpression | undefined;
  target?: ScheduleTarget | undefined;
  catchUp?: CatchUp | undefined;
  notify?: ScheduleNotify | undefined;
};

/** The profile of a process that a schedule starts: nobody is there to be asked. */
export const DEFAULT_PROFILE = "cron";
/** Lists contain it. */
const TARGET_CHARS_MAX = 64 * 1024;

export function addSchedule(nouns: WriteContext, caller: Caller, args: NewSchedule): ScheduleRow {
  const { schedules, now } = nouns;
  const { name, description, enabled, expression, catchUp } = args;
  if (schedules.count(caller.uid) >= LIMITS.schedulesPerUser)
    fail(429, `Too many schedules: at most ${LIMITS.schedulesPerUser} per user. Remove some that no longer run`);
  checkExpression(expression, now);
  const target = completeTarget(nouns, caller, args.target);
  const nextAt = enabled ? nextRun(expression, now, now) : null;
  const schedule = schedules.add({
    uid: caller.uid,
    creator: makePrincipal(caller),
    name,
    description: description || null,
    enabled,
    expression,
    target,
    targetBy: makePrincipal(caller),
    catchUp,
    notify: args.notify ?? defaultNotify(target),
    anchorAt: now,
    nextAt,
    wakeAt: nextAt,
    queuedAt: null,
    countedAt: now,
    endedAt: null,
    hasSpares: false,
    runId: null,
    runningAt: null,
    lastRunAt: null,
    lastStatus: null,
    lastError: null,
    lastMs: null,
    runCount: 0,
    failures: 0,
    pausedBecause: null,
    createdAt: now,
    updatedAt: now,
  });
  checkSize(schedules, caller.uid);
  nouns.wakeBy(nextAt);
  return schedule;
}

export function changeSchedule(nouns: WriteContext, caller: Caller, id: string, patch: SchedulePatch): ScheduleRow {
  const { schedules, now } = nouns;
  const before = schedules.requireUsable(caller, id);
  const { name, description, enabled, expression, target, catchUp, notify } = patch;
  const change: ScheduleChange = {
    updatedAt: now,
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description: description || null }),
    ...(target === undefined ? {} : { target: completeTarget(nouns, caller, target) }),
    ...(catchUp === undefined ? {} : { catchUp }),
    ...(notify === undefined ? {} : { notify }),
    ...(enabled === undefined ? {} : { enabled, pausedBecause: null }),
    ...(expression === undefined ? {} : { expression }),
    ...(isRearmed(before, patch) ? rearm(before, { enabled, expression }, now) : {}),
  };
  if (hasOtherWords(before, change, caller)) change.targetBy = makePrincipal(caller);
  schedules.update(id, change);
  if (target !== undefined) checkSize(schedules, before.uid);
  if (enabled !== undefined) for (const about of aboutSchedule(id)) dismissAbout(nouns, before.uid, about);
  announce(nouns, before);
  const after = { ...before, ...change };
  nouns.wakeBy(after.wakeAt);
  return after;
}

export function removeSchedule(nouns: WriteContext, caller: Caller, id: string): boolean {
  const { schedules, scheduleRuns } = nouns;
  const found = schedules.find(id);
  if (found === undefined || (found.uid !== caller.uid && !isRoot(caller))) return false;
  scheduleRuns.removeSchedule(id);
  for (const about of aboutSchedule(id)) dismissAbout(nouns, found.uid, about);
  announce(nouns, found);
  return schedules.remove(id);
}

/** Whether it runs at other times than before. Otherwise a time that is due must not be lost. */
function isRearmed(before: ScheduleRow, { enabled, expression }: SchedulePatch): boolean {
  const isOther = expression !== undefined && JSON.stringify(expression) !== JSON.stringify(before.expression);
  return isOther || (enabled !== undefined && enabled !== before.enabled);
}

/** Whether its message becomes the caller's. A form that sends the same target again says nothing new; a message contains the name too. */
function hasOtherWords(before: ScheduleRow, { target, name }: ScheduleChange, { agent }: Caller): boolean {
  if (agent !== undefined && name !== undefined && name !== before.name) return true;
  return target !== undefined && JSON.stringify(target) !== JSON.stringify(before.target);
}

function rearm(before: ScheduleRow, patch: Pick<SchedulePatch, "enabled" | "expression">, now: number): ScheduleChange {
  const { enabled = before.enabled, expression = before.expression } = patch;
  if (!enabled) {
    if (patch.expression !== undefined) checkExpression(expression, now);
    const anchor = patch.expression === undefined ? {} : { anchorAt: now, endedAt: null };
    return { nextAt: null, wakeAt: null, countedAt: now, ...anchor, ...(patch.enabled === false ? { pausedBecause: null } : {}) };
  }
  checkExpression(expression, now);
  // A delay counts from now; an interval keeps its beat while it is only disabled and enabled again.
  const anchorAt = patch.expression !== undefined || (expression.kind === "after" && !before.enabled) ? now : before.anchorAt;
  const nextAt = nextRun(expression, now, anchorAt);
  return { anchorAt, nextAt, wakeAt: nextAt, countedAt: now, endedAt: null, failures: 0, pausedBecause: null };
}

function checkSize(schedules: Pick<ScheduleReads, "sizeOf">, uid: number): void {
  const max = LIMITS.scheduleBytesPerUser;
  if (schedules.sizeOf(uid) > max) fail(413, `The texts of all schedules of a user are at most ${max} characters: remove some schedules`);
}

/** Root may change what belongs to somebody else. */
function announce({ emit, after }: WriteContext, { uid }: ScheduleRow): void {
  after(() => emit.announceChanges(uid, ["schedules"]));
}

/** Refuses a target that could not run, and fills in what was left out. */
function completeTarget({ processes }: Pick<WriteContext, "processes">, caller: Caller, target: ScheduleTarget): ScheduleTarget {
  if (sizeOf(target) > TARGET_CHARS_MAX) fail(413, `The target is larger than ${TARGET_CHARS_MAX} characters`);
  if (target.kind === "process.event") {
    processes.requireUsable(caller, target.pid);
    return target;
  }
  const { id: profile, spawnMode, startable } = mustBeProfile(target.profile ?? DEFAULT_PROFILE);
  const { agent } = caller;
  // It would be told as if its user had said it.
  if (agent !== undefined && spawnMode === "singleton")
    fail(403, `A process cannot schedule work for profile ${profile}: use process.event`);
  // What it may not start itself it may not start later either.
  if (agent !== undefined && !startable && profile !== DEFAULT_PROFILE) fail(403, `A process cannot schedule work for profile ${profile}`);
  // The policies of its parents apply to a process: what an agent schedules may do no more than the agent.
  if (agent !== undefined && target.parentPid !== undefined && target.parentPid !== agent.pid)
    fail(403, "A process can schedule only children of its own: leave parentPid out");
  const parentPid = target.parentPid ?? agent?.pid;
  if (parentPid !== undefined) processes.requireUsable(caller, parentPid);
  return { ...target, profile, ...(parentPid === undefined ? {} : { parentPid }) };
}

/** The answer of a process that was started for it would be seen by nobody; one in a conversation is there to be read. */
function defaultNotify(target: ScheduleTarget): ScheduleNotify {
  return target.kind === "process.spawn" ? "all" : "failures";
}

function makePrincipal({ uid, username, agent }: Caller): Principal {
  return agent === undefined ? { kind: "user", uid, username } : { kind: "process", uid, username, pid: agent.pid };
}
