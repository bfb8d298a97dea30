// Records of processes that several proc.* calls carry, as schemas. Field names are the wire's.

import { z } from "zod";

export const Pid = z.string().trim().min(1).max(128);
export const ConversationId = z.string().trim().min(1).max(200);
export const RunId = z.string().min(1).max(128);

/** Of whom something is asked: the caller's own init where nobody is named. */
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
  target: z.string(),
  cwd: z.string(),
  why: z.string(),
});

export const HistoryMessage = z.object({
  id: z.int(),
  role: z.enum(["user", "assistant", "system", "toolResult"]),
  content: z.unknown(),
  timestamp: z.number(),
  /** Of which it was said: whoever chose the runId of what they sent knows it again. */
  runId: z.string().optional(),
});

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

export const Conversation = z.object({
  id: z.string(),
  generation: z.int(),
  status: z.enum(["open", "closed"]),
  title: z.string().nullable(),
  messageCount: z.int(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

export const Segment = z.object({
  id: z.string(),
  conversationId: z.string(),
  generation: z.int(),
  kind: z.literal("compaction"),
  fromMessageId: z.int(),
  toMessageId: z.int(),
  archivePath: z.string(),
  summaryMessageId: z.int().nullable(),
  createdAt: z.number(),
});

export const ContextPolicy = z.object({
  conversationId: z.string(),
  overflow: z.enum(["manual", "auto-compact", "fail"]),
  compactAtPressure: z.number(),
  keepLast: z.int(),
  updatedAt: z.number(),
});

export const ArchiveEntry = z.object({ conversationId: z.string(), generation: z.int(), messages: z.int(), path: z.string() });

/** What goes on although its run was stopped, and why; sessionId where it can be asked after. */
export const StillRunning = z.object({ target: z.string(), command: z.string(), sessionId: z.string().optional(), why: z.string() });

export const Usage = z.object({
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  totalTokens: z.number(),
  isEstimate: z.literal(true).optional(),
  cost: z.object({ input: z.number(), output: z.number(), cacheRead: z.number(), cacheWrite: z.number(), total: z.number() }),
});
/** What one answer of a model took. */
export const MessageUsage = z.object({
  provider: z.string(),
  model: z.string(),
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  cost: z.number(),
});
export const Spent = z.object({ modelCalls: z.int(), toolCalls: z.int(), wallMs: z.number(), usage: Usage });

export const Grant = z.object({
  grantId: z.string(),
  uid: z.int(),
  pid: z.string(),
  call: z.string(),
  target: z.string(),
  /** `class`: calls like the one that was approved, as `says` puts it. */
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

export const ProcessEvent = z.object({ seq: z.int(), signal: z.string(), payload: z.record(z.string(), z.unknown()) });
