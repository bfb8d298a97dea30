// Stops a run of a process.

import { z } from "zod";
import { OfProcess, RunId, StillRunning } from "../../../protocol/proc-records.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "proc.abort",
  doc: [
    "End the run a process is working on or, with runId, that run, even if it is queued. When this returns, the run has ended, and so has what it waited for: the request to the model, calls on the gateway and on devices, and a command whose call just returned running. Whatever may still run is in stillRunning. Background commands of the run continue: proc.session.list returns them.",
    "The partial answer of the model stays in the history, marked as stopped. The next queued message starts, unless pauseQueue is set: then the queued messages of the same conversation stay on hold until proc.queue.resume.",
  ].join(" "),
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  isDurableBeforeAnswer: true,
  again: "safe",
  args: z.object({ ...OfProcess, runId: RunId.optional(), pauseQueue: z.boolean().optional() }),
  result: z.object({
    ok: z.literal(true),
    pid: z.string(),
    aborted: z.boolean(),
    runId: z.string().optional(),
    interruptedToolCalls: z.int().optional(),
    continuedQueuedRunId: z.string().optional(),
    pausedCount: z.int().optional(),
    stillRunning: z.array(StillRunning).optional(),
  }),
  fails: { 404: "there is no such process" },
  example: {
    args: {},
    result: { ok: true, pid: "init:1000", aborted: true, runId: "r1" },
  },
  async run({ agents }, caller, { pid, runId, pauseQueue }) {
    const { pid: found, value, stillRunning } = await agents.abort(caller, pid, { runId, pauseQueue });
    const { aborted, runId: ended, continuedQueuedRunId: next, interruptedToolCalls, pausedCount } = value;
    return {
      ok: true as const,
      pid: found,
      aborted,
      ...(ended === null ? {} : { runId: ended }),
      ...(interruptedToolCalls === undefined ? {} : { interruptedToolCalls }),
      ...(next === null ? {} : { continuedQueuedRunId: next }),
      ...(pausedCount === undefined ? {} : { pausedCount }),
      ...(stillRunning.length === 0 ? {} : { stillRunning }),
    };
  },
});
