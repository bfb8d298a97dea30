// Searches the history of a process.

import { z } from "zod";
import { OfConversation } from "../../../../protocol/proc-records.ts";
import { syscall } from "../../define.ts";

const Match = z.object({
  conversationId: z.string(),
  messageId: z.int(),
  role: z.enum(["user", "assistant", "system", "toolResult"]),
  timestamp: z.number(),
  snippet: z.string(),
  offset: z.int().nullable(),
  segmentId: z.string().nullable(),
});

export default syscall({
  name: "proc.history.search",
  doc: "Find words in messages, case-insensitively, newest first: in one conversation or in all of a process, including archived segments. offset is the position of a message in proc.history, segmentId the archive of a message that is no longer there. isWhole is false if there may be more.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "safe",
  isExpensive: true,
  args: z.object({
    ...OfConversation,
    query: z.string().trim().min(1).max(200),
    limit: z.int().min(1).max(100).optional(),
  }),
  result: z.object({ ok: z.literal(true), pid: z.string(), matches: z.array(Match), isWhole: z.boolean() }),
  fails: { 404: "there is no such process" },
  example: {
    args: { query: "laptop" },
    result: {
      ok: true,
      pid: "init:1000",
      matches: [
        {
          conversationId: "default",
          messageId: 3,
          role: "user",
          timestamp: 1763200000000,
          snippet: "What is on my laptop's desktop?",
          offset: 2,
          segmentId: null,
        },
      ],
      isWhole: true,
    },
  },
  async run({ agents }, caller, { pid, ...args }) {
    const { pid: found, value } = await agents.ask(caller, pid, "search", args);
    return { ok: true as const, pid: found, ...value };
  },
});
