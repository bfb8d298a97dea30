// Calls another process, which answers with a message.

import { z } from "zod";
import { ConversationId, Pid } from "../../../../protocol/proc-records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "proc.ipc.call",
  doc: "Ask another process of the same user and receive its answer: the call returns once it is accepted, and the caller later gets a message with the answer, or one that says that none came in time. timeoutMs is 60000 by default, and clamped to 1000..600000.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  isDurableBeforeAnswer: true,
  args: z.object({
    pid: Pid,
    conversationId: ConversationId.optional(),
    message: z.string().trim().min(1).max(1_000_000),
    metadata: z.record(z.string(), z.unknown()).optional(),
    timeoutMs: z.int().optional(),
  }),
  result: z.object({
    ok: z.literal(true),
    status: z.literal("started"),
    pid: z.string(),
    sourcePid: z.string(),
    conversationId: z.string(),
    runId: z.string(),
    queued: z.literal(true).optional(),
    callId: z.string(),
    deadlineAt: z.number(),
  }),
  fails: { 403: "the caller is not a process", 404: "there is no such process of this user" },
  example: {
    args: { pid: "init:1000", message: "The notes are tidy." },
    result: {
      ok: true,
      status: "started",
      pid: "init:1000",
      sourcePid: "5f6c",
      conversationId: "default",
      runId: "r2",
      callId: "k1",
      deadlineAt: 1763200060000,
    },
  },
  run: ({ agents }, caller, args) => agents.ipc.call(caller, args),
});
