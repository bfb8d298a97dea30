// What people do with the conversations of a process: open, read, compact, fork, reset. The bodies of proc.conversation.*,
// proc.history, proc.reset and proc.kill; the kernel has authorized the caller.

import { fail } from "../../lib/sys-error.ts";
import { renewSummary, type SummaryMaterial } from "./checkpoint.ts";
import { compact, type CompactArgs } from "./compaction.ts";
import { deleteConversation, endAndListFiles, listUnreferenced } from "./delete.ts";
import { DEFAULT_CONVERSATION } from "../rows/conversations.ts";
import { policyProblem } from "../../agent/context-policy.ts";
import {
  CONVERSATION_ID_CHARS_MAX,
  type ContextPolicy,
  type ContextState,
  type Conversation,
  type HistoryMessage,
  type Segment,
} from "../../protocol/proc-records.ts";
import { readArchivedMessages, fork, type ForkArgs, type ForkResult, requireSegment } from "./fork.ts";
import { currentContext } from "../loop/measure.ts";
import { resetAll, type ResetAllArgs, type ResetAllResult, resetConversation, type ResetResult } from "./reset.ts";
import { rewind, type RewindResult } from "./rewind.ts";
import { search, type SearchArgs, type SearchResult } from "./search.ts";
import { toSegment } from "../rows/segments.ts";
import type { State } from "../rows/state.ts";
import { toWireMessage } from "./wire-message.ts";
import { PROC_CHANGED } from "../../protocol/signal-names.ts";

const PAGE = 200;
const PAGE_MAX = 1000;
const SEGMENT_PAGE_MAX = 500;

type ConversationArgs = { conversationId?: string | undefined };
export type PageArgs = { limit?: number | undefined; offset?: number | undefined };
/**
 * `tail` pages from the newest message, `beforeMessageId` and `afterMessageId` from a message; `offset` counts from the oldest
 * and excludes the others.
 */
export type HistoryArgs = ConversationArgs &
  PageArgs & { tail?: boolean | undefined; beforeMessageId?: number | undefined; afterMessageId?: number | undefined };
type PolicyArgs = ConversationArgs &
  Partial<Record<"compactAtPressure" | "keepLast", number | undefined>> & { overflow?: ContextPolicy["overflow"] | undefined };

export type HistoryPage<Hil> = {
  conversationId: string;
  messages: HistoryMessage[];
  messageCount: number;
  /** The number of messages before the page. */
  offset: number;
  truncated?: true;
  pendingHil: Hil | null;
  context: ContextState | null;
};

export class ConversationCalls {
  readonly #state: State;
  readonly #stop: () => void;
  readonly #scheduleWork: () => void;
  readonly #signal: () => AbortSignal;

  /** `stop` aborts the model and the tools, `scheduleWork` makes the process look for its next step, `signal` aborts when the process closes. */
  constructor(state: State, { stop, scheduleWork, signal }: { stop: () => void; scheduleWork: () => void; signal: () => AbortSignal }) {
    this.#state = state;
    this.#stop = stop;
    this.#scheduleWork = scheduleWork;
    this.#signal = signal;
  }

