// What the active run of a conversation is doing now, in words, and since when: waiting for the model, thinking, answering, or running a
// tool.

import type { Conversation } from "../state/conversation.ts";
import { parseToolCall, parseToolCalls, parseToolResult, type ToolCall } from "./message-content.ts";
import { describeCall, type CallWords } from "./tool-words.ts";

export type RunPhase = {
  words: string;
  /** The call that runs. */
  call: CallWords | null;
  since: number | null;
  /** An estimate of how much of the answer has arrived. */
  tokens: number | null;
};

const CHARS_PER_TOKEN = 4;

/** Reads signals: a component that calls it is rendered again when the phase changes. */
export function runPhaseOf(conversation: Conversation): RunPhase {
  const messages = conversation.window.view?.messages ?? [];
  const since = messages.at(-1)?.timestamp ?? null;
  const retryReason = conversation.retryReason.value;
  if (retryReason !== null) return { words: `Trying again: ${retryReason}`, call: null, since: null, tokens: null };
  const answer = conversation.streamedAnswer.value;
  const block = answer?.blocks.findLast((one) => one !== undefined);
  if (block !== undefined) {
    const chars = answer!.blocks.reduce((count, one) => count + lengthOf(one), 0);
    return { words: BLOCK_WORDS[block.type], call: null, since, tokens: Math.round(chars / CHARS_PER_TOKEN) };
  }
  const running = findRunningCall(conversation);
  if (running !== null) return { words: "", call: describeCall(running.call, "present"), since: running.since, tokens: null };
  if (conversation.run.value?.state === "queued") return { words: "Waiting for its turn", call: null, since, tokens: null };
  const { model } = conversation.settings.value.value?.effective ?? conversation.context.value ?? { model: "" };
  return { words: `Waiting for ${model === "" ? "the model" : model}`, call: null, since, tokens: null };
}

type Block = NonNullable<NonNullable<Conversation["streamedAnswer"]["value"]>["blocks"][number]>;
const BLOCK_WORDS: Readonly<Record<Block["type"], string>> = { thinking: "Thinking", text: "Answering", toolCall: "Preparing a tool" };

function lengthOf(block: Block | undefined): number {
  if (block === undefined) return 0;
  if (block.type === "toolCall") return block.raw?.length ?? 0;
  return block.type === "text" ? block.text.length : block.thinking.length;
}

/** The newest call without a result. Events know when it began; the history has it also when the page was opened later. */
function findRunningCall(conversation: Conversation): { call: ToolCall; since: number } | null {
  const live = [...conversation.calls.value.values()].findLast(({ end }) => end === null);
  if (live !== undefined) {
    const call = parseToolCall({ id: live.callId, name: live.name, arguments: live.args });
    return { call, since: live.startedAt };
  }
  const messages = conversation.window.view?.messages ?? [];
  const asking = messages.findLast(({ role }) => role === "assistant" || role === "user");
  if (asking?.role !== "assistant") return null;
  const ended = new Set(messages.map(({ role, content }) => (role === "toolResult" ? parseToolResult(content)?.toolCallId : undefined)));
  const open = parseToolCalls(asking.content).find(({ id }) => !ended.has(id) && !conversation.calls.value.has(id));
  return open === undefined ? null : { call: open, since: asking.timestamp };
}
