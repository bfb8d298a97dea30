// Resumes queued messages that are on hold.

import { z } from "zod";
import { OfConversation } from "../../../../protocol/proc-records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "proc.queue.resume",
  doc: "Release the messages that proc.abort with pauseQueue has put on hold: those of one conversation, or all of the process.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  isDurableBeforeAnswer: true,
  again: "safe",
  args: z.object({ ...OfConversation }),
  result: z.object({ ok: z.literal(true), pid: z.string(), resumed: z.int() }),
  fails: { 404: "there is no such process" },
  example: { args: {}, result: { ok: true, pid: "init:1000", resumed: 2 } },
  async run({ agents }, caller, { pid, conversationId }) {
    const { pid: found, value } = await agents.markBusyAndCall(caller, pid, "resumeQueue", { conversationId });
    return { ok: true as const, pid: found, resumed: value.resumed };
  },
});
