// The rows of a conversation, top to bottom: messages, with the consecutive tool calls of a run as one row, then streamed answers,
// questions and outgoing messages. Pure functions.

import type { StreamedAnswer } from "../../../src/client/client.ts";
import type { PendingQuestion } from "../state/approvals.ts";
import type { OutgoingMessage } from "../state/outbox.ts";
import type { HistoryMessage, WindowView } from "../state/history-window.ts";
import {
  isStopped,
  parseReasoning,
  parseText,
  parseToolCalls,
  parseToolResult,
  type ToolCall,
  type ToolResult,
} from "./message-content.ts";

export type Row =
  | { kind: "older"; key: string }
  | { kind: "day"; key: string; at: number }
  | { kind: "message"; key: string; message: HistoryMessage }
  | { kind: "tools"; key: string; runId: string | undefined; steps: ToolStep[] }
  | { kind: "streamed"; key: string; answer: StreamedAnswer }
  | { kind: "outgoing"; key: string; outgoing: OutgoingMessage }
  /** For a question about no call: a call says itself that it waits. The card of the question stands above the message field. */
  | { kind: "question"; key: string }
  | { kind: "working"; key: string };
export type RowResult = ToolResult & { message: HistoryMessage };
/** A call of a message, and what the model thought before it if the message has no text that could show it. */
export type ToolStep = { message: HistoryMessage; call: ToolCall; result: RowResult | null; thoughts: readonly string[] };

export function messageKey(id: number): string {
  return `m${id}`;
}

/** The rows of the history, which do not change while an answer streams. */
export function makeHistoryRows({ from, messages }: Pick<WindowView, "from" | "messages">): Row[] {
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
    const isShown = calls.length === 0 || parseText(message.content).trim() !== "" || isStopped(message.content);
    if (isShown) rows.push({ kind: "message", key: messageKey(message.id), message });
    if (calls.length > 0) addToolSteps(rows, message, makeToolSteps(message, calls, results, isShown));
  }
  return rows;
}

function makeToolSteps(
  message: HistoryMessage,
  calls: readonly ToolCall[],
  results: ReadonlyMap<string, RowResult>,
  isMessageShown: boolean,
): ToolStep[] {
  const thoughts = isMessageShown ? [] : parseReasoning(message.content);
  return calls.map((call, at) => ({ message, call, result: results.get(call.id) ?? null, thoughts: at === 0 ? thoughts : [] }));
}

/** Calls that follow those of the same run, with nothing in between, are one row with them. */
function addToolSteps(rows: Row[], message: HistoryMessage, steps: ToolStep[]): void {
  const last = rows.at(-1);
  if (last?.kind === "tools" && last.runId === message.runId) last.steps.push(...steps);
  else rows.push({ kind: "tools", key: `t${message.id}`, runId: message.runId, steps });
}

/** The row that shows a message. */
export function findRowOfMessage(rows: readonly Row[], messageId: number): Row | null {
  const shows = (row: Row) => {
    if (row.kind === "message") return row.message.id === messageId;
    if (row.kind !== "tools") return false;
    return row.steps.some(({ message, result }) => message.id === messageId || result?.message.id === messageId);
  };
  return rows.find(shows) ?? null;
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
    ...(questions.some(({ kind }) => kind !== "call") ? [{ kind: "question" as const, key: "question" }] : []),
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
    case "question":
      return 36;
    case "message": {
      const lines = Math.ceil(parseText(row.message.content).length / 80);
      return 56 + Math.min(40, lines) * 24;
    }
    case "tools":
      return 54;
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
