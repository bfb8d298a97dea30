// Renames or pins a conversation.

import { z } from "zod";
import { Conversation, OfConversation } from "../../../../protocol/proc-records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "proc.conversation.update",
  doc: "Rename a conversation, or pin it, so that lists show it first. What is missing stays; an empty title is none.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  isDurableBeforeAnswer: true,
  again: "safe",
  args: z.object({ ...OfConversation, title: z.string().max(300).optional(), isPinned: z.boolean().optional() }),
  result: z.object({ ok: z.literal(true), pid: z.string(), conversation: Conversation }),
  fails: { 404: "there is no such process or conversation" },
  example: {
    args: { title: "Holidays", isPinned: true },
    result: {
      ok: true,
      pid: "init:1000",
      conversation: {
        id: "default",
        generation: 1,
        status: "open",
        title: "Holidays",
        messageCount: 2,
        createdAt: 1763200000000,
        updatedAt: 1763200000000,
        isPinned: true,
        startedBy: null,
      },
    },
  },
  async run({ agents }, caller, { pid, ...args }) {
    const { pid: found, value } = await agents.ask(caller, pid, "updateConversation", args);
    return { ok: true as const, pid: found, conversation: value };
  },
});
