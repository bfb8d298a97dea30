// Lists queued messages.

import { z } from "zod";
import { OfConversation } from "../../../../protocol/proc-records.ts";
import { syscall } from "../../define.ts";

const QueuedMessage = z.object({
  runId: z.string(),
  conversationId: z.string(),
  role: z.enum(["user", "system"]),
  text: z.string(),
  media: z.array(z.record(z.string(), z.unknown())).optional(),
  queuedAt: z.number(),
  /** On hold until proc.queue.resume. */
  paused: z.literal(true).optional(),
});

export default syscall({
  name: "proc.queue.list",
  doc: "List the queued messages of a process, in the order it will work on them.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "safe",
  args: z.object({ ...OfConversation }),
  result: z.object({ ok: z.literal(true), pid: z.string(), messages: z.array(QueuedMessage) }),
  fails: { 404: "there is no such process" },
  example: {
    args: {},
    result: {
      ok: true,
      pid: "init:1000",
      messages: [{ runId: "r2", conversationId: "default", role: "user", text: "and then?", queuedAt: 1763200000000 }],
    },
  },
  async run({ agents }, caller, { pid, conversationId }) {
    const { pid: found, value } = await agents.ask(caller, pid, "queue", { conversationId });
    return { ok: true as const, pid: found, messages: value };
  },
});
