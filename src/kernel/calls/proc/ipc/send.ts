// Sends a message from one process to another.

import { z } from "zod";
import { ConversationId, Pid } from "../../../../protocol/proc-records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "proc.ipc.send",
  doc: "Send a message to another process of the same user. Only processes can: the message names its sender.",
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
  }),
  result: z.object({
    ok: z.literal(true),
    status: z.literal("started"),
    pid: z.string(),
    sourcePid: z.string(),
    conversationId: z.string(),
    runId: z.string(),
    queued: z.literal(true).optional(),
  }),
  fails: { 403: "the caller is not a process", 404: "there is no such process of this user" },
  example: {
    args: { pid: "init:1000", message: "The notes are tidy." },
    result: { ok: true, status: "started", pid: "init:1000", sourcePid: "5f6c", conversationId: "default", runId: "r2" },
  },
  run: ({ agents }, caller, args) => agents.ipc.send(caller, args),
});
