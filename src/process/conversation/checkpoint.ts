// What a workspace keeps of a process that is emptied: the messages of the default conversation, sent to the kernel before they
// are deleted, and the workspace's summary, which the model rewrites afterwards. The process knows its conversations and its
// model; the kernel knows workspaces (kernel/agents/checkpoints.ts).

import { rejectOnAbort } from "../../lib/or-aborted.ts";
import { concat } from "../../lib/bytes.ts";
import { NOTHING_SPENT } from "../../ports/usage.ts";
import { toChatLine } from "./archive.ts";
import { findOverspent } from "../loop/budget.ts";
import { DEFAULT_CONVERSATION } from "../rows/conversations.ts";
import type { Checkpoint } from "../kernel-port.ts";
import type { State } from "../rows/state.ts";
import { summarizeWorkspace, formatTranscript } from "./summary.ts";
import { PROC_CHANGED } from "../../protocol/signal-names.ts";

/** How much of the conversation the model reads. */
const TRANSCRIPT_CHARS = 16_000;
/** The workspace gets only the newest messages of a longer conversation; the archive has all of them. */
const CHAT_BYTES_MAX = 8 * 1024 * 1024;
/** Nobody waits for the summary, but a model that hangs must not keep the process awake. */
const RENEWAL_MS = 5 * 60 * 1000;
/** The demo model is no AI: its answer would replace the summary by a stock phrase. So it counts as no model. */
const DEMO = "demo";

/** Resolves when the kernel has stored it. Does nothing if the conversation is empty. */
export async function checkpoint(state: State, reason: Checkpoint["reason"]): Promise<void> {
  const conversation = state.conversations.get(DEFAULT_CONVERSATION);
  if (conversation === undefined || conversation.messageCount === 0) return;
  const { first, next } = state.history.bounds(DEFAULT_CONVERSATION);
  const of = { conversationId: DEFAULT_CONVERSATION, generation: conversation.generation };
  const text = formatTranscript(state.history.range(DEFAULT_CONVERSATION, first, next), of, TRANSCRIPT_CHARS);
  await state.ports.kernel.checkpoint({ reason, chat: encodeChat(state), transcript: text });
}

function encodeChat({ history }: State): Uint8Array {
  const encoder = new TextEncoder();
  const lines: Uint8Array[] = [];
  let bytes = 0;
  for (const message of history.readBackwards(DEFAULT_CONVERSATION)) {
    const line = encoder.encode(`${toChatLine(message)}\n`);
    bytes += line.length;
    if (bytes > CHAT_BYTES_MAX) break;
    lines.push(line);
  }
  return concat(lines.toReversed());
}

export type SummaryMaterial = { summary: string; transcript: string };

/**
 * The workspace's summary, rewritten by the model. Null means that the old one stays: there is no model, it fails or times out,
 * or a budget is used up, because nobody can be asked for more here. Nothing of this is stored, so a restart keeps the old
 * summary too.
 */
export async function renewSummary(state: State, material: SummaryMaterial, closing: AbortSignal): Promise<string | null> {
  const signal = AbortSignal.any([closing, AbortSignal.timeout(RENEWAL_MS)]);
  try {
    return await rejectOnAbort(rewriteSummary(state, material, signal), signal);
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}

async function rewriteSummary(state: State, material: SummaryMaterial, signal: AbortSignal): Promise<string | null> {
  const { kernel } = state.ports;
  const preparation = await kernel.prepare(DEFAULT_CONVERSATION);
  const { choice, fallback, budget } = preparation;
  if (choice.provider === DEMO) return null;
  const run = { total: NOTHING_SPENT, since: NOTHING_SPENT };
  const process = { total: state.usage.ofProcess(), since: state.usage.usedAtExtension("process") };
  if (findOverspent(budget, run, process, await kernel.readOwnerAccount()).length > 0) return null;
  const withoutDemo = { ...preparation, fallback: fallback?.provider === DEMO ? null : fallback };
  const { text, generated } = await summarizeWorkspace(state.ports, state.pid, withoutDemo, material, signal);
  const { usage, by } = generated;
  if (usage !== null && !state.isClosed) {
    state.change((tell) => {
      state.usage.addModelCall(usage);
      tell(PROC_CHANGED, { changes: ["usage"], ...by, usage });
    });
  }
  return text;
}
