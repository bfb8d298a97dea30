// Shows what a process has used.

import { z } from "zod";
import { MessageUsage, OfProcess, RunId, Spent } from "../../../protocol/proc-records.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "proc.usage",
  doc: "Read how much a process has used of models, tools and time: in total, or in one run with runId, and for messages of a conversation with messageIds. pausedAt of the active run says since when it only waits for a person.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "safe",
  args: z.object({ ...OfProcess, runId: RunId.optional(), messageIds: z.array(z.int()).max(1000).optional() }),
  result: z.object({
    ok: z.literal(true),
    pid: z.string(),
    spent: Spent,
    /** `pausedAt`: since when it has done nothing but wait for a person. */
    activeRun: z.object({ runId: z.string(), spent: Spent, pausedAt: z.number().optional() }).nullable(),
    messages: z.array(z.object({ messageId: z.int(), usage: z.array(MessageUsage) })).optional(),
  }),
  fails: { 404: "there is no such process" },
  example: {
    args: {},
    result: {
      ok: true,
      pid: "init:1000",
      spent: {
        modelCalls: 2,
        toolCalls: 1,
        wallMs: 4200,
        usage: {
          input: 2100,
          output: 180,
          cacheRead: 0,
          cacheWrite: 0,
          totalTokens: 2280,
          cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
        },
      },
      activeRun: null,
    },
  },
  async run({ agents }, caller, { pid, runId, messageIds }) {
    const { pid: found, value } = await agents.ask(caller, pid, "usage", { runId });
    if (messageIds === undefined) return { ok: true as const, pid: found, ...value };
    const { value: messages } = await agents.ask(caller, found, "messageUsage", { messageIds });
    return { ok: true as const, pid: found, ...value, messages };
  },
});
