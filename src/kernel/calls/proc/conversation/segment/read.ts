// Reads an archived segment.

import { z } from "zod";
import { HistoryMessage, OfConversation, Page, Segment } from "../../../../../protocol/proc-records.ts";
import { syscall } from "../../../define.ts";

export default syscall({
  name: "proc.conversation.segment.read",
  doc: "Read messages of an archived segment, a page at a time, without restoring them: limit messages, 200 by default and at most 500, after skipping offset.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "safe",
  atOnce: 2,
  args: z.object({ ...OfConversation, ...Page, segmentId: z.string().min(1).max(128) }),
  result: z.object({
    ok: z.literal(true),
    pid: z.string(),
    conversationId: z.string(),
    segment: Segment,
    messages: z.array(HistoryMessage),
    messageCount: z.int(),
    truncated: z.literal(true).optional(),
  }),
  fails: { 404: "there is no such process or segment", 503: "the archive cannot be read" },
  example: {
    args: { segmentId: "5b0c" },
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
      messages: [{ id: 1, role: "user", content: "hello", timestamp: 1763200000000 }],
      messageCount: 1,
    },
  },
  async run({ agents }, caller, { pid, ...args }) {
    const { pid: found, value } = await agents.ask(caller, pid, "readSegment", args);
    return { ok: true as const, pid: found, ...value };
  },
});
