// Closes a conversation.

import { z } from "zod";
import { ConversationId, OfProcess } from "../../../../protocol/proc-records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "proc.conversation.close",
  doc: "Close a conversation: its messages stay, and it takes no more until it is opened again.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  isDurableBeforeAnswer: true,
  args: z.object({ ...OfProcess, conversationId: ConversationId }),
  result: z.object({ ok: z.literal(true), pid: z.string(), conversationId: z.string(), closed: z.boolean() }),
  fails: { 404: "there is no such process" },
  example: {
    args: { conversationId: "holiday" },
    result: { ok: true, pid: "init:1000", conversationId: "holiday", closed: true },
  },
  async run({ agents }, caller, { pid, ...args }) {
    const { pid: found, value } = await agents.ask(caller, pid, "closeConversation", args);
    return { ok: true as const, pid: found, ...value };
  },
});
