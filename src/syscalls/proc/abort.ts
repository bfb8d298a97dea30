// Ends what a process is doing.

import { z } from "zod";
import { OfProcess, RunId } from "../../protocol/proc-records.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "proc.abort",
  doc: "End the run a process is working on, or with runId that run, also one that waits. It is over when this answers, whatever the model or a tool is doing; what comes late changes nothing.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  keeps: true,
  again: "safe",
  args: z.object({ ...OfProcess, runId: RunId.optional() }),
  result: z.object({
    ok: z.literal(true),
    pid: z.string(),
    aborted: z.boolean(),
    runId: z.string().optional(),
    interruptedToolCalls: z.int().optional(),
    continuedQueuedRunId: z.string().optional(),
  }),
  fails: { 404: "there is no such process" },
  example: {
    args: {},
    result: { ok: true, pid: "init:1000", aborted: true, runId: "r1" },
  },
  async run({ agents }, caller, { pid, runId }) {
    const { pid: found, value } = await agents.give(caller, pid, "abort", { runId });
    const { aborted, runId: ended, continuedQueuedRunId: next, interruptedToolCalls } = value;
    return {
      ok: true as const,
      pid: found,
      aborted,
      ...(ended === null ? {} : { runId: ended }),
      ...(interruptedToolCalls === undefined ? {} : { interruptedToolCalls }),
      ...(next === null ? {} : { continuedQueuedRunId: next }),
    };
  },
});
