// Reads the history of a conversation.

import { z } from "zod";
import { ContextState, HilRequest, HistoryMessage, OfConversation } from "../../../protocol/proc-records.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "proc.history",
  doc: [
    "Read the messages of a conversation, oldest first, a page at a time: limit messages, 200 by default and at most 1000. By default the page begins at the oldest message; offset skips that many, and a negative one counts from the newest.",
    "tail returns the newest instead. beforeMessageId returns the newest of those before a message, afterMessageId the oldest of those after it, without the message itself, which may be gone; tail with afterMessageId returns the newest of them. beforeMessageId and afterMessageId cannot be combined, and offset cannot be combined with any of the three.",
    "The answer's offset says how many messages are before the page, and truncated that there are more in the direction of paging: after the page, or before it with tail or beforeMessageId. The answer also has the oldest open question and how full the context is.",
  ].join(" "),
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "safe",
  atOnce: 2,
  args: z.object({
    ...OfConversation,
    limit: z.int().min(1).optional(),
    offset: z.int().optional(),
    tail: z.boolean().optional(),
    beforeMessageId: z.int().min(0).optional(),
    afterMessageId: z.int().min(0).optional(),
  }),
  result: z.object({
    ok: z.literal(true),
    pid: z.string(),
    conversationId: z.string(),
    messages: z.array(HistoryMessage),
    messageCount: z.int(),
    offset: z.int(),
    truncated: z.literal(true).optional(),
    pendingHil: HilRequest.nullable(),
    context: ContextState.nullable(),
  }),
  fails: { 400: "limit, offset or a message's id is not an integer, or they cannot be combined", 404: "there is no such process" },
  example: {
    args: { limit: 50 },
    result: {
      ok: true,
      pid: "init:1000",
      conversationId: "default",
      messages: [{ id: 1, role: "user", content: "hello", timestamp: 1763200000000 }],
      messageCount: 1,
      offset: 0,
      pendingHil: null,
      context: null,
    },
  },
  async run({ agents }, caller, { pid, ...page }) {
    const { pid: found, value } = await agents.ask(caller, pid, "history", page);
    return { ok: true as const, pid: found, ...value, pendingHil: agents.questions.findOldest(found) };
  },
});
