// Which script of a conversation a question is about. Events say so; for a question that was asked before the page was opened, it is the
// script of that run which has no result.

import { findScriptOf, isScriptTool } from "../../../src/client/client.ts";
import { isScriptCallId } from "../../../src/sandbox/script-calls.ts";
import type { PendingQuestion } from "../state/approvals.ts";
import type { Conversation } from "../state/conversation.ts";
import { callSubjectOf, parseToolCalls, parseToolResult, type ToolCall } from "./message-content.ts";

/** Null if no script asks, or if the script is outside the loaded window. */
export function findScriptOfQuestion(conversation: Conversation, { callId, runId }: PendingQuestion): ToolCall | null {
  if (!isScriptCallId(callId)) return null;
  const messages = (conversation.window.view?.messages ?? []).filter((message) => message.runId === runId);
  const ended = new Set(
    messages.flatMap(({ role, content }) => (role === "toolResult" ? (parseToolResult(content)?.toolCallId ?? []) : [])),
  );
  const scripts = messages
    .flatMap(({ role, content }) => (role === "assistant" ? parseToolCalls(content) : []))
    .filter(({ id, name }) => isScriptTool(name) && !ended.has(id));
  const known = findScriptOf({ scripts: conversation.scripts.value }, callId);
  return scripts.find(({ id }) => known === null || id === known) ?? null;
}

/** What the script is for that asks the question. */
export function purposeOfAskingScript(conversation: Conversation, question: PendingQuestion): string | undefined {
  const script = findScriptOfQuestion(conversation, question);
  return script === null ? undefined : callSubjectOf(script);
}
