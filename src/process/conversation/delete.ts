// Deletes a conversation with everything that belongs to it alone. The kernel deletes its files first (agents/conversation-deletion.ts), so
// that a crash in between leaves a conversation that can be deleted again, and no files that nobody knows of.

import { fail } from "../../lib/sys-error.ts";
import { DEFAULT_CONVERSATION } from "../rows/conversations.ts";
import type { Message } from "../rows/history.ts";
import type { State } from "../rows/state.ts";
import { tellLifecycle } from "./compaction.ts";
import { readArchivedMessages } from "./fork.ts";
import { endRuns } from "./reset.ts";

/** Ends its runs and lists the files of its messages, those in its archives included, that no other conversation uses. */
export async function endAndListFiles(
  state: State,
  { conversationId, archives }: { conversationId: string; archives: readonly string[] },
  stop: () => void,
): Promise<string[]> {
  mustBeDeletable(state, conversationId);
  endRuns(state, [conversationId], "conversation.delete", stop);
  const { history, segments, ports } = state;
  const paths = new Set<string>();
  const add = (messages: Iterable<Message>) => {
    for (const message of messages) for (const path of filesOf(message, ports.archiveRoot())) paths.add(path);
  };
  const { first, next } = history.bounds(conversationId);
  add(history.range(conversationId, first, next));
  // Of an archive that cannot be read no files can be found.
  for (const archivePath of archives) add(await readArchivedMessages(state, { archivePath }).catch(() => []));
  const own = [...paths].filter((path) => !history.isMentionedElsewhere(conversationId, path.slice(1)));
  if (own.length === 0) return [];
  const others: string[] = [];
  for (const segment of segments.listOthers(conversationId))
    others.push(JSON.stringify(await readArchivedMessages(state, segment).catch(() => [])));
  return own.filter((path) => !others.some((text) => text.includes(path.slice(1))));
}

/** `receivedSeq`: the kernel has the events up to this one, which may now be forgotten. */
export function deleteConversation(
  state: State,
  { conversationId, receivedSeq }: { conversationId: string; receivedSeq: number },
  stop: () => void,
): { conversationId: string } {
  mustBeDeletable(state, conversationId);
  endRuns(state, [conversationId], "conversation.delete", stop);
  const { history, runs, segments, conversations, events, pid, ports } = state;
  return state.change((tell) => {
    history.clear(conversationId);
    runs.removeConversation(conversationId);
    segments.removeConversation(conversationId);
    conversations.remove(conversationId);
    const changes = ["conversations" as const];
    events.redact(conversationId, receivedSeq, { pid, queuedCount: runs.countWaiting(), timestamp: ports.now(), changes, conversationId });
    tellLifecycle("conversation.deleted", { conversationId }, tell);
    return { conversationId };
  });
}

function mustBeDeletable({ conversations, held }: State, conversationId: string): void {
  if (conversationId === DEFAULT_CONVERSATION)
    fail(400, "The default conversation cannot be deleted: empty it instead (proc.conversation.reset)");
  if (conversations.get(conversationId) === undefined) fail(404, `Unknown conversation: ${conversationId}`);
  if (held.has(conversationId)) fail(409, `Conversation is being reset: ${conversationId}. Wait for that to end`);
}

/** Attachments, pictures, and whole outputs of which the history holds a part. */
function filesOf(message: Message, archiveRoot: string): string[] {
  const media = message.role === "user" ? message.media : message.role === "toolResult" ? message.images : undefined;
  const paths = (media ?? []).flatMap(({ key }) => (key === undefined ? [] : [`/${key}`]));
  if (message.role !== "toolResult") return paths;
  const output = `${archiveRoot}/outputs/${encodeURIComponent(message.callId)}.txt`;
  return message.output.includes(output) ? [...paths, output] : paths;
}
