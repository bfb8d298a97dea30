// Empties one conversation.

import { z } from "zod";
import { OfConversation } from "../../../../protocol/proc-records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "proc.conversation.reset",
  doc: "Empty one conversation, which is archived first unless archive is false; its run and its queued messages end. Other conversations are not affected.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  isDurableBeforeAnswer: true,
  args: z.object({ ...OfConversation, archive: z.boolean().optional() }),
  result: z.object({
    ok: z.literal(true),
    pid: z.string(),
    conversationId: z.string(),
    generation: z.int(),
    archivedMessages: z.int(),
    archivedTo: z.string().optional(),
  }),
  fails: { 404: "there is no such process or conversation", 409: "it is being reset, rewound or deleted" },
  example: {
    args: {},
    result: {
      ok: true,
      pid: "init:1000",
      conversationId: "default",
      generation: 2,
      archivedMessages: 2,
      archivedTo: "/var/sessions/alice/init:1000/conversations/default/5b0c.jsonl.gz",
    },
  },
  async run({ agents }, caller, { pid, ...args }) {
    const { pid: found, value } = await agents.ask(caller, pid, "resetConversation", args);
    return { ok: true as const, pid: found, ...value };
  },
});
