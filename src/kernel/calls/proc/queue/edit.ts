// Edits a queued message.

import { z } from "zod";
import { OfProcess, RunId } from "../../../../protocol/proc-records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "proc.queue.edit",
  doc: "Change the text of a queued message.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  isDurableBeforeAnswer: true,
  args: z.object({ ...OfProcess, runId: RunId, message: z.string().min(1).max(1_000_000) }),
  result: z.object({ ok: z.literal(true), pid: z.string(), runId: z.string(), text: z.string() }),
  fails: { 404: "there is no such process or message", 409: "it is no longer queued" },
  example: {
    args: { runId: "r2", message: "and what then?" },
    result: { ok: true, pid: "init:1000", runId: "r2", text: "and what then?" },
  },
  async run({ agents }, caller, { pid, runId, message }) {
    const { pid: found, value } = await agents.ask(caller, pid, "editQueued", { runId, text: message });
    return { ok: true as const, pid: found, runId: value.runId, text: value.text };
  },
});
