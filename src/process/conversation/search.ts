// Searches messages for words, the newest first. The search is bounded and yields to the event loop; `isWhole` is false if
// something was left out.

import { yieldToEventLoop } from "../../lib/yield.ts";
import { readArchivedMessages } from "./fork.ts";
import type { Message } from "../rows/history.ts";
import { type State, textOfBlocks } from "../rows/state.ts";

export type SearchArgs = { conversationId?: string | undefined; query: string; limit?: number | undefined };

/** `offset` is its position in proc.history; an archived message has none, but a segment. */
export type Match = {
  conversationId: string;
  messageId: number;
  role: Message["role"];
  timestamp: number;
  snippet: string;
  offset: number | null;
  segmentId: string | null;
};

export type SearchResult = { matches: Match[]; isWhole: boolean };

const LIMIT = 30;
const MESSAGES_MAX = 20_000;
const ARCHIVES_MAX = 8;
/** Messages between two yields to the event loop. */
const MESSAGES_PER_YIELD = 200;
const BEFORE_CHARS = 60;
const AFTER_CHARS = 140;

export async function search(state: State, { conversationId, query, limit = LIMIT }: SearchArgs): Promise<SearchResult> {
  const pattern = patternOf(query);
  const conversations = conversationId === undefined ? state.conversations.list(true).map(({ id }) => id) : [conversationId];
  const budget = { messages: MESSAGES_MAX, archives: ARCHIVES_MAX };
  const found: Match[] = [];
  let isWhole = true;
  for (const id of conversations) {
    const live = await searchLive(state, id, pattern, limit, budget);
    const isEnough = live.matches.length >= limit;
    const archived = isEnough
      ? { matches: [], isWhole: state.segments.list(id).length === 0 }
      : await searchArchived(state, id, pattern, limit, budget);
    found.push(...live.matches, ...archived.matches);
    isWhole &&= live.isWhole && archived.isWhole;
  }
  found.sort((one, other) => other.timestamp - one.timestamp || other.messageId - one.messageId);
  return { matches: found.slice(0, limit), isWhole: isWhole && found.length <= limit };
}

type SearchLimits = { messages: number; archives: number };

async function searchLive(
  state: State,
  conversationId: string,
  pattern: RegExp,
  limit: number,
  budget: SearchLimits,
): Promise<SearchResult> {
  const { first, next } = state.history.bounds(conversationId);
  const matches: Match[] = [];
  let offset = next - first;
  for (const message of state.history.readBackwards(conversationId)) {
    if (matches.length >= limit || budget.messages === 0) return { matches, isWhole: false };
    offset -= 1;
    budget.messages -= 1;
    const snippet = snippetOf(message, pattern);
    if (snippet !== null) matches.push({ ...commonMatchFields(conversationId, message), snippet, offset, segmentId: null });
    if (offset % MESSAGES_PER_YIELD === 0) await yieldToEventLoop();
  }
  return { matches, isWhole: true };
}

/** The newest archives first. A summary inside an archive is skipped, because the messages it replaced are in an older archive. */
async function searchArchived(
  state: State,
  conversationId: string,
  pattern: RegExp,
  limit: number,
  budget: SearchLimits,
): Promise<SearchResult> {
  const matches: Match[] = [];
  for (const segment of state.segments.list(conversationId).toReversed()) {
    if (matches.length >= limit || budget.archives === 0 || budget.messages <= 0) return { matches, isWhole: false };
    budget.archives -= 1;
    const messages = await readArchivedMessages(state, segment).catch(() => null);
    if (messages === null) return { matches, isWhole: false };
    budget.messages -= messages.length;
    for (const message of messages.toReversed()) {
      const snippet = state.segments.isSummary(message.id) && message.role === "system" ? null : snippetOf(message, pattern);
      if (snippet !== null) matches.push({ ...commonMatchFields(conversationId, message), snippet, offset: null, segmentId: segment.id });
    }
    await yieldToEventLoop();
  }
  return { matches, isWhole: true };
}

function commonMatchFields(
  conversationId: string,
  { id, role, createdAt }: Message,
): Pick<Match, "conversationId" | "messageId" | "role" | "timestamp"> {
  return { conversationId, messageId: id, role, timestamp: createdAt };
}

/** Ignores case, and matches any white space where the query has some. */
function patternOf(query: string): RegExp {
  const words = query.trim().split(/\s+/u);
  return new RegExp(words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`)).join(String.raw`\s+`), "iu");
}

function snippetOf(message: Message, pattern: RegExp): string | null {
  const text = searchableText(message);
  const found = pattern.exec(text);
  if (found === null) return null;
  const from = Math.max(0, found.index - BEFORE_CHARS);
  const to = Math.min(text.length, found.index + found[0].length + AFTER_CHARS);
  const cut = text.slice(from, to).toWellFormed().replace(/\s+/gu, " ").trim();
  return `${from > 0 ? "…" : ""}${cut}${to < text.length ? "…" : ""}`;
}

/** The searchable text: what was said, arguments of tools and their outputs, but not thoughts. */
function searchableText(message: Message): string {
  switch (message.role) {
    case "user":
    case "system":
      return message.text;
    case "toolResult":
      return message.output;
    case "assistant": {
      const calls = message.blocks.flatMap((block) => (block.type === "toolCall" ? Object.values(block.arguments ?? {}) : []));
      return [textOfBlocks(message.blocks), ...calls.filter((value) => typeof value === "string")].join("\n");
    }
  }
}
