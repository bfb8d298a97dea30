// Removes the end of a conversation.

import { z } from "zod";
import { OfConversation, Segment } from "../../../../protocol/proc-records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "proc.conversation.rewind",
  doc: "Remove the messages of a conversation from one on, so that something else can be said in their place: to edit a message and send it again, or to try again. Its active run ends, and its queued messages are on hold. Nothing is lost: the messages are archived as a segment of kind rewind, from which proc.conversation.fork restores the conversation as it was.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  isDurableBeforeAnswer: true,
  args: z.object({ ...OfConversation, beforeMessageId: z.int().min(0) }),
  result: z.object({
    ok: z.literal(true),
    pid: z.string(),
    conversationId: z.string(),
    generation: z.int(),
    segment: Segment,
    archivedMessages: z.int(),
  }),
  fails: {
    400: "the message is the result of a call",
    404: "there is no such process, conversation or message",
    409: "it is being reset, rewound or deleted",
  },
  example: {
    args: { beforeMessageId: 41 },
    result: {
      ok: true,
      pid: "init:1000",
      conversationId: "default",
      generation: 1,
      segment: {
        id: "5b0c",
        conversationId: "default",
        generation: 1,
        kind: "rewind",
        fromMessageId: 41,
        toMessageId: 44,
        archivePath: "/var/sessions/alice/init:1000/conversations/default/5b0c.jsonl.gz",
        summaryMessageId: null,
        createdAt: 1763200000000,
      },
      archivedMessages: 4,
    },
  },
  async run({ agents }, caller, { pid, ...args }) {
    const { pid: found, value } = await agents.ask(caller, pid, "rewindConversation", args);
    return { ok: true as const, pid: found, ...value };
  },
});
