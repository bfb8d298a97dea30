// Schedules and their runs on the wire, as schemas. Field names are those of the specification.

import { z } from "zod";
import { ConversationId, ContextFile, Pid } from "./proc-records.ts";
import { WorkspaceSpec } from "./workspace-spec.ts";

/** Times before the year 10000, which is as far as dates can be written. */
const TIME_MS_MAX = 253_402_300_799_999;
const isPositive = { error: describePositive };
const Time = z.int(isPositive).min(1, isPositive).max(TIME_MS_MAX);
const DURATION_MS_MAX = 10 * 366 * 24 * 60 * 60 * 1000;

/** The shortest interval of a schedule. */
export const EVERY_MS_MIN = 1_000;

const Timezone = z.string({ error: askForTimezone }).min(1).max(64);

export const ScheduleName = z.string({ error: askForName }).trim().min(1).max(200);

/** When a schedule runs. `cron` has five fields, and is about the local time of its zone. */
export const ScheduleExpression = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("at"), atMs: Time }),
  z.object({ kind: z.literal("after"), afterMs: Time.max(DURATION_MS_MAX) }),
  z.object({
    kind: z.literal("every"),
    everyMs: Time.max(DURATION_MS_MAX).min(EVERY_MS_MIN, { error: "schedule everyMs must be at least 1000" }),
    anchorMs: Time.optional(),
  }),
  z.object({ kind: z.literal("cron"), expr: z.string().trim().min(1).max(200), timezone: Timezone }),
]);
export type ScheduleExpression = z.infer<typeof ScheduleExpression>;

const Message = z.string().trim().min(1).max(100_000);

/** What a schedule does: start a process with a prompt, or send a message to a process. */
export const ScheduleTarget = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("process.spawn"),
    profile: z.string().trim().min(1).max(64).optional(),
    label: z.string().max(200).optional(),
    prompt: Message,
    parentPid: Pid.optional(),
    workspace: WorkspaceSpec.optional(),
    mounts: z.array(z.unknown()).max(0, { error: "mounts are not supported: this gateway has no packages. Leave them out" }).optional(),
    assignment: z.object({ contextFiles: z.array(ContextFile).max(50), autoStart: z.boolean().optional() }).optional(),
  }),
  z.object({
    kind: z.literal("process.event"),
    pid: Pid,
    conversationId: ConversationId.optional(),
    message: Message,
    data: z.record(z.string(), z.unknown()).optional(),
  }),
]);
export type ScheduleTarget = z.infer<typeof ScheduleTarget>;

/** After downtime, whether the latest missed time is made up for. */
export const CatchUp = z.enum(["skip", "once"]);
export type CatchUp = z.infer<typeof CatchUp>;

/** Which runs its owner is notified of. A schedule that is paused because it keeps failing always notifies. */
export const ScheduleNotify = z.enum(["all", "failures", "none"]);
export type ScheduleNotify = z.infer<typeof ScheduleNotify>;

/** Who made a schedule, and as whom it runs. */
export const Principal = z.object({
  kind: z.enum(["user", "process", "service"]),
  uid: z.int(),
  username: z.string(),
  pid: z.string().optional(),
});
export type Principal = z.infer<typeof Principal>;

export const ScheduleRecord = z.object({
  id: z.string(),
  ownerUid: z.int(),
  creator: Principal,
  runAs: Principal,
  name: z.string(),
  description: z.string().optional(),
  enabled: z.boolean(),
  expression: ScheduleExpression,
  target: ScheduleTarget,
  overlapPolicy: z.literal("skip"),
  catchUp: CatchUp,
  notify: ScheduleNotify,
  /** The expression in words. */
  says: z.string(),
  createdAtMs: z.number(),
  updatedAtMs: z.number(),
  state: z.object({
    nextRunAtMs: z.number().nullable(),
    runningAtMs: z.number().nullable(),
    lastRunAtMs: z.number().nullable(),
    lastStatus: z.enum(["ok", "error", "skipped"]).nullable(),
    lastError: z.string().nullable(),
    lastDurationMs: z.number().nullable(),
    runCount: z.int(),
    /** Why the gateway disabled it; null if it is enabled or a person has disabled it. */
    pausedBecause: z.string().nullable(),
  }),
});
export type ScheduleRecord = z.infer<typeof ScheduleRecord>;

/**
 * One run of a schedule. `dueAtMs` is the time it stands for; null if somebody forced it. `missed` counts earlier times that it makes up
 * for, or times that were skipped with it.
 */
export const ScheduleRun = z.object({
  runId: z.string(),
  scheduleId: z.string(),
  dueAtMs: z.number().nullable(),
  startedAtMs: z.number(),
  finishedAtMs: z.number().nullable(),
  status: z.enum(["running", "ok", "error", "skipped"]),
  error: z.string().nullable(),
  /** The answer of the process, or its beginning. */
  summary: z.string().nullable(),
  pid: z.string().nullable(),
  conversationId: z.string().nullable(),
  missed: z.int(),
  /** How many calls of the process were refused, by a policy or because nobody could be asked. */
  refusedCalls: z.int(),
});
export type ScheduleRun = z.infer<typeof ScheduleRun>;

// The error of a schema is also asked about its limits, which the general words describe.

function describePositive({ code, path = [] }: z.core.$ZodRawIssue): string | undefined {
  return code === "too_big" ? undefined : `${path.join(".")} must be a positive integer`;
}

function askForTimezone({ input, path = [] }: z.core.$ZodRawIssue): string | undefined {
  return input === undefined
    ? `${path.join(".")} is required: name a time zone of the IANA database, such as Europe/Berlin or UTC`
    : undefined;
}

function askForName({ code }: z.core.$ZodRawIssue): string | undefined {
  return code === "too_big" ? undefined : "schedule name is required";
}
