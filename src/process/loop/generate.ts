// One call of the model: builds the request, reports events as they arrive, and returns the whole answer.

import type { AnsweredBy, ModelEvent, ModelMessage, ModelUsage, OutputBlock } from "../../ports/models.ts";
import { yieldToEventLoop } from "../../lib/yield.ts";
import { estimateTokens } from "../../agent/estimate.ts";
import type { Preparation, ProcessPorts } from "../kernel-port.ts";
import type { RecentRows } from "./recent-messages.ts";
import { type HistoryRow, toModelMessages } from "./model-messages.ts";

const PIECES_PER_YIELD = 32;
/** If the context window of a model is unknown, the history it is sent is cut to this size. */
const UNKNOWN_WINDOW_TOKENS = 100_000;

export type GenerateRequest = {
  messages: ModelMessage[];
  /** Estimate for the request before it is cut to fit, over the history that was read. */
  estimatedTokens: number;
};

/** The request that would be sent now: the rows that were read, here with their pictures. */
export function buildRequest(rows: readonly HistoryRow[], read: RecentRows, preparation: Preparation): GenerateRequest {
  const { provider, model } = preparation.choice;
  const fixed = fixedTokens(preparation);
  const budget = Math.max(1, inputTokensMax(preparation) - fixed);
  const tokens = read.tokens + pictureTokens(rows, read.rows);
  const { messages } = toModelMessages(rows, budget, `${provider}/${model}`, tokens);
  return { messages, estimatedTokens: fixed + tokens };
}

/** A row without pictures is the same object as before. */
function pictureTokens(rows: readonly HistoryRow[], before: readonly HistoryRow[]): number {
  if (rows === before) return 0;
  const extraTokens = (row: HistoryRow, at: number) =>
    row === before[at] ? 0 : estimateTokens(row.content) - estimateTokens(before[at]!.content);
  return rows.reduce((tokens, row, at) => tokens + extraTokens(row, at), 0);
}

/** Cached, because all steps of a run share one preparation. */
const fixedTokensCache = new WeakMap<Preparation, number>();

function fixedTokens(preparation: Preparation): number {
  const { system, tools } = preparation;
  const known = fixedTokensCache.get(preparation) ?? estimateTokens({ system, tools });
  fixedTokensCache.set(preparation, known);
  return known;
}

/** How much of a conversation is read: twice what could fit. */
export function historyTokensMax(preparation: Preparation): number {
  return 2 * inputTokensMax(preparation);
}

function inputTokensMax({ contextWindow, choice }: Preparation): number {
  return contextWindow === null ? UNKNOWN_WINDOW_TOKENS : Math.max(1, contextWindow - choice.maxOutputTokens);
}

/** `error` is for people; `by` is the model that answered. */
export type GeneratedAnswer = { blocks: OutputBlock[]; usage: ModelUsage | null; error: string | null; by: AnsweredBy };

type GenerateArgs = {
  models: ProcessPorts["models"];
  preparation: Preparation;
  messages: readonly ModelMessage[];
  pid: string;
  signal: AbortSignal;
  onEvent?: (event: ModelEvent) => void;
};

export async function generate({ models, preparation, messages, pid, signal, onEvent }: GenerateArgs): Promise<GeneratedAnswer> {
  const { choice, fallback, system, tools } = preparation;
  const chosen = { provider: choice.provider, model: choice.model };
  const modelRequest = { choice, system, messages, tools, affinity: pid, ...(fallback === null ? {} : { fallback }) };
  let pieces = 0;
  for await (const event of models.stream(modelRequest, signal)) {
    onEvent?.(event);
    // A model that answers faster than anybody reads must not block the event loop.
    if (++pieces % PIECES_PER_YIELD === 0) await yieldToEventLoop();
    if (event.type === "done") return { blocks: event.content, usage: event.usage, error: null, by: event.by ?? chosen };
    if (event.type === "error") return { blocks: [], usage: event.usage, error: event.error.message, by: event.by ?? chosen };
  }
  return { blocks: [], usage: null, error: "The model's answer ended early", by: chosen };
}
