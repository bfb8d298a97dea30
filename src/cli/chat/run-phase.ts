// What the run of a conversation is doing now, and for how long: "waiting for qwen3, 6 s", "running `npm test` on laptop, 3 s". The
// caller redraws it every second.

import type { Activity } from "../../client/activity.ts";
import type { Client } from "../../client/client.ts";
import type { ConversationRef } from "./processes.ts";
import { describeRunningCall } from "./tool-call.ts";

const BLOCK_WORDS = { thinking: "thinking", text: "answering", toolCall: "preparing a tool" } as const;

/** Shorter phases would only flicker. */
const SILENT_MS = 1_000;

export class RunPhase {
  #words = "";
  #since = 0;
  /** Empty until it is known. */
  model = "";

  /** Whether it lasts, and nothing of it is seen to arrive. */
  isSilent(now = Date.now()): boolean {
    return this.#words !== "" && this.#words !== BLOCK_WORDS.text && now - this.#since >= SILENT_MS;
  }

  /** Empty while no run of the conversation is active. */
  describe(activity: Activity, conversationId: string, now = Date.now()): string {
    const words = phaseWords(activity, conversationId, this.model);
    if (words !== this.#words) this.#since = now;
    this.#words = words;
    return words === "" ? "" : `${words}, ${formatSeconds(now - this.#since)}`;
  }
}

/** The model that answers in a conversation; empty if the gateway does not say. */
export async function fetchModel(client: Client, { pid, conversationId }: ConversationRef): Promise<string> {
  try {
    return (await client.call("proc.settings.get", { pid, conversationId })).effective.model;
  } catch {
    return "";
  }
}

function phaseWords({ runs, answer, calls, retrying }: Activity, conversationId: string, model: string): string {
  const runId = [...runs].find(([, id]) => id === conversationId)?.[0];
  if (runId === undefined) return "";
  if (retrying?.conversationId === conversationId) return "trying again";
  const block = answer?.runId === runId ? answer.blocks.findLast((one) => one !== undefined) : undefined;
  if (block !== undefined) return BLOCK_WORDS[block.type];
  const call = [...calls.values()].findLast((one) => one.runId === runId && one.end === null);
  return call === undefined ? `waiting for ${model === "" ? "the model" : model}` : describeRunningCall(call);
}

function formatSeconds(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
