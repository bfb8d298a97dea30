// The rows of a conversation, top to bottom: messages, with tool results next to their calls, then streamed answers, questions
// and outgoing messages. Pure functions.

import type { StreamedAnswer } from "../../../src/client/client.ts";
import type { PendingQuestion } from "../state/approvals.ts";
import type { OutgoingMessage } from "../state/outbox.ts";
import type { HistoryMessage, WindowView } from "../state/history-window.ts";
import { parseToolCalls, parseToolResult, parseText, type ToolResult } from "./message-content.ts";

export type Row =
  | { kind: "older"; key: string }
  | { kind: "day"; key: string; at: number }
  | { kind: "message"; key: string; message: HistoryMessage; results: readonly (RowResult | null)[] }
  | { kind: "streamed"; key: string; answer: StreamedAnswer }
  | { kind: "outgoing"; key: string; outgoing: OutgoingMessage }
  | { kind: "question"; key: string; question: PendingQuestion }
  | { kind: "working"; key: string };
export type RowResult = ToolResult & { message: HistoryMessage };

export function messageKey(id: number): string {
  return `m${id}`;
}

/** The rows of the history, which do not change while an answer streams. */
export function makeHistoryRows({ from, messages }: WindowView): Row[] {
  const results = indexResultsByCallId(messages);
  const called = new Set<string>();
  const rows: Row[] = from > 0 ? [{ kind: "older", key: "older" }] : [];
  let day = "";
  for (const message of messages) {
    const calls = message.role === "assistant" ? parseToolCalls(message.content) : [];
    for (const { id } of calls) called.add(id);
    const result = message.role === "toolResult" ? parseToolResult(message.content) : null;
    // A result is shown with its call, unless the call is outside the window.
    if (result !== null && called.has(result.toolCallId)) continue;
    const dayOfMessage = new Date(message.timestamp).toDateString();
    if (dayOfMessage !== day) rows.push({ kind: "day", key: `d${message.id}`, at: message.timestamp });
    day = dayOfMessage;
    rows.push({ kind: "message", key: messageKey(message.id), message, results: calls.map(({ id }) => results.get(id) ?? null) });
  }
  return rows;
}

export type Tail = {
  pendingAnswers: readonly StreamedAnswer[];
  outgoing: readonly OutgoingMessage[];
  questions: readonly PendingQuestion[];
  isWorking: boolean;
};

export function makeTailRows({ pendingAnswers, outgoing, questions, isWorking }: Tail): Row[] {
  const startedAnswers = pendingAnswers.filter(({ blocks }) => blocks.length > 0);
  return [
    ...startedAnswers.map((answer): Row => ({ kind: "streamed", key: `c${answer.runId}.${answer.modelCall}`, answer })),
    ...questions.map((question): Row => ({ kind: "question", key: `q${question.requestId}`, question })),
    ...(isWorking && questions.length === 0 ? [{ kind: "working" as const, key: "working" }] : []),
    ...outgoing.map((one): Row => ({ kind: "outgoing", key: `o${one.runId}`, outgoing: one })),
  ];
}

/** Used until a row is measured. */
export function estimateHeight(row: Row): number {
  switch (row.kind) {
    case "day":
    case "older":
      return 44;
    case "working":
      return 36;
    case "question":
      return 320;
    case "message": {
      const lines = Math.ceil(parseText(row.message.content).length / 80);
      return 56 + Math.min(40, lines) * 24 + row.results.length * 48;
    }
    default:
      return 80;
  }
}

function indexResultsByCallId(messages: readonly HistoryMessage[]): Map<string, RowResult> {
  const results = new Map<string, RowResult>();
  for (const message of messages) {
    const result = message.role === "toolResult" ? parseToolResult(message.content) : null;
    if (result !== null) results.set(result.toolCallId, { ...result, message });
  }
  return results;
}
