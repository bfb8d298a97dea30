// Describes one conversation.

import { z } from "zod";
import { Conversation, OfConversation } from "../../../../protocol/proc-records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "proc.conversation.get",
  doc: "Describe one conversation; null if there is none with that id.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "safe",
  args: z.object({ ...OfConversation }),
  result: z.object({ ok: z.literal(true), pid: z.string(), conversation: Conversation.nullable() }),
  fails: { 404: "there is no such process" },
  example: {
    args: {},
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
    },
  },
  async run({ agents }, caller, { pid, ...args }) {
    const { pid: found, value } = await agents.ask(caller, pid, "getConversation", args);
    return { ok: true as const, pid: found, conversation: value };
  },
});
