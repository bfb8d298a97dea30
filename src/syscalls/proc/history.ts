// What was said in a conversation.

import { z } from "zod";
import { ContextState, HilRequest, HistoryMessage, OfConversation } from "../../protocol/proc-records.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "proc.history",
  doc: "Read what was said in a conversation, oldest first, a page at a time; a negative offset counts from the newest. With it: the oldest question to a person, and how full the context is.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "safe",
  args: z.object({
    ...OfConversation,
    limit: z.int().min(1).max(1000).optional(),
    offset: z.int().optional(),
  }),
  result: z.object({
    ok: z.literal(true),
    pid: z.string(),
    conversationId: z.string(),
    messages: z.array(HistoryMessage),
    messageCount: z.int(),
    truncated: z.literal(true).optional(),
    pendingHil: HilRequest.nullable(),
    context: ContextState.nullable(),
  }),
  fails: { 400: "limit or offset is no integer", 404: "there is no such process" },
  example: {
    args: { limit: 50 },
    result: {
      ok: true,
      pid: "init:1000",
      conversationId: "default",
      messages: [{ id: 1, role: "user", content: "hello", timestamp: 1763200000000 }],
      messageCount: 1,
      pendingHil: null,
      context: null,
    },
  },
  async run({ agents }, caller, { pid, ...page }) {
    const { pid: found, value } = await agents.ask(caller, pid, "history", page);
    return { ok: true as const, pid: found, ...value, pendingHil: agents.questions.oldest(found) };
  },
});
