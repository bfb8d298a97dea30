// Compacts a conversation: archives its oldest part unchanged and replaces it by a summary that says so. The archive is durable
// before a row is deleted, so a crash at any moment leaves either all messages or the whole archive.

import { fail } from "../../lib/sys-error.ts";
import { segmentPath, toArchive } from "./archive.ts";
import { estimateTokens, estimateContextAfterChange } from "../../agent/estimate.ts";
import type { Message } from "../rows/history.ts";
import type { Preparation } from "../kernel-port.ts";
import { measureExtent, storeContext } from "../loop/measure.ts";
import type { Run } from "../rows/runs.ts";
import type { Segment } from "../../protocol/proc-records.ts";
import { type StoredSegment, toSegment } from "../rows/segments.ts";
import type { State, Tell } from "../rows/state.ts";
import { compactionMarkerText, summarize } from "./summary.ts";
import type { GeneratedAnswer } from "../loop/generate.ts";
import { PROC_CHANGED } from "../../protocol/signal-names.ts";
import type { ProcessEventFields, Payload } from "../../protocol/signals.ts";

export type CompactArgs = {
  conversationId: string;
  summary?: string | undefined;
  generateSummary?: boolean | undefined;
  keepLast?: number | undefined;
  throughMessageId?: number | undefined;
};

export type CompactResult = {
  conversationId: string;
  segment: Segment;
  archivedMessages: number;
  archivedTo: string;
  summaryMessageId: number;
};

/** The oldest part of a conversation, as it was when it was selected. */
type Prefix = { conversationId: string; generation: number; first: number; end: number; fromId: number; toId: number };

/** On a person's request. */
export async function compact(state: State, args: CompactArgs, signal: AbortSignal): Promise<CompactResult> {
  const { conversationId, keepLast, throughMessageId, generateSummary = false } = args;
  const given = args.summary?.trim() || null;
  if ((keepLast === undefined) === (throughMessageId === undefined)) fail(400, "Give exactly one of keepLast and throughMessageId");
  if ((given === null) === !generateSummary) fail(400, "Give exactly one of summary and generateSummary");
  mustBeIdle(state, conversationId);
  const prefix =
    keepLast !== undefined ? prefixBeforeLast(state, conversationId, keepLast) : prefixThrough(state, conversationId, throughMessageId!);
  if (prefix === null) fail(409, "No conversation messages selected for compaction");
  const { text, generated } = given !== null ? { text: given, generated: null } : await summarizePrefix(state, prefix, null, signal);
  if (text === null) fail(503, `Failed to generate compaction summary: ${generated?.error ?? "the model's answer was empty"}`);
  const id = state.ports.uuid();
  const archivePath = await archivePrefix(state, prefix, id);
  return state.change((tell) => {
    mustBeIdle(state, conversationId);
    if (!isUnchanged(state, prefix)) fail(409, "The conversation has changed in the meantime: look at it and compact it again");
    const marker = compactionMarkerText(prefix.end - prefix.first, archivePath, text, null);
    const result = replacePrefix(state, prefix, { id, archivePath }, marker, tell);
    if (generated !== null) recordUsage(state, result.summaryMessageId, null, generated, tell);
    tellCompacted(state, result, {}, tell);
    return result;
  });
}

export type AutoCompactOutcome = "compacted" | "empty" | "gone" | { failed: string };

/** Before a model call of a run, to make room for it. */
export async function compactForRun(
  state: State,
  run: Run,
  preparation: Preparation,
  keepLast: number,
  signal: AbortSignal,
): Promise<AutoCompactOutcome> {
  const { runId, conversationId } = run;
  // The message to answer stays.
  const prefix = prefixBeforeLast(state, conversationId, Math.max(1, keepLast));
  if (prefix === null) return "empty";
  const { text, generated } = await summarizePrefix(state, prefix, preparation, signal);
  if (state.runs.findActive()?.runId !== runId) return "gone";
  if (text === null) return { failed: `The summary could not be generated: ${generated.error ?? "the model's answer was empty"}` };
  const id = state.ports.uuid();
  const path = segmentPath(state.ports.archiveRoot(), conversationId, id);
  const marker = compactionMarkerText(prefix.end - prefix.first, path, text, findArchivedRequest(state, run, prefix));
  if (estimateTokens(marker) >= estimateMessageTokens(messagesInPrefix(state, prefix)))
    return { failed: "The summary is not shorter than the messages it replaces." };
  const archivePath = await archivePrefix(state, prefix, id);
  return state.change((tell): AutoCompactOutcome => {
    if (state.runs.findActive()?.runId !== runId || !isUnchanged(state, prefix)) return "gone";
    const result = replacePrefix(state, prefix, { id, archivePath }, marker, tell);
    recordUsage(state, result.summaryMessageId, runId, generated, tell);
    state.runs.addCompaction(runId);
    tellCompacted(state, result, { reason: "auto-compact" }, tell);
    const { provider, model } = preparation.choice;
    const { segment, archivedMessages } = result;
    const policy = state.conversations.policy(conversationId);
    const { pressure = null } = state.conversations.measuredContext(conversationId) ?? {};
    tellLifecycle("conversation.auto_compacted", { conversationId, provider, model, pressure, policy, segment, archivedMessages }, tell);
    return "compacted";
  });
}

type ChangedPayload = Payload<typeof PROC_CHANGED>;

export function tellLifecycle(
  event: NonNullable<ChangedPayload["event"]>,
  fields: Omit<ChangedPayload, keyof ProcessEventFields | "changes" | "event">,
  tell: Tell,
): void {
  tell(PROC_CHANGED, { changes: ["lifecycle", "conversations", "messages"], event, ...fields });
}

