// What a process is doing, reduced from its events: its active runs, the answer that is arriving, its tool calls, and whether the
// model call is retried. Pure: a state is immutable, and the next one shares everything that an event does not change. So a view
// finds changes by comparing, and a piece of an answer costs the same however long the answer is.

import type { AnswerBlock, AnswerEvent, LiveAnswer } from "../protocol/proc-records.ts";
import {
  PROC_CHANGED,
  RUN_FINISHED,
  RUN_OUTPUT,
  RUN_RETRYING,
  RUN_STARTED,
  RUN_STREAM,
  TOOL_FINISHED,
  TOOL_STARTED,
} from "../protocol/signal-names.ts";
import type { AnswerPiece, Payload, ProcessEventName, Signal } from "../protocol/signals.ts";

export type Activity = {
  /** Runs that have started and not ended, with the conversation of each. */
  readonly runs: ReadonlyMap<string, string>;
  readonly answer: StreamedAnswer | null;
  /** Calls of the active runs, by id, including those that have ended. */
  readonly calls: ReadonlyMap<string, ToolCall>;
  /** Why the model call is retried; null once the model has answered. */
  readonly retrying: { conversationId: string; why: string } | null;
  /** Keys of answers and runs that are over, newest last: late pieces of them are ignored. */
  readonly over: readonly string[];
};

/** An answer that is arriving. */
export type StreamedAnswer = {
  readonly runId: string;
  readonly conversationId: string;
  readonly modelCall: number;
  /** The number of its last piece. */
  readonly seq: number;
  /** By the model's content index, with possible holes. */
  readonly blocks: readonly (AnswerBlock | undefined)[];
  /** A piece is missing: nothing more is added, and only the whole text completes the answer. */
  readonly hasGap: boolean;
  readonly isRetrying: boolean;
};

export type ToolCall = {
  readonly callId: string;
  readonly runId: string;
  readonly name: string;
  readonly syscall: string | null;
  readonly args: Readonly<Record<string, unknown>>;
  readonly startedAt: number;
  /** How it ended; null while it runs. */
  readonly end: { ok: boolean; text: string; outcome: "denied" | "stopped" | null; at: number; durationMs: number } | null;
};

export const IDLE: Activity = { runs: new Map(), answer: null, calls: new Map(), retrying: null, over: [] };

const OVER_MAX = 50;

/** An event of a process, or a piece of an answer. */
export type ActivityEvent = Signal<ProcessEventName | typeof RUN_STREAM>;

export function reduce(activity: Activity, { signal, payload }: ActivityEvent): Activity {
  switch (signal) {
    case RUN_STREAM:
      return withPiece(activity, payload);
    case RUN_STARTED:
      return { ...activity, runs: new Map(activity.runs).set(payload.runId, payload.conversationId), retrying: null };
    case PROC_CHANGED: {
      const isAnswer = payload.changes.includes("messages") && (payload.role === "assistant" || payload.role === "system");
      const changed = isAnswer ? withoutAnswer(activity, payload.runId) : activity;
      return payload.changes.includes("messages") && changed.retrying !== null ? { ...changed, retrying: null } : changed;
    }
    case RUN_OUTPUT:
      return withoutAnswer(activity, payload.runId);
    case TOOL_STARTED:
      return withCall(activity, makeToolCall(payload, payload.args));
    case TOOL_FINISHED:
      return withCall(activity, finishToolCall(activity.calls.get(payload.callId) ?? makeToolCall(payload, {}), payload));
    case RUN_RETRYING:
      return { ...activity, retrying: { conversationId: payload.conversationId, why: payload.why } };
    case RUN_FINISHED: {
      const { runId } = payload;
      const runs = new Map(activity.runs);
      runs.delete(runId);
      const calls = new Map([...activity.calls].filter(([, call]) => call.runId !== runId));
      const rest = withoutAnswer(activity, runId);
      return { ...rest, runs, calls, retrying: null, over: addOverKey(rest, runId) };
    }
    default:
      return activity;
  }
}

/** Sets the live answer when the client starts to follow or reconnects; null if no answer is arriving. */
export function setLiveAnswer(activity: Activity, live: LiveAnswer | null): Activity {
  const answer = live === null || isAnswerOver(activity, live) ? null : { ...live, hasGap: false, isRetrying: false };
  return { ...activity, answer };
}

/** The text of an answer so far. */
export function answerText({ blocks }: Pick<StreamedAnswer, "blocks">): string {
  const texts = blocks.flatMap((block) => (block?.type === "text" ? [block.text] : []));
  return texts.filter((text, at) => text !== "" || at === texts.length - 1).join("\n\n");
}

