// Every signal, declared once: who receives it, what it means, its payload, and an example. The types of emitters and listeners,
// the list in sys.connect, the reference page and the conformance check are derived from this file.

import { z } from "zod";
import {
  AnswerBlock,
  AnswerEvent,
  ArchiveEntry,
  ContextPolicy,
  ContextState,
  HilRequest,
  Overspent,
  Segment,
  Usage,
} from "./proc-records.ts";
import { NOTIFICATION, NotificationRecord } from "./notification-records.ts";
import type { Role } from "./records.ts";
import * as names from "./signal-names.ts";

type PayloadSchema = z.ZodType<Record<string, unknown>, Record<string, unknown>>;
type Declaration<P extends PayloadSchema> = { to: readonly Role[]; doc: string; payload: P; example: z.input<P> };

function declareSignal<P extends PayloadSchema>(declaration: Declaration<P>): Declaration<P> {
  return declaration;
}

/** The kinds of lists that can change. */
export const ChangedKind = z.enum([
  "approvals",
  "capabilities",
  "config",
  "devices",
  "grants",
  "groups",
  "mcp",
  "oauth",
  "processes",
  "push",
  "repositories",
  "schedules",
  "sessions",
  "tokens",
  "users",
  "watches",
  "workspaces",
]);
export type ChangedKind = z.infer<typeof ChangedKind>;

const Count = z.int().min(0);
const BodyId = { id: Count };

const ProcessChange = z.enum(["messages", "queue", "context", "usage", "conversations", "lifecycle", "budget", "settings"]);
const LifecycleEvent = z.enum([
  "conversation.auto_compacted",
  "conversation.compacted",
  "conversation.deleted",
  "conversation.forked",
  "conversation.policy",
  "conversation.reset",
  "conversation.rewound",
  "process.kill",
  "process.reset",
]);

/** Fields of every event of a process. */
const ProcessEventFields = { pid: z.string(), queuedCount: Count, pausedCount: Count.optional(), timestamp: z.number() };
export type ProcessEventFields = z.infer<z.ZodObject<typeof ProcessEventFields>>;
const OfRun = { runId: z.string(), conversationId: z.string() };
/** `scriptCallId`: a script makes this call, and that is the call which runs the script. */
const OfCall = { ...OfRun, name: z.string(), callId: z.string(), scriptCallId: z.string().optional() };
const RunEnd = { text: z.string().nullable(), error: z.string().optional(), usage: Usage.optional(), aborted: z.literal(true).optional() };

const TO_FOLLOWERS =
  "Sent to the connections that follow the process and to the one that started the run or, if that one is gone, to all connections of the owner.";
const example = { pid: "init:1000", queuedCount: 0, timestamp: 1763200000000 };
const run = { runId: "r1", conversationId: "default" };

