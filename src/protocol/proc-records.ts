// Records of processes that several proc.* calls share, as schemas. Field names are those of the wire.

import { z } from "zod";

export const Pid = z.string().trim().min(1).max(128);
export const CONVERSATION_ID_CHARS_MAX = 200;
export const ConversationId = z.string().trim().min(1).max(CONVERSATION_ID_CHARS_MAX);
export const RunId = z.string().min(1).max(128);

/** The process that a call is about: the caller's own init if none is named. */
export const OfProcess = { pid: Pid.optional() };
export const OfConversation = { ...OfProcess, conversationId: ConversationId.optional() };
export const Page = { limit: z.int().min(1).optional(), offset: z.int().min(0).optional() };

export const ContextFile = z.object({ name: z.string().trim().min(1).max(200), text: z.string().max(256 * 1024) });
export type ContextFile = z.infer<typeof ContextFile>;

export const ProcessState = z.enum(["idle", "queued", "running", "waiting_tool", "waiting_hil"]);
export type ProcessState = z.infer<typeof ProcessState>;

export const ProcessSummary = z.object({
  pid: z.string(),
  uid: z.int(),
  username: z.string(),
  profile: z.string(),
  parentPid: z.string().nullable(),
  state: ProcessState,
  label: z.string().nullable(),
  createdAt: z.number(),
  workspaceId: z.string().nullable(),
  cwd: z.string(),
  activeRunId: z.string().nullable(),
  activeConversationId: z.string().nullable(),
  queuedCount: z.int(),
  lastActiveAt: z.number().nullable(),
});

export const Media = z.object({
  type: z.enum(["image", "audio", "video", "document"]),
  mimeType: z.string().min(1).max(200),
  /** Base64, or a data URL. */
  data: z.string().optional(),
  url: z.string().max(4096).optional(),
  filename: z.string().max(255).optional(),
  size: z.number().optional(),
  duration: z.number().optional(),
  transcription: z.string().max(100_000).optional(),
});
export type Media = z.infer<typeof Media>;

/** A question to a person: whether a call may run, or whether a run may exceed its budget. */
export const HilRequest = z.object({
  requestId: z.string(),
  runId: z.string(),
  conversationId: z.string(),
  callId: z.string(),
  toolName: z.string(),
  syscall: z.string(),
  args: z.record(z.string(), z.unknown()),
  createdAt: z.number(),
  expiresAt: z.number(),
  /** Where the call runs, and in which directory; the directory is empty if only the device knows it. */
  target: z.string(),
  cwd: z.string(),
  /** Why approval is needed: the rule that says so. */
  why: z.string(),
  /** What is asked, for people: in the imperative, without a question mark. */
  title: z.string(),
  /** Why approval is needed, for people. */
  explanation: z.string(),
});
export type HilRequest = z.infer<typeof HilRequest>;

/** Who asks a question: the name of the agent, and the schedule that started the run. */
export const AskedBy = z.object({ agent: z.string(), schedule: z.object({ id: z.string(), name: z.string() }).nullable() });
export type AskedBy = z.infer<typeof AskedBy>;

/** A call that a script made, with the beginnings of its arguments and of its error. */
export const ScriptCallRecord = z.object({
  callId: z.string(),
  name: z.string(),
  args: z.record(z.string(), z.unknown()),
  ok: z.boolean(),
  outcome: z.enum(["denied", "stopped"]).optional(),
  error: z.string().optional(),
  durationMs: z.number().optional(),
});
export type ScriptCallRecord = z.infer<typeof ScriptCallRecord>;

/** `count` is of all calls; `calls` are the last of them. */
export const ScriptCallList = z.object({ count: z.int(), calls: z.array(ScriptCallRecord) });
export type ScriptCallList = z.infer<typeof ScriptCallList>;

export const HistoryMessage = z.object({
  id: z.int(),
  role: z.enum(["user", "assistant", "system", "toolResult"]),
  content: z.unknown(),
  timestamp: z.number(),
  /** The run that it belongs to: a sender who chose the runId recognizes the message by it. */
  runId: z.string().optional(),
});
export type HistoryMessage = z.infer<typeof HistoryMessage>;

export const ContextState = z.object({
  conversationId: z.string(),
  runId: z.string().optional(),
  messageCount: z.int().optional(),
  lastMessageId: z.int().nullable().optional(),
  provider: z.string(),
  model: z.string(),
  contextWindowTokens: z.number().nullable(),
  maxOutputTokens: z.number(),
  estimatedInputTokens: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number().optional(),
  totalTokens: z.number().optional(),
  availableInputTokens: z.number().nullable(),
  pressure: z.number().nullable(),
  level: z.enum(["unknown", "ok", "warn", "critical", "full"]),
  source: z.enum(["estimate", "provider"]),
  updatedAt: z.number(),
});
export type ContextState = z.infer<typeof ContextState>;

/** A schedule, by its name at that time. */
export const StartedBy = z.object({ kind: z.literal("schedule"), id: z.string(), name: z.string() });
export type StartedBy = z.infer<typeof StartedBy>;

export const Conversation = z.object({
  id: z.string(),
  generation: z.int(),
  status: z.enum(["open", "closed"]),
  title: z.string().nullable(),
  messageCount: z.int(),
  createdAt: z.number(),
  updatedAt: z.number(),
  /** Lists show it first. */
  isPinned: z.boolean(),
  /** What has started it, if that is not a person or an agent. */
  startedBy: StartedBy.nullable(),
});
export type Conversation = z.infer<typeof Conversation>;