function mustBeIdle(state: State, conversationId: string): void {
  if (state.runs.findActive()?.conversationId === conversationId || state.held.has(conversationId))
    fail(409, `Conversation is active: ${conversationId}. Wait for its run to end, or abort it`);
}

function prefixBeforeLast(state: State, conversationId: string, keepLast: number): Prefix | null {
  const { first, next } = state.history.bounds(conversationId);
  let end = next - keepLast;
  // Keeps more messages rather than separate a result from its call.
  while (end > first && state.history.roleAt(conversationId, end) === "toolResult") end--;
  return makePrefix(state, conversationId, first, end);
}

function prefixThrough(state: State, conversationId: string, messageId: number): Prefix | null {
  const message = state.history.get(messageId);
  if (message?.conversationId !== conversationId) fail(404, `Message not found in conversation: ${messageId}`);
  return makePrefix(state, conversationId, state.history.bounds(conversationId).first, stepEnd(state, conversationId, message.place));
}

/** The place after a message and the results of its calls. */
export function stepEnd(state: State, conversationId: string, place: number): number {
  let end = place + 1;
  while (state.history.roleAt(conversationId, end) === "toolResult") end++;
  return end;
}

function makePrefix(state: State, conversationId: string, first: number, end: number): Prefix | null {
  const generation = state.conversations.get(conversationId)?.generation;
  if (generation === undefined || end <= first) return null;
  const [{ id: fromId } = { id: 0 }] = state.history.range(conversationId, first, first + 1);
  const [{ id: toId } = { id: 0 }] = state.history.range(conversationId, end - 1, end);
  // A summary of a single summary would lose content and save no room.
  if (end === first + 1 && state.segments.isSummary(fromId)) return null;
  return { conversationId, generation, first, end, fromId, toId };
}

function messagesInPrefix(state: State, { conversationId, first, end }: Prefix): Iterable<Message> {
  return state.history.range(conversationId, first, end);
}

async function summarizePrefix(state: State, prefix: Prefix, preparation: Preparation | null, signal: AbortSignal) {
  const prepared = preparation ?? (await state.ports.kernel.prepare(prefix.conversationId));
  return summarize(state.ports, state.pid, prepared, messagesInPrefix(state, prefix), prefix, signal);
}

async function archivePrefix(state: State, prefix: Prefix, id: string): Promise<string> {
  const path = segmentPath(state.ports.archiveRoot(), prefix.conversationId, id);
  await state.ports.kernel.archive(path, await toArchive(messagesInPrefix(state, prefix), prefix));
  return path;
}

/** Whether the prefix is unchanged; messages may have been added after it. */
function isUnchanged(state: State, { conversationId, generation, first, end, toId }: Prefix): boolean {
  const last = state.history.get(toId);
  return (
    state.conversations.get(conversationId)?.generation === generation &&
    state.history.bounds(conversationId).first === first &&
    last?.conversationId === conversationId &&
    last.place === end - 1
  );
}

function replacePrefix(
  state: State,
  prefix: Prefix,
  to: Pick<StoredSegment, "id" | "archivePath">,
  marker: string,
  tell: Tell,
): CompactResult {
  const { conversationId, generation, end, fromId, toId } = prefix;
  const now = state.ports.now();
  const liveThroughId = state.history.findLast(conversationId)?.id ?? toId;
  const removedTokens = estimateMessageTokens(messagesInPrefix(state, prefix));
  const { id: summaryMessageId } = state.history.replaceThrough(conversationId, end - 1, { role: "system", text: marker }, now);
  const segment: StoredSegment = {
    ...to,
    conversationId,
    generation,
    kind: "compaction",
    fromMessageId: fromId,
    toMessageId: toId,
    liveThroughId,
    summaryMessageId,
    createdAt: now,
  };
  state.segments.add(segment);
  const context = state.conversations.measuredContext(conversationId);
  if (context !== null) {
    const smaller = estimateContextAfterChange(context, estimateTokens(marker) - removedTokens, {
      ...measureExtent(state, conversationId),
      updatedAt: now,
    });
    storeContext(state, smaller, tell);
  }
  const archivedMessages = end - prefix.first;
  return { conversationId, segment: toSegment(segment), archivedMessages, archivedTo: to.archivePath, summaryMessageId };
}

function tellCompacted(state: State, { conversationId, ...result }: CompactResult, more: { reason?: string }, tell: Tell): void {
  const generation = state.conversations.get(conversationId)?.generation;
  tellLifecycle("conversation.compacted", { conversationId, generation, ...result, ...more }, tell);
}

function recordUsage(state: State, messageId: number, runId: string | null, { usage, by }: GeneratedAnswer, tell: Tell): void {
  if (usage === null) return;
  state.usage.addAnswer({ messageId, runId, ...by, usage }, state.ports.now());
  tell(PROC_CHANGED, { changes: ["usage"], messageId, ...(runId === null ? {} : { runId }), ...by, usage });
}

/** The message of the run, if it is part of the prefix. */
function findArchivedRequest(state: State, { runId, message }: Run, { conversationId, end }: Prefix): string | null {
  if (message?.role !== "user") return null;
  for (const { role, runId: of } of state.history.range(conversationId, end, state.history.bounds(conversationId).next))
    if (role === "user" && of === runId) return null;
  return message.text;
}

function estimateMessageTokens(messages: Iterable<Message>): number {
  let tokens = 0;
  for (const { id: _, runId: __, createdAt: ___, role: ____, ...content } of messages) tokens += estimateTokens(content);
  return tokens;
}