  open({ conversationId, title }: ConversationArgs & { title?: string | undefined }): { conversation: Conversation; created: boolean } {
    const id = conversationId === undefined ? this.#state.ports.uuid() : conversationIdOrDefault(conversationId);
    return this.#state.change((tell) => {
      const result = this.#state.conversations.open(id, title, this.#state.ports.now());
      tell(PROC_CHANGED, { changes: ["conversations"], conversationId: id });
      return result;
    });
  }

  list({ includeClosed = false }: { includeClosed?: boolean | undefined }): Conversation[] {
    return this.#state.conversations.list(includeClosed);
  }

  get({ conversationId }: ConversationArgs): Conversation | null {
    return this.#state.conversations.get(conversationIdOrDefault(conversationId)) ?? null;
  }

  /** Its messages stay; no new ones are accepted. */
  close({ conversationId }: ConversationArgs): { conversationId: string; closed: boolean } {
    const id = conversationIdOrDefault(conversationId);
    return this.#state.change((tell) => {
      const closed = this.#state.conversations.close(id, this.#state.ports.now()) !== undefined;
      if (closed) tell(PROC_CHANGED, { changes: ["conversations"], conversationId: id });
      return { conversationId: id, closed };
    });
  }

  policy({ conversationId }: ConversationArgs): ContextPolicy {
    return this.#state.conversations.policy(conversationIdOrDefault(conversationId));
  }

  setPolicy({ conversationId, overflow, compactAtPressure, keepLast }: PolicyArgs): ContextPolicy {
    const id = conversationIdOrDefault(conversationId);
    return this.#state.change((tell) => {
      const old = this.#state.conversations.policy(id);
      const updated = {
        ...old,
        overflow: overflow ?? old.overflow,
        compactAtPressure: compactAtPressure ?? old.compactAtPressure,
        keepLast: keepLast ?? old.keepLast,
      };
      const problem = policyProblem(updated);
      if (problem !== null) fail(400, problem);
      const policy = this.#state.conversations.setPolicy(updated, this.#state.ports.now());
      tell(PROC_CHANGED, { changes: ["lifecycle", "conversations"], event: "conversation.policy", conversationId: id, policy });
      return policy;
    });
  }

  /** `pendingHil` is the oldest question to a person, which only the kernel knows. */
  history<Hil>({ conversationId, ...args }: HistoryArgs, pendingHil: Hil | null): HistoryPage<Hil> {
    const id = conversationIdOrDefault(conversationId);
    const { offset, limit, isMore } = this.#resolveRange(id, args);
    const { messages, messageCount } = this.#state.history.page(id, offset, limit);
    const more = isMore ? { truncated: true as const } : {};
    const context = currentContext(this.#state, id);
    return { conversationId: id, messages: messages.map(toWireMessage), messageCount, offset, ...more, pendingHil, context };
  }

  /** The requested range, and whether there is more in the direction of paging. */
  #resolveRange(id: string, { limit = PAGE, offset, tail = false, beforeMessageId, afterMessageId }: Omit<HistoryArgs, "conversationId">) {
    const isByMessage = beforeMessageId !== undefined || afterMessageId !== undefined;
    if (offset !== undefined && (tail || isByMessage))
      fail(400, "offset cannot be combined with tail, beforeMessageId or afterMessageId: leave it out");
    if (beforeMessageId !== undefined && afterMessageId !== undefined) fail(400, "Give only one of beforeMessageId and afterMessageId");
    const { history } = this.#state;
    const { first, next } = history.bounds(id);
    const count = next - first;
    const low = afterMessageId === undefined ? resolveOffset(offset ?? 0, count) : history.findPlace(id, afterMessageId + 1) - first;
    const high = beforeMessageId === undefined ? count : history.findPlace(id, beforeMessageId) - first;
    const size = Math.min(PAGE_MAX, clampInteger(1, limit));
    const isBackwards = tail || beforeMessageId !== undefined;
    const from = isBackwards ? Math.max(low, high - size) : low;
    const end = Math.min(high, from + size);
    return { offset: from, limit: end - from, isMore: isBackwards ? from > low : end < high };
  }

  /** In all conversations if none is named. */
  search({ conversationId, ...args }: SearchArgs): Promise<SearchResult> {
    return search(this.#state, {
      ...args,
      conversationId: conversationId === undefined ? undefined : conversationIdOrDefault(conversationId),
    });
  }

  listSegments({ conversationId }: ConversationArgs): Segment[] {
    return this.#state.segments.list(conversationIdOrDefault(conversationId)).map(toSegment);
  }

  async readSegment({ conversationId, segmentId, limit = PAGE, offset = 0 }: ConversationArgs & PageArgs & { segmentId: string }) {
    const id = conversationIdOrDefault(conversationId);
    const segment = requireSegment(this.#state, id, segmentId);
    const all = await readArchivedMessages(this.#state, segment);
    const from = clampInteger(0, offset);
    const end = from + Math.min(SEGMENT_PAGE_MAX, clampInteger(1, limit));
    const more = end < all.length ? { truncated: true as const } : {};
    const messages = all.slice(from, end).map(toWireMessage);
    return { conversationId: id, segment: toSegment(segment), messages, messageCount: all.length, ...more };
  }

  compact({ conversationId, ...args }: Omit<CompactArgs, "conversationId"> & ConversationArgs) {
    return compact(this.#state, { ...args, conversationId: conversationIdOrDefault(conversationId) }, this.#signal());
  }

  fork({ conversationId, targetConversationId, ...args }: Omit<ForkArgs, "conversationId"> & ConversationArgs): Promise<ForkResult> {
    const target = targetConversationId === undefined ? {} : { targetConversationId: conversationIdOrDefault(targetConversationId) };
    return fork(this.#state, { ...args, ...target, conversationId: conversationIdOrDefault(conversationId) });
  }

  update({ conversationId, ...change }: ConversationArgs & { title?: string | undefined; isPinned?: boolean | undefined }): Conversation {
    const id = conversationIdOrDefault(conversationId);
    return this.#state.change((tell) => {
      const conversation = this.#state.conversations.update(id, change);
      tell(PROC_CHANGED, { changes: ["conversations"], conversationId: id });
      return conversation;
    });
  }

  rewind({ conversationId, beforeMessageId }: ConversationArgs & { beforeMessageId: number }): Promise<RewindResult> {
    return this.#scheduleWorkAfter(rewind(this.#state, conversationIdOrDefault(conversationId), beforeMessageId, this.#stop));
  }

  /** The first of the three steps of a deletion. */
  endAndListFiles(args: { conversationId: string; archives: readonly string[] }): Promise<string[]> {
    return this.#scheduleWorkAfter(endAndListFiles(this.#state, args, this.#stop));
  }

  listUnreferenced(args: { paths: readonly string[]; archives: readonly string[] }): Promise<string[]> {
    return listUnreferenced(this.#state, args);
  }

  delete(args: { conversationId: string; receivedSeq: number }): { conversationId: string } {
    const deleted = deleteConversation(this.#state, args, this.#stop);
    this.#scheduleWork();
    return deleted;
  }

  reset({ conversationId, archive = true }: ConversationArgs & { archive?: boolean | undefined }): Promise<ResetResult> {
    return this.#scheduleWorkAfter(resetConversation(this.#state, conversationIdOrDefault(conversationId), archive, this.#stop));
  }

  /** proc.reset, and proc.kill, which need not archive. The kernel deletes attachments. */
  resetAll(args: ResetAllArgs): Promise<ResetAllResult> {
    return this.#scheduleWorkAfter(resetAll(this.#state, args, this.#stop));
  }

  /** Of the workspace, after a reset; null if the old one stays. */
  renewSummary(material: SummaryMaterial): Promise<string | null> {
    return renewSummary(this.#state, material, this.#signal());
  }

  async #scheduleWorkAfter<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } finally {
      this.#scheduleWork();
    }
  }
}

/** The trimmed id of a conversation; the default one if none is given. */
export function conversationIdOrDefault(given: string | undefined): string {
  const id = given?.trim() || DEFAULT_CONVERSATION;
  if (id.length > CONVERSATION_ID_CHARS_MAX) fail(400, `A conversation's id must have at most ${CONVERSATION_ID_CHARS_MAX} characters`);
  return id;
}

/** Counted from the oldest, or from the end if it is negative. */
function resolveOffset(offset: number, count: number): number {
  const clamped = clampInteger(-count, offset);
  return clamped < 0 ? count + clamped : Math.min(count, clamped);
}

function clampInteger(least: number, value: number): number {
  return Number.isSafeInteger(value) ? Math.max(least, value) : fail(400, "limit and offset must be integers");
}
