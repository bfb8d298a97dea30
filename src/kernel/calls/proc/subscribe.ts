// Follows a process.

import { z } from "zod";
import { OfProcess, ProcessEvent } from "../../../protocol/proc-records.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "proc.subscribe",
  doc: "Follow a process: from now on this connection is told of everything it does, numbered. With after, what came since that number is in the answer, so that a client that was away misses nothing; isWhole is false where that is no longer kept, and then the history is to be read anew. live is the answer that is just coming, with the number of the last piece that is in it.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "safe",
  args: z.object({ ...OfProcess, after: z.int().min(0).optional() }),
  result: z.object({
    ok: z.literal(true),
    pid: z.string(),
    seq: z.int(),
    isWhole: z.boolean(),
    events: z.array(ProcessEvent),
    live: z
      .object({
        runId: z.string(),
        conversationId: z.string(),
        modelCall: z.int(),
        seq: z.int(),
        blocks: z.array(z.record(z.string(), z.unknown())),
      })
      .nullable(),
  }),
  fails: { 403: "the caller is a process", 404: "there is no such process", 429: "this connection follows too many" },
  example: {
    args: { after: 40 },
    result: {
      ok: true,
      pid: "init:1000",
      seq: 42,
      isWhole: true,
      events: [{ seq: 41, signal: "proc.run.started", payload: { runId: "r1" } }],
      live: null,
    },
  },
  async run({ agents }, caller, { pid, after }) {
    return { ok: true as const, ...(await agents.follow(caller, pid, after ?? null)) };
  },
});
