// One turn of the model: what it is told, and what comes back, shown as it comes and handed over when it is whole.

import type { AnsweredBy, ModelEvent, ModelMessage, ModelUsage, OutputBlock } from "../ports/models.ts";
import { breath } from "../lib/breath.ts";
import { estimateTokens } from "../agent/estimate.ts";
import type { History } from "./history.ts";
import type { Preparation, ProcessPorts } from "./link.ts";
import { type HistoryRow, toMessages } from "./messages.ts";

const PIECES_A_TURN = 32;
/** Where nobody knows how much a model can take, it is not given a whole history of any length. */
const UNKNOWN_WINDOW_TOKENS = 100_000;

export type Request = {
  messages: ModelMessage[];
  /** Of all that would be sent if there were room, as far as was looked. */
  estimatedTokens: number;
};

/** As much of the history as could fit and a little more, oldest first: what is left out is cut where it does least harm. */
export function recent(history: History, conversationId: string, preparation: Preparation): HistoryRow[] {
  const rows: HistoryRow[] = [];
  let tokens = 0;
  for (const { id, createdAt, runId: _, role, ...content } of history.backwards(conversationId)) {
    rows.push({ id, createdAt, role, content } as HistoryRow);
    tokens += estimateTokens(content);
    if (tokens > 2 * roomOf(preparation)) break;
  }
  return rows.toReversed();
}

/** What the model would be told now. */
export function request(rows: readonly HistoryRow[], preparation: Preparation): Request {
  const { choice, system, tools } = preparation;
  const fixed = estimateTokens({ system, tools });
  const { messages } = toMessages(rows, Math.max(1, roomOf(preparation) - fixed), `${choice.provider}/${choice.model}`);
  const tokens = rows.reduce((sum, { content }) => sum + estimateTokens(content), 0);
  return { messages, estimatedTokens: fixed + tokens };
}

function roomOf({ contextWindow, choice }: Preparation): number {
  return contextWindow === null ? UNKNOWN_WINDOW_TOKENS : Math.max(1, contextWindow - choice.maxOutputTokens);
}

/** `error` is for people; `by` is who answered. */
export type Generated = { blocks: OutputBlock[]; usage: ModelUsage | null; error: string | null; by: AnsweredBy };

type Ask = {
  models: ProcessPorts["models"];
  preparation: Preparation;
  messages: readonly ModelMessage[];
  pid: string;
  signal: AbortSignal;
  heard?: (event: ModelEvent) => void;
};

export async function generate({ models, preparation, messages, pid, signal, heard }: Ask): Promise<Generated> {
  const { choice, fallback, system, tools } = preparation;
  const chosen = { provider: choice.provider, model: choice.model };
  const asked = { choice, system, messages, tools, affinity: pid, ...(fallback === null ? {} : { fallback }) };
  let pieces = 0;
  for await (const event of models.stream(asked, signal)) {
    heard?.(event);
    // A model that answers faster than anybody reads is not the only one who wants something.
    if (++pieces % PIECES_A_TURN === 0) await breath();
    if (event.type === "done") return { blocks: event.content, usage: event.usage, error: null, by: event.by ?? chosen };
    if (event.type === "error") return { blocks: [], usage: event.usage, error: event.error.message, by: event.by ?? chosen };
  }
  return { blocks: [], usage: null, error: "The model's answer broke off", by: chosen };
}
