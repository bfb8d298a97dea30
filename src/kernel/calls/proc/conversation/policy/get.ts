// Reads what happens when a conversation is full.

import { z } from "zod";
import { ContextPolicy, OfConversation } from "../../../../../protocol/proc-records.ts";
import { syscall } from "../../../define.ts";

export default syscall({
  name: "proc.conversation.policy.get",
  doc: "Read what happens when a conversation no longer fits the model's context.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "safe",
  args: z.object({ ...OfConversation }),
  result: z.object({ ok: z.literal(true), pid: z.string(), policy: ContextPolicy }),
  fails: { 404: "there is no such process" },
  example: {
    args: {},
    result: {
      ok: true,
      pid: "init:1000",
      policy: { conversationId: "default", overflow: "manual", compactAtPressure: 0.9, keepLast: 80, updatedAt: 0 },
    },
  },
  async run({ agents }, caller, { pid, ...args }) {
    const { pid: found, value } = await agents.ask(caller, pid, "contextPolicy", args);
    return { ok: true as const, pid: found, policy: value };
  },
});
