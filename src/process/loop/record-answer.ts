// Stores the answer of a model as a message, its usage, and its tool calls, all in one transaction, so a crash leaves either no
// answer or the whole of it.

import type { OutputBlock } from "../../ports/models.ts";
import { computeContextState, estimateTokens } from "../../agent/estimate.ts";
import type { MessageContent } from "../rows/history.ts";
import { measureExtent, storeContext, type Measurement } from "./measure.ts";
import { LEASE_MS, type State, type Tell, textOfBlocks } from "../rows/state.ts";
import { syscallOf } from "../../agent/tools.ts";
import type { GeneratedAnswer } from "./generate.ts";
import { PROC_CHANGED, RUN_OUTPUT } from "../../protocol/signal-names.ts";

export function recordAnswer(
  state: State,
  runId: string,
  { error, usage, by, ...generated }: GeneratedAnswer,
  measured: Measurement,
  tell: Tell,
): void {
  const { runs, calls, ports } = state;
  const run = runs.findActive();
  // The run was aborted meanwhile.
  if (run?.runId !== runId) return;
  const { conversationId } = run;
  const now = ports.now();
  runs.extendLease(runId, now + LEASE_MS);
  const blocks = withUniqueIds(state, generated.blocks);
  const isAnswer = error === null && blocks.length > 0;
  const failure = error === null ? "Generation failed." : `Generation failed: ${error}`;
  const said: MessageContent = isAnswer
    ? { role: "assistant", blocks, model: `${by.provider}/${by.model}` }
    : { role: "system", text: failure };
  const message = state.appendMessage(conversationId, runId, said, tell);
  if (usage !== null) {
    state.usage.addAnswer({ messageId: message.id, runId, ...by, usage }, now);
    tell(PROC_CHANGED, { changes: ["usage"], conversationId, runId, messageId: message.id, ...by, usage });
  }
  const { source: _, pressure: __, level: ___, ...known } = measured.context;
  const estimatedInputTokens = known.estimatedInputTokens + estimateTokens(said);
  const context = { ...known, ...measureExtent(state, conversationId), estimatedInputTokens, updatedAt: now };
  storeContext(state, computeContextState(context, isAnswer ? usage : null), tell);
  if (!isAnswer) {
    const reason = error === null ? "generation.empty" : "generation.error";
    return state.endActiveRun(run, { status: "error", reason, text: null, error: error ?? "The model's answer was empty" }, tell);
  }
  const text = textOfBlocks(blocks);
  const thinking = blocks.filter(({ type }) => type === "thinking");
  if (text.trim() !== "" || thinking.length > 0) tell(RUN_OUTPUT, { text, thinking, runId, conversationId });
  const toolCalls = blocks.filter((block) => block.type === "toolCall");
  for (const [position, { id, name, arguments: args }] of toolCalls.entries())
    calls.add({ callId: id, runId, messageId: message.id, tool: name, syscall: syscallOf(name), args }, position, now);
}

/** Some servers restart their call ids in every answer; here an id must identify a call. */
function withUniqueIds({ calls, ports }: State, blocks: readonly OutputBlock[]): OutputBlock[] {
  const ids = new Set<string>();
  return blocks.map((block) => {
    if (block.type !== "toolCall") return block;
    const isTaken = block.id === "" || ids.has(block.id) || calls.get(block.id) !== undefined;
    const id = isTaken ? ports.uuid() : block.id;
    ids.add(id);
    return { ...block, id };
  });
}
