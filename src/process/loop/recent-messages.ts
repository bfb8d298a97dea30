// The part of a conversation that a model may see, cached from run to run: each step adds a few messages to a history that may be
// long, and only those are read and measured. All processes of a thread share a limit, beyond which the least recently used cache is
// emptied.

import { estimateTokens } from "../../agent/estimate.ts";
import type { History, Message } from "../rows/history.ts";
import type { HistoryRow } from "./model-messages.ts";

/** `tokens` is the estimated size of the rows. */
export type RecentRows = { rows: readonly HistoryRow[]; tokens: number };

/** About 16 MB of text. */
const CACHED_TOKENS_MAX = 4_000_000;

/** The size of each cache; least recently used first. */
const caches = new Map<RecentMessages, number>();
let cachedTokens = 0;

export class RecentMessages {
  #conversationId = "";
  #revision = 0;
  #tokensMax = 0;
  /** The place after the newest. */
  #next = 0;
  /** Oldest first, each with its estimated size. */
  #rows: HistoryRow[] = [];
  #sizes: number[] = [];

  /** Returns the newest messages, up to and including the first that exceeds `tokensMax`; the caller makes the exact cut. */
  read(history: History, conversationId: string, tokensMax: number): RecentRows {
    const { next } = history.bounds(conversationId);
    const isSame = conversationId === this.#conversationId && history.revision === this.#revision && tokensMax === this.#tokensMax;
    if (isSame && next >= this.#next) for (const message of history.range(conversationId, this.#next, next)) this.#add(message);
    else this.#reload(history, conversationId, tokensMax);
    this.#next = next;
    const recent = this.#trimToNewest();
    recordUse(this, recent.tokens);
    return recent;
  }

  forget(): void {
    recordUse(this, 0);
    this.#conversationId = "";
    this.#rows = [];
    this.#sizes = [];
  }

  #reload(history: History, conversationId: string, tokensMax: number): void {
    this.forget();
    const newestFirst: Message[] = [];
    let tokens = 0;
    for (const message of history.readBackwards(conversationId)) {
      newestFirst.push(message);
      tokens += estimateTokens(toHistoryRow(message).content);
      if (tokens > tokensMax) break;
    }
    for (const message of newestFirst.toReversed()) this.#add(message);
    this.#conversationId = conversationId;
    this.#revision = history.revision;
    this.#tokensMax = tokensMax;
  }

  #add(message: Message): void {
    const row = toHistoryRow(message);
    this.#rows.push(row);
    this.#sizes.push(estimateTokens(row.content));
  }

  #trimToNewest(): RecentRows {
    let from = this.#rows.length;
    let tokens = 0;
    while (from > 0 && tokens <= this.#tokensMax) tokens += this.#sizes[--from]!;
    if (from > 0) {
      this.#rows = this.#rows.slice(from);
      this.#sizes = this.#sizes.slice(from);
    }
    return { rows: this.#rows, tokens };
  }
}

function recordUse(cache: RecentMessages, tokens: number): void {
  cachedTokens += tokens - (caches.get(cache) ?? 0);
  caches.delete(cache);
  if (tokens > 0) caches.set(cache, tokens);
  for (const oldest of caches.keys()) {
    if (cachedTokens <= CACHED_TOKENS_MAX || oldest === cache) return;
    oldest.forget();
  }
}

function toHistoryRow(message: Message): HistoryRow {
  const { id, createdAt, runId: _, role, ...content } = message;
  // Models are not told of these.
  if ("scriptCalls" in content) delete content.scriptCalls;
  return { id, createdAt, role, content } as HistoryRow;
}
