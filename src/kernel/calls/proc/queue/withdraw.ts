// Withdraws a queued message.

import { z } from "zod";
import { OfProcess, RunId } from "../../../../protocol/proc-records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "proc.queue.withdraw",
  doc: "Withdraw a queued message: its run ends as aborted, and the process never sees it.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  isDurableBeforeAnswer: true,
  args: z.object({ ...OfProcess, runId: RunId }),
  result: z.object({ ok: z.literal(true), pid: z.string(), runId: z.string(), text: z.string() }),
  fails: { 404: "there is no such process or message", 409: "it is no longer queued" },
  example: {
    args: { runId: "r2" },
    result: { ok: true, pid: "init:1000", runId: "r2", text: "and then?" },
  },
  async run({ agents }, caller, { pid, runId }) {
    const { pid: found, value } = await agents.ask(caller, pid, "withdrawQueued", { runId });
    return { ok: true as const, pid: found, runId: value.runId, text: value.text };
  },
});