type CallFields = Pick<Payload<typeof TOOL_FINISHED>, "callId" | "runId" | "name" | "syscall" | "timestamp">;

function makeToolCall({ callId, runId, name, syscall, timestamp }: CallFields, args: Record<string, unknown>): ToolCall {
  return { callId, runId, name, syscall, args, startedAt: timestamp, end: null };
}

function finishToolCall(call: ToolCall, { ok, output, error, outcome, timestamp, durationMs }: Payload<typeof TOOL_FINISHED>): ToolCall {
  const text = (ok ? output : error) ?? "";
  return { ...call, end: { ok, text, outcome: outcome ?? null, at: timestamp, durationMs: durationMs ?? timestamp - call.startedAt } };
}

function withCall(activity: Activity, call: ToolCall): Activity {
  return { ...activity, calls: new Map(activity.calls).set(call.callId, call) };
}

/** Removes an answer that has become a message, or is void. */
function withoutAnswer(activity: Activity, runId: string | undefined): Activity {
  const { answer } = activity;
  if (answer === null || answer.runId !== runId) return activity;
  return { ...activity, answer: null, over: addOverKey(activity, answerKey(answer)) };
}

function addOverKey(activity: Activity, key: string): readonly string[] {
  return [...activity.over, key].slice(-OVER_MAX);
}

function isAnswerOver(activity: Activity, answer: Pick<StreamedAnswer, "runId" | "modelCall">): boolean {
  return activity.over.includes(answer.runId) || activity.over.includes(answerKey(answer));
}

function answerKey({ runId, modelCall }: Pick<StreamedAnswer, "runId" | "modelCall">): string {
  return `${runId} ${modelCall}`;
}

function withPiece(activity: Activity, piece: AnswerPiece): Activity {
  if (isAnswerOver(activity, piece)) return activity;
  const answer = addPiece(activity.answer, piece);
  return answer === activity.answer ? activity : { ...activity, answer };
}

/** The first piece starts an answer, or restarts the same one if the gateway restarted in the middle of it. */
function addPiece(
  answer: StreamedAnswer | null,
  { runId, conversationId, modelCall, seq, firstSeq = seq, event }: AnswerPiece,
): StreamedAnswer | null {
  const isSame = answer !== null && answer.runId === runId && answer.modelCall === modelCall;
  if (firstSeq === 1 && (!isSame || answer.seq > 1)) {
    const isRetrying = event.type === "retrying";
    return { runId, conversationId, modelCall, seq, blocks: applyToBlocks([], event), hasGap: false, isRetrying };
  }
  // Without its start, the rest of an answer is dropped; pieces that the answer has already change nothing.
  if (!isSame) return null;
  if (seq <= answer.seq) return answer;
  if (answer.hasGap || firstSeq !== answer.seq + 1) return { ...answer, seq, hasGap: true };
  return { ...answer, seq, blocks: applyToBlocks(answer.blocks, event), isRetrying: event.type === "retrying" };
}

function applyToBlocks(blocks: StreamedAnswer["blocks"], event: AnswerEvent): StreamedAnswer["blocks"] {
  if (event.type === "retrying") return [];
  if (!("contentIndex" in event)) return blocks;
  const at = event.contentIndex;
  const block = applyToBlock(blocks[at], event);
  if (block === blocks[at]) return blocks;
  const next = blocks.slice();
  next[at] = block;
  return next;
}

function applyToBlock(block: AnswerBlock | undefined, event: Extract<AnswerEvent, { contentIndex: number }>): AnswerBlock | undefined {
  switch (event.type) {
    case "text_start":
      return { type: "text", text: "" };
    case "thinking_start":
      return { type: "thinking", thinking: "" };
    case "toolcall_start":
      return { type: "toolCall", id: event.id, name: event.name, arguments: null, raw: "" };
    case "text_delta":
      if (block === undefined) return { type: "text", text: event.delta };
      return block.type === "text" ? { ...block, text: block.text + event.delta } : block;
    case "thinking_delta":
      if (block === undefined) return { type: "thinking", thinking: event.delta };
      return block.type === "thinking" ? { ...block, thinking: block.thinking + event.delta } : block;
    case "toolcall_delta":
      return block?.type === "toolCall" ? { ...block, raw: (block.raw ?? "") + event.delta } : block;
    case "toolcall_end":
      return event.call;
    default:
      return block;
  }
}
