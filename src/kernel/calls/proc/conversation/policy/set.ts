// Sets what happens when a conversation is full.

import { z } from "zod";
import { ContextPolicy, OfConversation } from "../../../../../protocol/proc-records.ts";
import { syscall } from "../../../define.ts";

export default syscall({
  name: "proc.conversation.policy.set",
  doc: "Set what happens when a conversation no longer fits the model's context: nothing automatic (manual), older messages are archived and summarized (auto-compact), or the run stops (fail).",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  isDurableBeforeAnswer: true,
  args: z.object({
    ...OfConversation,
    overflow: z.enum(["manual", "auto-compact", "fail"]).optional(),
    compactAtPressure: z.number().optional(),
    keepLast: z.int().optional(),
  }),
  result: z.object({ ok: z.literal(true), pid: z.string(), policy: ContextPolicy }),
  fails: { 400: "the threshold is not above 0 and at most 1, or keepLast is negative", 404: "there is no such process" },
  example: {
    args: { overflow: "auto-compact" },
    result: {
      ok: true,
      pid: "init:1000",
      policy: {
        conversationId: "default",
        compactAtPressure: 0.9,
        keepLast: 80,
        updatedAt: 1763200000000,
        overflow: "auto-compact",
      },
    },
  },
  async run({ agents }, caller, { pid, ...args }) {
    const { pid: found, value } = await agents.ask(caller, pid, "setContextPolicy", args);
    return { ok: true as const, pid: found, policy: value };
  },
});
