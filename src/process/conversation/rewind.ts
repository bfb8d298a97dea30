// Rewinds a conversation to a message: the messages from that one on are archived as a segment and removed, so that somebody can say
// something else in their place. The archive is durable before a row is deleted.

import { fail } from "../../lib/sys-error.ts";
import type { Segment } from "../../protocol/proc-records.ts";
import { PROC_CHANGED } from "../../protocol/signal-names.ts";
import { type StoredSegment, toSegment } from "../rows/segments.ts";
import type { State } from "../rows/state.ts";
import { segmentPath, toArchive } from "./archive.ts";
import { tellLifecycle } from "./compaction.ts";
import { endActiveRun, withConversationsHeld } from "./reset.ts";

export type RewindResult = { conversationId: string; generation: number; segment: Segment; archivedMessages: number };

/** `stop` aborts the model and the tools. Queued messages are put on hold: they belong to what was removed. */
export async function rewind(state: State, conversationId: string, messageId: number, stop: () => void): Promise<RewindResult> {
  const { history, conversations, runs, segments, ports } = state;
  const place = requirePlace(state, conversationId, messageId);
  return withConversationsHeld(state, [conversationId], async () => {
    const isStopped = state.change((tell) => {
      if (runs.holdQueued(conversationId) > 0) tell(PROC_CHANGED, { changes: ["queue"], conversationId });
      return endActiveRun(state, [conversationId], "conversation.rewind", tell);
    });
    if (isStopped) stop();
    const { generation } = conversations.get(conversationId)!;
    const { next } = history.bounds(conversationId);
    const messages = [...history.range(conversationId, place, next)];
    const id = ports.uuid();
    const archivePath = segmentPath(ports.archiveRoot(), conversationId, id);
    await ports.kernel.archive(archivePath, await toArchive(messages, { conversationId, generation }));
    const toMessageId = messages.at(-1)!.id;
    return state.change((tell): RewindResult => {
      const now = ports.now();
      history.removeFrom(conversationId, place, now);
      // Measured again by the next run.
      conversations.setMeasuredContext(conversationId, null);
      const segment: StoredSegment = {
        id,
        conversationId,
        generation,
        kind: "rewind",
        fromMessageId: messageId,
        toMessageId,
        liveThroughId: toMessageId,
        archivePath,
        summaryMessageId: null,
        createdAt: now,
      };
      segments.add(segment);
      const result = { conversationId, generation, segment: toSegment(segment), archivedMessages: messages.length };
      tellLifecycle("conversation.rewound", result, tell);
      return result;
    });
  });
}

function requirePlace({ history }: State, conversationId: string, messageId: number): number {
  const message = history.get(messageId);
  if (message?.conversationId !== conversationId) fail(404, `Message not found in conversation: ${messageId}`);
  // A call without its result would confuse the next model.
  if (message.role === "toolResult") fail(400, "A conversation cannot be rewound to the result of a call: choose the message before it");
  return message.place;
}
