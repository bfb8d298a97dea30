// Forks a conversation: from its present messages, or from an archived segment.

import { fail } from "../../lib/sys-error.ts";
import { fromArchive } from "./archive.ts";
import { stepEnd, tellLifecycle } from "./compaction.ts";
import type { Conversation, Segment } from "../../protocol/proc-records.ts";
import type { Message } from "../rows/history.ts";
import { type StoredSegment, toSegment } from "../rows/segments.ts";
import type { State } from "../rows/state.ts";

export type ForkArgs = {
  conversationId: string;
  segmentId?: string | undefined;
  throughMessageId?: number | undefined;
  targetConversationId?: string | undefined;
  title?: string | undefined;
  includeLiveSuffix?: boolean | undefined;
};

export type ForkResult = {
  sourceConversationId: string;
  targetConversation: Conversation;
  segment?: Segment;
  throughMessageId?: number;
  restoredMessages: number;
  includedLiveSuffix: boolean;
};

export async function fork(state: State, args: ForkArgs): Promise<ForkResult> {
  const { conversationId, segmentId, throughMessageId, includeLiveSuffix = true } = args;
  if ((segmentId === undefined) === (throughMessageId === undefined)) fail(400, "Give exactly one of segmentId and throughMessageId");
  if (segmentId === undefined)
    return createFork(state, args, `message ${throughMessageId}`, { throughMessageId: throughMessageId! }, false, () =>
      messagesThrough(state, conversationId, throughMessageId!),
    );
  const segment = requireSegment(state, conversationId, segmentId);
  const isSameGeneration = state.conversations.get(conversationId)?.generation === segment.generation;
  const archived = await readArchivedMessages(state, segment);
  if (segment.kind === "rewind") {
    const before = isSameGeneration ? await readBeforeRewind(state, segment) : [];
    return createFork(state, args, segmentId.slice(0, 8), { segment: toSegment(segment) }, false, () => [...before, ...archived]);
  }
  const includesSuffix = includeLiveSuffix && isSameGeneration;
  const later = includesSuffix ? await readArchivedSuffix(state, segment) : [];
  return createFork(state, args, segmentId.slice(0, 8), { segment: toSegment(segment) }, includesSuffix, () => [
    ...archived,
    ...(includesSuffix ? [...later, ...liveSuffix(state, segment)] : []),
  ]);
}

export function requireSegment(state: State, conversationId: string, id: string): StoredSegment {
  return state.segments.get(conversationId, id) ?? fail(404, `Conversation segment not found: ${id}`);
}

export async function readArchivedMessages({ ports }: State, { archivePath }: Pick<StoredSegment, "archivePath">): Promise<Message[]> {
  try {
    return await fromArchive(await ports.kernel.readArchive(archivePath));
  } catch (error) {
    return fail(503, `Failed to read segment archive: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function messagesThrough(state: State, conversationId: string, messageId: number): Iterable<Message> {
  const message = state.history.get(messageId);
  if (message?.conversationId !== conversationId) fail(404, `Message not found in conversation: ${messageId}`);
  const { first } = state.history.bounds(conversationId);
  return state.history.range(conversationId, first, stepEnd(state, conversationId, message.place));
}

/** What was before the messages that a rewind has removed: still there, or removed by a later rewind that went further back. */
async function readBeforeRewind(state: State, segment: StoredSegment): Promise<Message[]> {
  const { conversationId, generation, fromMessageId } = segment;
  const all = state.segments.list(conversationId);
  const later = all.slice(all.findIndex(({ id }) => id === segment.id) + 1);
  const { first, next } = state.history.bounds(conversationId);
  const messages = [...state.history.range(conversationId, first, next)];
  for (const one of later)
    if (one.kind === "rewind" && one.generation === generation) messages.push(...(await readArchivedMessages(state, one)));
  return messages.filter(({ id }) => id < fromMessageId).toSorted((one, other) => one.id - other.id);
}

/** Messages that followed a segment when it was cut off and have been archived since. */
async function readArchivedSuffix(state: State, segment: StoredSegment): Promise<Message[]> {
  // What a rewind has removed is not missed.
  const all = state.segments
    .list(segment.conversationId)
    .filter(({ generation, kind }) => generation === segment.generation && kind === "compaction");
  const later = all.slice(all.findIndex(({ id }) => id === segment.id) + 1);
  const messages: Message[] = [];
  for (const one of later) messages.push(...(await readArchivedMessages(state, one)).filter(({ id }) => isInSuffix(segment, id)));
  return messages;
}

function liveSuffix(state: State, segment: StoredSegment): Message[] {
  const { first, next } = state.history.bounds(segment.conversationId);
  return [...state.history.range(segment.conversationId, first, next)].filter(({ id }) => isInSuffix(segment, id));
}

/** A summary takes the id of the first message it replaces, so it never counts as following. */
function isInSuffix({ toMessageId, liveThroughId }: StoredSegment, id: number): boolean {
  return id > toMessageId && id <= liveThroughId;
}

type ForkSource = Pick<ForkResult, "segment" | "throughMessageId">;

/** Copies messages with new ids and the original times. */
function createFork(
  state: State,
  { conversationId, targetConversationId = state.ports.uuid(), title }: ForkArgs,
  at: string,
  from: ForkSource,
  includedLiveSuffix: boolean,
  messages: () => Iterable<Message>,
): ForkResult {
  return state.change((tell) => {
    if ((state.conversations.get(targetConversationId)?.messageCount ?? 0) > 0)
      fail(409, `Target conversation already has messages: ${targetConversationId}. Choose another id`);
    const copies = [...messages()];
    state.conversations.open(targetConversationId, title?.trim() || `Fork of ${conversationId} at ${at}`, state.ports.now());
    for (const { id: _, runId, createdAt, ...message } of copies) state.history.append(targetConversationId, runId, message, createdAt);
    const targetConversation = state.conversations.get(targetConversationId)!;
    const result = { ...from, restoredMessages: copies.length, includedLiveSuffix };
    tellLifecycle("conversation.forked", { sourceConversationId: conversationId, targetConversationId, ...result }, tell);
    return { sourceConversationId: conversationId, targetConversation, ...result };
  });
}
