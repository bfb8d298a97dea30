// One turn of the model: what it is told, and what comes back, shown as it comes and handed over when it is whole.

import type { ModelEvent, ModelUsage, OutputBlock } from "../ports/models.ts";
import type { History } from "./history.ts";
import type { Preparation, ProcessPorts } from "./link.ts";
import { estimateTokens } from "./estimate.ts";
import { type HistoryRow, toMessages } from "./messages.ts";
import type { Run } from "./runs.ts";

type Turn = {
  ports: Pick<ProcessPorts, "models" | "kernel" | "now">;
  history: History;
  pid: string;
  run: Run;
  preparation: Preparation;
  signal: AbortSignal;
};

/** `error` is for people. */
export type Generated = { blocks: OutputBlock[]; usage: ModelUsage; error: string | null };

const NOTHING: ModelUsage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

export async function generate({ ports, history, pid, run, preparation, signal }: Turn): Promise<Generated> {
  const { choice, system, tools, contextWindow } = preparation;
  const budget = contextWindow === null ? null : Math.max(1, contextWindow - choice.maxOutputTokens);
  const { messages } = toMessages(recent(history, run.conversationId, budget), budget);
  let seq = 0;
  const show = (event: ModelEvent) =>
    ports.kernel.stream({ pid, runId: run.runId, conversationId: run.conversationId, seq: ++seq, event, timestamp: ports.now() });
  for await (const event of ports.models.stream({ choice, system, messages, tools, affinity: pid }, signal)) {
    show(event);
    if (event.type === "done") return { blocks: event.content, usage: event.usage, error: null };
    if (event.type === "error") return { blocks: [], usage: event.usage ?? NOTHING, error: event.error.message };
  }
  return { blocks: [], usage: NOTHING, error: "The model's answer broke off" };
}

/** As much of the newest as could fit, and a little more: what is left out is cut where it does least harm. */
function recent(history: History, conversationId: string, budgetTokens: number | null): HistoryRow[] {
  const rows: HistoryRow[] = [];
  let tokens = 0;
  for (const { id, createdAt, runId: _, role, ...content } of history.backwards(conversationId)) {
    rows.push({ id, createdAt, role, content } as HistoryRow);
    tokens += estimateTokens(content);
    if (budgetTokens !== null && tokens > 2 * budgetTokens) break;
  }
  return rows.toReversed();
}
