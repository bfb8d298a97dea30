// Deletes a conversation.

import { z } from "zod";
import { OfConversation } from "../../../../protocol/proc-records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "proc.conversation.delete",
  doc: "Delete a conversation for good: its runs and queued messages end, and its messages, its archives, the files of its messages that no other conversation has, and its settings are deleted. What agents were asked in it stays in the list of approvals. The conversation default cannot be deleted, only emptied.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  isDurableBeforeAnswer: true,
  isExpensive: true,
  args: z.object({ ...OfConversation }),
  result: z.object({ ok: z.literal(true), pid: z.string(), conversationId: z.string() }),
  fails: {
    400: "it is the default conversation",
    404: "there is no such process or conversation",
    409: "it is being reset, rewound or deleted",
    503: "an archive cannot be read, so it is unknown which files are still needed: nothing was deleted",
  },
  example: {
    args: { conversationId: "aside" },
    result: { ok: true, pid: "init:1000", conversationId: "aside" },
  },
  run: ({ agents }, caller, { pid, conversationId }) => agents.deleteConversation(caller, pid, conversationId),
});
