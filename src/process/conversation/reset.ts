// Empties conversations: ends their active and queued runs, archives the messages, and only then deletes them. No run begins
// there while the archive is written; messages that arrive meanwhile belong to the next generation. If the process has a
// workspace, that gets its checkpoint first (checkpoint.ts).

import { fail } from "../../lib/sys-error.ts";
import { segmentPath, toArchive, resetArchivePath } from "./archive.ts";
import { checkpoint } from "./checkpoint.ts";
import { tellLifecycle } from "./compaction.ts";
import type { ArchiveEntry, Conversation } from "../../protocol/proc-records.ts";
import type { Checkpoint } from "../kernel-port.ts";
import type { State, Tell } from "../rows/state.ts";

export type ResetResult = { conversationId: string; generation: number; archivedMessages: number; archivedTo?: string };
export type ResetAllResult = { archivedMessages: number; archivedTo?: string; archives: ArchiveEntry[] };

/** `stop` aborts the model and the tools. */
export async function resetConversation(state: State, conversationId: string, archive: boolean, stop: () => void): Promise<ResetResult> {
  if (state.conversations.get(conversationId) === undefined) fail(404, `Unknown conversation: ${conversationId}`);
  return withConversationsHeld(state, [conversationId], async () => {
    endRuns(state, [conversationId], "conversation.reset", stop);
    const conversation = state.conversations.get(conversationId)!;
    const path = segmentPath(state.ports.archiveRoot(), conversationId, state.ports.uuid());
    const archives = archive ? await archiveAll(state, [conversation], () => path) : [];
    return state.change((tell) => {
      const { generation } = emptyConversation(state, conversationId);
      const archivedTo = archives[0] === undefined ? {} : { archivedTo: path };
      const result = { conversationId, generation, archivedMessages: archives[0]?.messages ?? 0, ...archivedTo };
      tellLifecycle("conversation.reset", result, tell);
      return result;
    });
  });
}

/** `hasWorkspace`: the messages are handed to it, archived or not. */
export type ResetAllArgs = { reason: Checkpoint["reason"]; archive: boolean; hasWorkspace: boolean };

/** Empties all conversations; segments and policies stay. */
export async function resetAll(state: State, { reason, archive, hasWorkspace }: ResetAllArgs, stop: () => void): Promise<ResetAllResult> {
  const ids = state.conversations.list(true).map(({ id }) => id);
  return withConversationsHeld(state, ids, async () => {
    endRuns(state, ids, reason, stop);
    if (hasWorkspace) await checkpoint(state, reason);
    const root = state.ports.archiveRoot();
    const archiveId = state.ports.uuid();
    const all = ids.map((id) => state.conversations.get(id)!);
    const pathOf = ({ id, generation }: Conversation) => resetArchivePath(root, { conversationId: id, generation }, archiveId);
    const archives = archive ? await archiveAll(state, all, pathOf) : [];
    return state.change((tell) => {
      for (const id of ids) emptyConversation(state, id);
      const archivedMessages = archives.reduce((sum, { messages }) => sum + messages, 0);
      const result = { archivedMessages, ...(archives.length === 0 ? {} : { archivedTo: `${root}/${archiveId}/` }), archives };
      tellLifecycle(reason, result, tell);
      return result;
    });
  });
}

/** No run begins in these conversations meanwhile. */
export async function withConversationsHeld<T>(state: State, ids: readonly string[], body: () => Promise<T>): Promise<T> {
  const busy = ids.find((id) => state.held.has(id));
  if (busy !== undefined) fail(409, `Conversation is being reset, rewound or deleted: ${busy}. Wait for that to end`);
  for (const id of ids) state.held.add(id);
  try {
    return await body();
  } finally {
    for (const id of ids) state.held.delete(id);
  }
}

export function endRuns(state: State, ids: readonly string[], reason: string, stop: () => void): void {
  const isStopped = state.change((tell: Tell) => {
    const outcome = { status: "aborted" as const, reason, text: null };
    for (const run of state.runs.listWaiting()) if (ids.includes(run.conversationId)) state.endRun(run, outcome, tell);
    return endActiveRun(state, ids, reason, tell);
  });
  if (isStopped) stop();
}

/** Whether a run was active in one of these conversations. */
export function endActiveRun(state: State, ids: readonly string[], reason: string, tell: Tell): boolean {
  const active = state.runs.findActive();
  if (active === undefined || !ids.includes(active.conversationId)) return false;
  state.endActiveRun(active, { status: "aborted", reason, text: null }, tell);
  return true;
}

async function archiveAll(state: State, all: readonly Conversation[], pathOf: (one: Conversation) => string): Promise<ArchiveEntry[]> {
  const archives: ArchiveEntry[] = [];
  for (const one of all) {
    const { id: conversationId, generation, messageCount: messages } = one;
    if (messages === 0) continue;
    const { first, next } = state.history.bounds(conversationId);
    const bytes = await toArchive(state.history.range(conversationId, first, next), { conversationId, generation });
    await state.ports.kernel.archive(pathOf(one), bytes);
    archives.push({ conversationId, generation, messages, path: pathOf(one) });
  }
  return archives;
}

function emptyConversation({ history, conversations, ports }: State, conversationId: string): Conversation {
  history.clear(conversationId);
  return conversations.startGeneration(conversationId, ports.now());
}
