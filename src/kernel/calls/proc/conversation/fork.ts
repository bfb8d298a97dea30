// Forks a conversation.

import { z } from "zod";
import { Conversation, ConversationId, OfConversation, Segment } from "../../../../protocol/proc-records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "proc.conversation.fork",
  doc: "Start a new conversation from a point in another: up to an existing message, or from an archived segment.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  isDurableBeforeAnswer: true,
  args: z.object({
    ...OfConversation,
    segmentId: z.string().max(128).optional(),
    throughMessageId: z.int().optional(),
    targetConversationId: ConversationId.optional(),
    title: z.string().max(300).optional(),
    includeLiveSuffix: z.boolean().optional(),
  }),
  result: z.object({
    ok: z.literal(true),
    pid: z.string(),
    sourceConversationId: z.string(),
    targetConversation: Conversation,
    segment: Segment.optional(),
    throughMessageId: z.int().optional(),
    restoredMessages: z.int(),
    includedLiveSuffix: z.boolean(),
  }),
  fails: {
    400: "not exactly one of segmentId and throughMessageId",
    404: "there is no such process, segment or message",
    409: "the target already has messages",
    503: "the archive cannot be read",
  },
  example: {
    args: { throughMessageId: 12 },
    result: {
      ok: true,
      pid: "init:1000",
      sourceConversationId: "default",
      targetConversation: {
        id: "default",
        generation: 1,
        status: "open",
        title: null,
        messageCount: 2,
        createdAt: 1763200000000,
        updatedAt: 1763200000000,
        isPinned: false,
        startedBy: null,
      },
      throughMessageId: 12,
      restoredMessages: 12,
      includedLiveSuffix: false,
    },
  },
  async run({ agents }, caller, { pid, ...args }) {
    const { pid: found, value } = await agents.ask(caller, pid, "fork", args);
    return { ok: true as const, pid: found, ...value };
  },
});