export const SIGNALS = {
  [names.BODY]: declareSignal({
    to: ["user", "driver"],
    doc: "Messages between the two ends of a body: how large it is, how much of it to send, that it has ended.",
    payload: z.discriminatedUnion("kind", [
      z.object({ ...BodyId, kind: z.literal("begin"), size: Count, version: z.string().max(1_000), mode: Count }),
      z.object({ ...BodyId, kind: z.literal("more"), from: Count, until: Count }),
      z.object({ ...BodyId, kind: z.literal("end"), sha256: z.string().max(1_000) }),
      z.object({ ...BodyId, kind: z.literal("busy") }),
      z.object({ ...BodyId, kind: z.literal("stop"), why: z.string().max(1_000) }),
    ]),
    example: { id: 1, kind: "more", from: 0, until: 4194304 },
  }),
  [names.COPY_PROGRESS]: declareSignal({
    to: ["user"],
    doc: "Progress of an fs.copy that was given a name for it. Sent to the connection that asked for the copy.",
    payload: z.object({ name: z.string(), bytes: Count, size: Count }),
    example: { name: "copy-1", bytes: 1048576, size: 4194304 },
  }),
  [names.SYS_CHANGED]: declareSignal({
    to: ["user"],
    doc: "Something that lists show has changed; changes names the lists, so that clients read them again. Sent to the user it concerns, and to root; a setting of the gateway concerns everybody.",
    payload: z.object({ changes: z.array(ChangedKind).min(1) }),
    example: { changes: ["tokens"] },
  }),
  [names.DEVICE_STATUS]: declareSignal({
    to: ["user", "driver"],
    doc: "A device connected or disconnected. Sent to the connections of those who may use it, and to the device itself when it connects.",
    payload: z.object({
      event: z.enum(["connected", "disconnected"]),
      device: z.object({
        deviceId: z.string(),
        ownerUid: z.int(),
        platform: z.string(),
        version: z.string(),
        online: z.boolean(),
        firstSeenAt: z.number(),
        lastSeenAt: z.number(),
        connectedAt: z.number().nullable(),
        disconnectedAt: z.number().nullable(),
      }),
    }),
    example: {
      event: "connected",
      device: {
        deviceId: "macbook",
        ownerUid: 1000,
        platform: "darwin",
        version: "0.1.0",
        online: true,
        firstSeenAt: 1763100000000,
        lastSeenAt: 1763200000000,
        connectedAt: 1763200000000,
        disconnectedAt: null,
      },
    },
  }),
  [names.REQ_CANCEL]: declareSignal({
    to: ["driver"],
    doc: "The caller has cancelled a call: id names the request, key the call if it has one. The device ends what it does for the call, including a command that outlived it, and answers as usual.",
    payload: z.object({ id: z.string().optional(), key: z.string().optional() }),
    example: { id: "17" },
  }),
  [names.EXEC_STATUS]: declareSignal({
    to: ["user"],
    doc: "A command on a device that outlived the call that started it has started or ended. A device sends this to the gateway, which adds deviceId and forwards it to the connections of the user who started the command.",
    payload: z.object({
      deviceId: z.string().optional(),
      eventId: z.string().min(1).max(128),
      sessionId: z.string().min(1).max(128),
      event: z.string().min(1).max(128),
      callId: z.string().min(1).max(128).optional(),
      exitCode: z.int().optional(),
      signal: z.string().min(1).max(128).optional(),
      outputTail: z.string().max(16_384).optional(),
      startedAt: z.number().optional(),
      endedAt: z.number().optional(),
    }),
    example: { deviceId: "macbook", eventId: "e1", sessionId: "s1", event: "finished", exitCode: 0, endedAt: 1763200000000 },
  }),
  [names.NOTIFICATION_CREATED]: declareSignal({
    to: ["user"],
    doc: "There is a new notification. Sent to the connections of its user.",
    payload: z.object({ notification: NotificationRecord }),
    example: { notification: NOTIFICATION },
  }),
  [names.NOTIFICATION_UPDATED]: declareSignal({
    to: ["user"],
    doc: "A notification was read. Sent to the connections of its user.",
    payload: z.object({ notification: NotificationRecord }),
    example: { notification: { ...NOTIFICATION, readAt: 1763200100000, expiresAt: 1763804900000 } },
  }),
  [names.NOTIFICATION_DISMISSED]: declareSignal({
    to: ["user"],
    doc: "A notification was dismissed. Sent to the connections of its user.",
    payload: z.object({ notification: NotificationRecord }),
    example: { notification: { ...NOTIFICATION, dismissedAt: 1763200100000, expiresAt: 1763459300000 } },
  }),

  [names.PROC_CHANGED]: declareSignal({
    to: ["user"],
    doc: `Something about a process has changed; changes says what, and the other fields give details. ${TO_FOLLOWERS}`,
    payload: z.object({
      ...ProcessEventFields,
      changes: z.array(ProcessChange).min(1),
      conversationId: z.string().optional(),
      runId: z.string().optional(),
      /** messages */
      messageId: z.int().optional(),
      role: z.enum(["user", "assistant", "system", "toolResult"]).optional(),
      content: z.unknown().optional(),
      /** queue */
      enqueuedRunId: z.string().optional(),
      editedRunId: z.string().optional(),
      withdrawnRunId: z.string().optional(),
      resumed: Count.optional(),
      /** usage */
      provider: z.string().optional(),
      model: z.string().optional(),
      usage: Usage.optional(),
      /** context */
      context: ContextState.optional(),
      /** budget */
      requestId: z.string().optional(),
      over: z.array(Overspent).optional(),
      why: z.string().optional(),
      /** lifecycle */
      event: LifecycleEvent.optional(),
      policy: ContextPolicy.optional(),
      generation: z.int().optional(),
      segment: Segment.optional(),
      archivedMessages: Count.optional(),
      archivedTo: z.string().optional(),
      archives: z.array(ArchiveEntry).optional(),
      summaryMessageId: z.int().nullable().optional(),
      reason: z.string().optional(),
      pressure: z.number().nullable().optional(),
      sourceConversationId: z.string().optional(),
      targetConversationId: z.string().optional(),
      throughMessageId: z.int().optional(),
      restoredMessages: Count.optional(),
      includedLiveSuffix: z.boolean().optional(),
    }),
    example: { ...example, changes: ["messages"], ...run, messageId: 12, role: "user", content: "Hello" },
  }),
  [names.RUN_STARTED]: declareSignal({
    to: ["user"],
    doc: `A process has started to work on a message. ${TO_FOLLOWERS}`,
    payload: z.object({ ...ProcessEventFields, ...OfRun, reason: z.string() }),
    example: { ...example, ...run, reason: "proc.send" },
  }),
  [names.RUN_STREAM]: declareSignal({
    to: ["user"],
    doc: `A piece of the model's answer as it arrives; seq counts the pieces of one model call. Several may be sent as one, from firstSeq to seq. Not numbered as an event, and not repeated after a disconnect: proc.subscribe returns the answer so far. ${TO_FOLLOWERS}`,
    payload: z.object({
      pid: z.string(),
      ...OfRun,
      modelCall: z.int(),
      seq: z.int(),
      firstSeq: z.int().optional(),
      event: AnswerEvent,
      timestamp: z.number(),
    }),
    example: {
      pid: "init:1000",
      ...run,
      modelCall: 1,
      seq: 2,
      event: { type: "text_delta", contentIndex: 0, delta: "Hel" },
      timestamp: 1763200000000,
    },
  }),
  [names.RUN_OUTPUT]: declareSignal({
    to: ["user"],
    doc: `The complete text of one answer from the model. ${TO_FOLLOWERS}`,
    payload: z.object({ ...ProcessEventFields, ...OfRun, text: z.string(), thinking: z.array(AnswerBlock) }),
    example: { ...example, ...run, text: "Hello!", thinking: [] },
  }),
  [names.TOOL_STARTED]: declareSignal({
    to: ["user"],
    doc: `A tool call has started: it needs no approval or has been approved. For a call that a script makes, scriptCallId is the call that runs the script. ${TO_FOLLOWERS}`,
    payload: z.object({ ...ProcessEventFields, ...OfCall, syscall: z.string(), args: z.record(z.string(), z.unknown()) }),
    example: { ...example, ...run, name: "Read", callId: "c1", syscall: "fs.read", args: { path: "~/notes.md" } },
  }),
  [names.TOOL_FINISHED]: declareSignal({
    to: ["user"],
    doc: `A tool call has ended. outcome is denied or stopped if it neither succeeded nor failed; durationMs is how long it ran. args are those of a script's call that was refused before it started. ${TO_FOLLOWERS}`,
    payload: z.object({
      ...ProcessEventFields,
      ...OfCall,
      syscall: z.string().nullable(),
      ok: z.boolean(),
      output: z.string().optional(),
      error: z.string().optional(),
      outcome: z.enum(["denied", "stopped"]).optional(),
      durationMs: z.number().optional(),
      args: z.record(z.string(), z.unknown()).optional(),
    }),
    example: { ...example, ...run, name: "Read", callId: "c1", syscall: "fs.read", ok: true, output: "Buy milk\n", durationMs: 3 },
  }),
  [names.HIL_REQUESTED]: declareSignal({
    to: ["user"],
    doc: `A person must decide whether a call may run, or whether a budget may be exceeded: answer with proc.hil. For a call that a script makes, scriptCallId is the call that runs the script. ${TO_FOLLOWERS}`,
    payload: z.object({ ...ProcessEventFields, ...HilRequest.shape, scriptCallId: z.string().optional() }),
    example: {
      ...example,
      ...run,
      requestId: "q1",
      callId: "c2",
      toolName: "Shell",
      syscall: "shell.exec",
      args: { target: "macbook", input: "rm -r build" },
      createdAt: 1763200000000,
      expiresAt: 1763286400000,
      target: "macbook",
      cwd: "",
      why: "Approval required: shell.exec on a device",
      title: "Run a command on macbook",
      explanation: "This deletes something.",
    },
  }),
  [names.RUN_RETRYING]: declareSignal({
    to: ["user"],
    doc: `The model did not answer and is asked again after waitMs; clients discard what has arrived of its answer. ${TO_FOLLOWERS}`,
    payload: z.object({ ...ProcessEventFields, ...OfRun, attempt: z.int(), waitMs: z.number(), why: z.string() }),
    example: { ...example, ...run, attempt: 2, waitMs: 3000, why: "The model is overloaded" },
  }),
  [names.RUN_FINISHED]: declareSignal({
    to: ["user"],
    doc: `A run has ended, and why. Every run ends with exactly one of these; activeRunId names the run that the process is still working on. ${TO_FOLLOWERS}`,
    payload: z.object({
      ...ProcessEventFields,
      ...OfRun,
      status: z.enum(["ok", "error", "aborted"]),
      reason: z.string(),
      ...RunEnd,
      wallMs: z.number(),
      activeRunId: z.string().optional(),
    }),
    example: { ...example, ...run, status: "ok", reason: "completed", text: "Hello!", wallMs: 840 },
  }),
  [names.CHAT_COMPLETE]: declareSignal({
    to: ["user"],
    doc: `The older name of proc.run.finished. ${TO_FOLLOWERS}`,
    payload: z.object({ ...ProcessEventFields, ...OfRun, ...RunEnd, reason: z.string().optional() }),
    example: { ...example, ...run, text: "Hello!" },
  }),
};

export type SignalName = keyof typeof SIGNALS;
export type Payload<N extends SignalName> = z.infer<(typeof SIGNALS)[N]["payload"]>;

/** A signal with its payload: a test of the name narrows the payload. */
export type Signal<N extends SignalName = SignalName> = { [K in N]: { signal: K; payload: Payload<K> } }[N];

/** Signals of a process that are numbered and stored, so that a follower who was disconnected receives them later. */
export type ProcessEventName = Exclude<Extract<SignalName, `proc.${string}` | typeof names.CHAT_COMPLETE>, typeof names.RUN_STREAM>;
export type ProcessEvent = { [N in ProcessEventName]: { seq: number; signal: N; payload: Payload<N> } }[ProcessEventName];

/** One piece of a streamed answer. */
export type AnswerPiece = Payload<typeof names.RUN_STREAM>;

export function signalsFor(role: Role): string[] {
  return Object.entries(SIGNALS).flatMap(([name, { to }]) => (to.includes(role) ? [name] : []));
}
