// Reads the history of a conversation.

import { z } from "zod";
import { ContextState, HilRequest, HistoryMessage, OfConversation } from "../../../protocol/proc-records.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "proc.history",
  doc: [
    "Read what was said in a conversation, oldest first, a page at a time: limit messages, 200 where nothing is said and 1000 at most. Without more said the page begins at the oldest; offset passes over so many, and a negative one counts from the newest.",
    "tail gives the newest instead. beforeMessageId gives the newest of those before a message, afterMessageId the oldest of those after it, without the message itself, which need not be there any more; tail with afterMessageId gives the newest of them. The two do not go together, and offset goes with none of the three.",
    "The answer's offset says how many lie before the page, and truncated that there is more in the direction of paging: after the page, or before it with tail or beforeMessageId. With it: the oldest question to a person, and how full the context is.",
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
  fails: { 400: "limit, offset or a message's id is no integer, or they do not go together", 404: "there is no such process" },
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