export const Segment = z.object({
  id: z.string(),
  conversationId: z.string(),
  generation: z.int(),
  /** Replaced by a summary, or removed by a rewind. */
  kind: z.enum(["compaction", "rewind"]),
  fromMessageId: z.int(),
  toMessageId: z.int(),
  archivePath: z.string(),
  summaryMessageId: z.int().nullable(),
  createdAt: z.number(),
});
export type Segment = z.infer<typeof Segment>;

export const ContextPolicy = z.object({
  conversationId: z.string(),
  overflow: z.enum(["manual", "auto-compact", "fail"]),
  compactAtPressure: z.number(),
  keepLast: z.int(),
  updatedAt: z.number(),
});
export type ContextPolicy = z.infer<typeof ContextPolicy>;

export const ArchiveEntry = z.object({ conversationId: z.string(), generation: z.int(), messages: z.int(), path: z.string() });
export type ArchiveEntry = z.infer<typeof ArchiveEntry>;

/** A command that continues although its run was stopped, and why; sessionId if it can be polled. */
export const StillRunning = z.object({ target: z.string(), command: z.string(), sessionId: z.string().optional(), why: z.string() });
export type StillRunning = z.infer<typeof StillRunning>;

export const Usage = z.object({
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  totalTokens: z.number(),
  /** The provider reported no usage, so this is estimated from the length of the texts. */
  isEstimate: z.literal(true).exactOptional(),
  /** In dollars, as far as the catalogue has prices. */
  cost: z.object({ input: z.number(), output: z.number(), cacheRead: z.number(), cacheWrite: z.number(), total: z.number() }),
});
export type Usage = z.infer<typeof Usage>;
/** The usage of one model answer. */
export const MessageUsage = z.object({
  provider: z.string(),
  model: z.string(),
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  cost: z.number(),
});
export type MessageUsage = z.infer<typeof MessageUsage>;
export const Spent = z.object({ modelCalls: z.int(), toolCalls: z.int(), wallMs: z.number(), usage: Usage });
export type Spent = z.infer<typeof Spent>;

/** A budget that is used up. */
export const Overspent = z.object({
  scope: z.enum(["run", "process", "user"]),
  limit: z.enum(["modelCalls", "toolCalls", "tokens", "cost", "wallMs"]),
  allowed: z.number(),
  used: z.number(),
});
export type Overspent = z.infer<typeof Overspent>;

export const Grant = z.object({
  grantId: z.string(),
  uid: z.int(),
  pid: z.string(),
  call: z.string(),
  target: z.string(),
  /** `class`: calls like the approved one, as `says` describes. */
  scope: z.enum(["exact", "folder", "tool", "class"]),
  folder: z.string().nullable(),
  madeAt: z.number(),
  expiresAt: z.number(),
  /** In words, for the person who gave it. */
  says: z.string(),
  /** The call that was approved. */
  shown: z.object({ text: z.string(), isWhole: z.boolean() }),
  requestId: z.string(),
});
export type Grant = z.infer<typeof Grant>;

const Signature = { signature: z.string().exactOptional() };
const ToolCallBlock = z.object({
  type: z.literal("toolCall"),
  id: z.string(),
  name: z.string(),
  /**
   * Null while they are still arriving, or if they are not valid JSON: then `raw` has the received text, and the call must not
   * run.
   */
  arguments: z.record(z.string(), z.unknown()).nullable(),
  raw: z.string().exactOptional(),
  ...Signature,
});

/**
 * A block of a model's answer. A `signature` belongs to the provider and is returned unread, only to the model that issued it.
 */
export const AnswerBlock = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string(), ...Signature }),
  z.object({ type: z.literal("thinking"), thinking: z.string(), redacted: z.literal(true).exactOptional(), ...Signature }),
  ToolCallBlock,
]);
export type AnswerBlock = z.infer<typeof AnswerBlock>;

const At = { contentIndex: z.int() };
/** Set if the fallback model answered. */
const By = { by: z.object({ provider: z.string(), model: z.string() }).exactOptional() };
/**
 * One event of a streamed answer: which block it adds to, and what. `retrying` voids everything before it; `done` and `error` are
 * the last.
 */
export const AnswerEvent = z.discriminatedUnion("type", [
  z.object({ type: z.enum(["text_start", "text_end", "thinking_start", "thinking_end"]), ...At }),
  z.object({ type: z.enum(["text_delta", "thinking_delta", "toolcall_delta"]), ...At, delta: z.string() }),
  z.object({ type: z.literal("toolcall_start"), ...At, id: z.string(), name: z.string() }),
  z.object({ type: z.literal("toolcall_end"), ...At, call: ToolCallBlock }),
  z.object({ type: z.literal("retrying"), attempt: z.int(), waitMs: z.number(), why: z.string() }),
  z.object({ type: z.literal("done"), content: z.array(AnswerBlock), usage: Usage, stop: z.enum(["end", "tools", "length"]), ...By }),
  z.object({
    type: z.literal("error"),
    content: z.array(AnswerBlock),
    usage: Usage.nullable(),
    error: z.object({ kind: z.string(), message: z.string() }),
    ...By,
  }),
]);
export type AnswerEvent = z.infer<typeof AnswerEvent>;

/**
 * The part of an answer that has arrived: `blocks` contains the pieces up to `seq`. `modelCall` is the number of the model call
 * in the run.
 */
export const LiveAnswer = z.object({
  runId: z.string(),
  conversationId: z.string(),
  modelCall: z.int(),
  seq: z.int(),
  blocks: z.array(AnswerBlock),
});
export type LiveAnswer = z.infer<typeof LiveAnswer>;
