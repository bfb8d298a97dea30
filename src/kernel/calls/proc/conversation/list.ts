// Lists the conversations of a process.

import { z } from "zod";
import { Conversation, OfProcess } from "../../../../protocol/proc-records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "proc.conversation.list",
  doc: "List the conversations of a process, the last changed first; closed ones only on request.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "safe",
  args: z.object({ ...OfProcess, includeClosed: z.boolean().optional() }),
  result: z.object({ ok: z.literal(true), pid: z.string(), conversations: z.array(Conversation) }),
  fails: { 404: "there is no such process" },
  example: {
    args: {},
    result: {
      ok: true,
      pid: "init:1000",
      conversations: [
        {
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
      ],
    },
  },
  async run({ agents }, caller, { pid, ...args }) {
    const { pid: found, value } = await agents.ask(caller, pid, "listConversations", args);
    return { ok: true as const, pid: found, conversations: value };
  },
});
