// The state of a tool call: what its card and the summary of its group show.

import type { CallOutcome, Conversation } from "../state/conversation.ts";
import type { ToolCall } from "./message-content.ts";
import type { RowResult } from "./message-rows.ts";
import { findScriptOfQuestion } from "./scripts.ts";
import type { Tense } from "../../../src/lib/tool-verbs.ts";

export type CallState = { word: string; tone: "wait" | "run" | "good" | "bad" | "plain"; tense: Tense };

const DONE: CallState = { word: "done", tone: "good", tense: "past" };
const RUNNING: CallState = { word: "running", tone: "run", tense: "present" };

export function stateOfCall(conversation: Conversation, call: ToolCall, result: RowResult | null, isStreaming = false): CallState {
  if (result !== null) return stateOfEnd(result.isError, result.outcome, result.output);
  if (isStreaming) return { word: "preparing", tone: "run", tense: "future" };
  const end = conversation.calls.value.get(call.id)?.end;
  if (end != null) return stateOfEnd(!end.ok, end.outcome, end.text);
  const isAsked = (conversation.questions.value.value ?? []).some(
    (question) => question.callId === call.id || findScriptOfQuestion(conversation, question)?.id === call.id,
  );
  if (isAsked) return { word: "waiting for your answer", tone: "wait", tense: "future" };
  return conversation.run.value === null ? { word: "no result", tone: "bad", tense: "past" } : RUNNING;
}

function stateOfEnd(isError: boolean, outcome: CallOutcome | null, output: string): CallState {
  if (outcome === "denied") return { word: describeDenial(output), tone: "plain", tense: "future" };
  if (outcome === "stopped") return { word: "stopped", tone: "plain", tense: "future" };
  if (isError) return { word: "failed", tone: "bad", tense: "failed" };
  // The command is still running in the background.
  if (/\[Still running[^\]]*\]\s*$/.test(output)) return { word: "still running", tone: "plain", tense: "past" };
  const exit = /\[Exit code (\d+)\]\s*$/.exec(output)?.[1];
  return exit === undefined || exit === "0" ? DONE : { word: `exit ${exit}`, tone: "plain", tense: "past" };
}

/** Who or what denied a call, by the gateway's message. */
function describeDenial(output: string): string {
  if (output.includes("denied by policy")) return "denied by your policy";
  return output.includes("Nobody approved this in time") ? "nobody answered in time" : "You denied this";
}
