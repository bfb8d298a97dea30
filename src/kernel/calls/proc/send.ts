// Sends a message to a process.

import { z } from "zod";
import { ConversationId, Media, OfProcess, RunId } from "../../../protocol/proc-records.ts";
import { RunSettings } from "../../../protocol/process-settings.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "proc.send",
  doc: "Send a message to a process. It starts to work on the message at once, or after its present run; in both cases the run ends with proc.run.finished. A repeat with the same runId is the same message. settings are for the run of this message only, which then answers no other message. The process's workspace becomes the last used one.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  isDurableBeforeAnswer: true,
  again: "keyed",
  args: z.object({
    ...OfProcess,
    conversationId: ConversationId.optional(),
    message: z.string().max(1_000_000),
    media: z.array(Media).max(20).optional(),
    runId: RunId.optional(),
    /** For the run of this message only. */
    settings: RunSettings.optional(),
  }),
  result: z.object({ ok: z.literal(true), status: z.literal("started"), runId: z.string(), queued: z.literal(true).optional() }),
  fails: {
    400: "the message is empty, media is not base64, or the model is not of a provider in the AI settings",
    403: "a process sends settings",
    404: "there is no such process",
    409: "the conversation is closed",
    413: "an attached file is too large",
    429: "too many messages are queued",
  },
  example: {
    args: { message: "What is on my laptop's desktop?" },
    result: { ok: true, status: "started", runId: "5f6c4a3e-1111-4222-8333-944444444444" },
  },
  async run({ agents, key }, caller, { runId = key, ...words }) {
    return { ok: true as const, ...(await agents.send(caller, { ...words, runId })) };
  },
});
