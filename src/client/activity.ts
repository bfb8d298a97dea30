// What a process is doing, reduced from its events: its active runs, the answer that is arriving, its tool calls, the calls that
// scripts make, and whether the model call is retried. Pure: a state is immutable, and the next one shares everything that an event
// does not change. So a view finds changes by comparing, and a piece of an answer costs the same however long the answer is.

import { shortenArgs } from "../lib/shorten-args.ts";
import type { AnswerBlock, AnswerEvent, LiveAnswer } from "../protocol/proc-records.ts";
import {
  HIL_REQUESTED,
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
  /** The model's calls of the active runs, by id, including those that have ended. */
  readonly calls: ReadonlyMap<string, ToolCall>;
  /** What scripts have called, by the id of the call that runs the script. The newest remain when their run has ended. */
  readonly scripts: ReadonlyMap<string, ScriptCalls>;
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

export type ScriptCalls = {
  readonly runId: string;
  /** Whether the script was seen to start: otherwise it has made calls before these. */
  readonly hasStart: boolean;
  /** All of them, also those that `calls` has no more. */
  readonly count: number;
  /** In the order in which they began; of a long script the newest. */
  readonly calls: readonly ScriptCall[];
};

/** A call that a script makes, its arguments shortened. */
export type ScriptCall = ToolCall & {
  /** A person has been asked, and the call has not started. */
  readonly isAsked: boolean;
};

export const IDLE: Activity = { runs: new Map(), answer: null, calls: new Map(), scripts: new Map(), retrying: null, over: [] };

const OVER_MAX = 50;
const SCRIPTS_MAX = 20;
const SCRIPT_CALLS_MAX = 200;
/** A view shows one line for each call. */
const SCRIPT_ARG_CHARS = 500;

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
      if (payload.scriptCallId !== undefined) return withScriptCall(activity, payload.scriptCallId, startScriptCall(payload, false));
      return withCall(activity, makeToolCall(payload, payload.args));
    case HIL_REQUESTED: {
      if (payload.scriptCallId === undefined) return activity;
      return withScriptCall(activity, payload.scriptCallId, startScriptCall({ ...payload, name: payload.toolName }, true));
    }
    case TOOL_FINISHED: {
      const { callId, scriptCallId } = payload;
      if (scriptCallId !== undefined) {
        const known = findScriptCall(activity, scriptCallId, callId) ?? startScriptCall({ ...payload, args: payload.args ?? {} }, false);
        // A call that a person denied did not run.
        const finished = finishToolCall(known, known.isAsked ? { ...payload, durationMs: 0 } : payload);
        return withScriptCall(activity, scriptCallId, { ...finished, isAsked: false });
      }
      const finished = withCall(activity, finishToolCall(activity.calls.get(callId) ?? makeToolCall(payload, {}), payload));
      return endScripts(finished, (id) => id === callId, payload.timestamp);
    }
    case RUN_RETRYING:
      return { ...activity, retrying: { conversationId: payload.conversationId, why: payload.why } };
    case RUN_FINISHED: {
      const { runId } = payload;
      const runs = new Map(activity.runs);
      runs.delete(runId);
      const calls = new Map([...activity.calls].filter(([, call]) => call.runId !== runId));
      const rest = endScripts(withoutAnswer(activity, runId), (_, script) => script.runId === runId, payload.timestamp);
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

/** The id of the call that runs the script which makes this call; null if that is unknown, or no script makes it. */
export function findScriptOf({ scripts }: Pick<Activity, "scripts">, callId: string): string | null {
  for (const [scriptCallId, { calls }] of scripts) if (calls.some((call) => call.callId === callId)) return scriptCallId;
  return null;
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

type ScriptCallFields = Omit<CallFields, "syscall"> & { syscall: string | null; args: Record<string, unknown> };

function startScriptCall(fields: ScriptCallFields, isAsked: boolean): ScriptCall {
  return { ...makeToolCall(fields, shortenArgs(fields.args, SCRIPT_ARG_CHARS)), isAsked };
}

function findScriptCall({ scripts }: Activity, scriptCallId: string, callId: string): ScriptCall | undefined {
  return scripts.get(scriptCallId)?.calls.find((call) => call.callId === callId);
}

/** Adds a call of a script, or replaces what is known of it; one that has ended does not start again. */
function withScriptCall(activity: Activity, scriptCallId: string, call: ScriptCall): Activity {
  const script = activity.scripts.get(scriptCallId) ?? {
    runId: call.runId,
    hasStart: activity.calls.has(scriptCallId),
    count: 0,
    calls: [],
  };
  const at = script.calls.findIndex(({ callId }) => callId === call.callId);
  if (call.end === null && at !== -1 && script.calls[at]!.end !== null) return activity;
  const next =
    at === -1
      ? { ...script, count: script.count + 1, calls: dropOldest([...script.calls, call]) }
      : { ...script, calls: script.calls.with(at, call) };
  const scripts = new Map(activity.scripts).set(scriptCallId, next);
  const [oldest] = scripts.keys();
  if (scripts.size > SCRIPTS_MAX) scripts.delete(oldest!);
  return { ...activity, scripts };
}

/** Drops the oldest call that has ended, if there are too many. */
function dropOldest(calls: readonly ScriptCall[]): readonly ScriptCall[] {
  const oldest = calls.length > SCRIPT_CALLS_MAX ? calls.findIndex(({ end }) => end !== null) : -1;
  return oldest === -1 ? calls : calls.toSpliced(oldest, 1);
}

/** Calls that a script did not wait for end with it, and are not reported. */
function endScripts(activity: Activity, isOver: (id: string, script: ScriptCalls) => boolean, at: number): Activity {
  const ended = [...activity.scripts].filter(([id, script]) => isOver(id, script) && script.calls.some(({ end }) => end === null));
  if (ended.length === 0) return activity;
  const scripts = new Map(activity.scripts);
  for (const [id, script] of ended) {
    const calls = script.calls.map((call) => (call.end === null ? stopScriptCall(call, at) : call));
    scripts.set(id, { ...script, calls });
  }
  return { ...activity, scripts };
}

function stopScriptCall(call: ScriptCall, at: number): ScriptCall {
  const durationMs = call.isAsked ? 0 : Math.max(0, at - call.startedAt);
  return { ...call, isAsked: false, end: { ok: false, text: "The script ended before this did", outcome: "stopped", at, durationMs } };
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
