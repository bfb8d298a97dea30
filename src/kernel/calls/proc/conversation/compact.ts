// Compacts a conversation.

import { z } from "zod";
import { OfConversation, Segment } from "../../../../protocol/proc-records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "proc.conversation.compact",
  doc: "Archive the older part of a conversation and replace it with a summary, given or written by the model. Exactly one of keepLast and throughMessageId says where the older part ends.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  isDurableBeforeAnswer: true,
  isExpensive: true,
  args: z.object({
    ...OfConversation,
    summary: z.string().trim().max(100_000).optional(),
    generateSummary: z.boolean().optional(),
    keepLast: z.int().min(0).optional(),
    throughMessageId: z.int().optional(),
  }),
  result: z.object({
    ok: z.literal(true),
    pid: z.string(),
    conversationId: z.string(),
    segment: Segment,
    archivedMessages: z.int(),
    archivedTo: z.string(),
    summaryMessageId: z.int(),
  }),
  fails: {
    400: "not exactly one selector and one summary",
    404: "there is no such process, conversation or message",
    409: "a run is working on it, or nothing is selected",
    503: "the model returned no summary",
  },
  example: {
    args: { keepLast: 20, generateSummary: true },
    result: {
      ok: true,
      pid: "init:1000",
      conversationId: "default",
      segment: {
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
      archivedMessages: 40,
      archivedTo: "/var/sessions/alice/init:1000/conversations/default/5b0c.jsonl.gz",
      summaryMessageId: 1,
    },
  },
  async run({ agents }, caller, { pid, ...args }) {
    const { pid: found, value } = await agents.ask(caller, pid, "compact", args);
    return { ok: true as const, pid: found, ...value };
  },
});
