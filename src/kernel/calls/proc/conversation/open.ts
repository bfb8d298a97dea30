// Creates a conversation, or reopens it.

import { z } from "zod";
import { Conversation, OfConversation } from "../../../../protocol/proc-records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "proc.conversation.open",
  doc: "Create a conversation of a process, or reopen a closed one. Without an id it gets a new one.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  isDurableBeforeAnswer: true,
  args: z.object({ ...OfConversation, title: z.string().trim().max(300).optional() }),
  result: z.object({ ok: z.literal(true), pid: z.string(), conversation: Conversation, created: z.boolean() }),
  fails: { 404: "there is no such process" },
  example: {
    args: { title: "Holiday" },
    result: {
      ok: true,
      pid: "init:1000",
      conversation: {
        id: "default",
        generation: 1,
        status: "open",
        title: null,
        messageCount: 2,
        createdAt: 1763200000000,
        updatedAt: 1763200000000,
        isPinned: false,
        startedBy: null,
      },
      created: true,
    },
  },
  async run({ agents }, caller, { pid, ...args }) {
    const { pid: found, value } = await agents.ask(caller, pid, "openConversation", args);
    return { ok: true as const, pid: found, ...value };
  },
});
