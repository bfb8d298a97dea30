// Lists the archived segments of a conversation.

import { z } from "zod";
import { OfConversation, Segment } from "../../../../protocol/proc-records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "proc.conversation.segments",
  doc: "List the archived segments of a conversation with the paths of their archives.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "safe",
  args: z.object({ ...OfConversation }),
  result: z.object({ ok: z.literal(true), pid: z.string(), conversationId: z.string(), segments: z.array(Segment) }),
  fails: { 404: "there is no such process" },
  example: {
    args: {},
    result: {
      ok: true,
      pid: "init:1000",
      conversationId: "default",
      segments: [
        {
          id: "5b0c",
          conversationId: "default",
          generation: 1,
          kind: "compaction",
          fromMessageId: 1,
          toMessageId: 40,
          archivePath: "/var/sessions/alice/init:1000/conversations/default/5b0c.jsonl.gz",
          summaryMessageId: 1,
          createdAt: 1763200000000,
        },
      ],
    },
  },
  async run({ agents }, caller, { pid, ...args }) {
    const { pid: found, value } = await agents.ask(caller, pid, "segments", args);
    return { ok: true as const, pid: found, conversationId: args.conversationId ?? "default", segments: value };
  },
});
