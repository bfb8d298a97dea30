// Deletes a conversation with everything that belongs to it alone, in three steps. The kernel, which has the files, deletes them
// (kernel/agents/conversation-deletion.ts) before the last one. Until then rows stay, and queued messages are only put on hold: what a
// crash or a failure leaves is a conversation that can be deleted again, and no files that nobody knows of.

import { fail, SysError } from "../../lib/sys-error.ts";
import { yieldToEventLoop } from "../../lib/yield.ts";
import { PROC_CHANGED } from "../../protocol/signal-names.ts";
import { DEFAULT_CONVERSATION } from "../rows/conversations.ts";
import type { MessageContent } from "../rows/history.ts";
import type { State } from "../rows/state.ts";
import { fromArchive, readArchiveLines } from "./archive.ts";
import { tellLifecycle } from "./compaction.ts";
import { endActiveRun, endRuns, withConversationsHeld } from "./reset.ts";
import { UnreferencedFiles } from "./unreferenced-files.ts";

/** Messages between two yields to the event loop. */
const MESSAGES_PER_YIELD = 100;

/** Ends its run and lists the files of its messages, queued and archived ones included, that no other conversation's messages refer to. */
export async function endAndListFiles(
  state: State,
  { conversationId, archives }: { conversationId: string; archives: readonly string[] },
  stop: () => void,
): Promise<string[]> {
  mustBeDeletable(state, conversationId);
  return withConversationsHeld(state, [conversationId], async () => {
    const isStopped = state.change((tell) => {
      if (state.runs.holdQueued(conversationId) > 0) tell(PROC_CHANGED, { changes: ["queue"], conversationId });
      return endActiveRun(state, [conversationId], "conversation.delete", tell);
    });
    if (isStopped) stop();
    const files = new UnreferencedFiles(await listFiles(state, conversationId, archives));
    // Queued ones first: one that begins meanwhile is then read as a message.
    for (const run of state.runs.listWaiting())
      if (run.conversationId !== conversationId) files.removeReferenced(JSON.stringify(run.message));
    for (const page of state.history.readOthers(conversationId)) {
      if (files.isEmpty) break;
      for (const json of page) files.removeReferenced(json);
      await yieldToEventLoop();
    }
    return files.list();
  });
}

/** Of these files, those that no archive refers to. One archive at a time is in memory. */
export async function listUnreferenced(
  state: State,
  { paths, archives }: { paths: readonly string[]; archives: readonly string[] },
): Promise<string[]> {
  const files = new UnreferencedFiles(paths);
  for (const path of archives) {
    if (files.isEmpty) return [];
    const lines = await readArchive(state, path, readArchiveLines);
    for (const [at, line] of lines.entries()) {
      files.removeReferenced(line);
      if (at % MESSAGES_PER_YIELD === 0) await yieldToEventLoop();
    }
  }
  return files.list();
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
  if (held.has(conversationId)) fail(409, `Conversation is being reset, rewound or deleted: ${conversationId}. Wait for that to end`);
}

/** The files of a conversation, in which no run begins meanwhile. */
async function listFiles(state: State, conversationId: string, archives: readonly string[]): Promise<Set<string>> {
  const { history, runs, ports } = state;
  const paths = new Set<string>();
  let count = 0;
  const add = async (messages: Iterable<MessageContent>) => {
    for (const message of messages) {
      for (const path of filesOf(message, ports.archiveRoot())) paths.add(path);
      if (++count % MESSAGES_PER_YIELD === 0) await yieldToEventLoop();
    }
  };
  const { first, next } = history.bounds(conversationId);
  await add(history.range(conversationId, first, next));
  // In a damaged archive no files can be found. It is deleted too, so that the conversation can be.
  for (const path of archives) await add(await readArchive(state, path, (bytes) => fromArchive(bytes).catch(() => [])));
  // Last, because more may arrive meanwhile.
  for (const run of runs.listWaiting()) if (run.conversationId === conversationId && run.message !== null) await add([run.message]);
  return paths;
}

/** Nothing of an archive that does not exist. Whatever else fails must not count as an archive that refers to no files. */
async function readArchive<T>({ ports }: State, path: string, decode: (bytes: Uint8Array) => Promise<T[]>): Promise<T[]> {
  try {
    return await decode(await ports.kernel.readArchive(path));
  } catch (error) {
    if (error instanceof SysError && error.code === 404) return [];
    const why = error instanceof Error ? error.message : String(error);
    return fail(503, `Nothing was deleted, because an archive cannot be read: ${path}: ${why}. Try again, or delete it if it is damaged`);
  }
}

/** Attachments, pictures, and whole outputs of which the history holds a part. */
function filesOf(message: MessageContent, archiveRoot: string): string[] {
  const media = message.role === "user" ? message.media : message.role === "toolResult" ? message.images : undefined;
  const paths = (media ?? []).flatMap(({ key }) => (key === undefined ? [] : [`/${key}`]));
  if (message.role !== "toolResult") return paths;
  const output = `${archiveRoot}/outputs/${encodeURIComponent(message.callId)}.txt`;
  return message.output.includes(output) ? [...paths, output] : paths;
}
