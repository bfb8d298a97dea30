// One interface for the models of every provider. A stream never throws: its last event reports the failure, with the part of the
// message that had arrived.

import type { AnswerBlock, Usage } from "../protocol/proc-records.ts";

export interface Models {
  /** The last event is `done` or `error`. When the signal aborts, the stream ends at once with an error of kind `aborted`. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

export type ModelRequest = {
  choice: ModelChoice;
  system: string;
  messages: readonly ModelMessage[];
  tools: readonly ModelTool[];
  /** Called if the chosen model fails, unless the request was aborted or is too long. */
  fallback?: ModelChoice;
  /** Id of the process that asks; providers use it as the key of their prompt caches. */
  affinity: string;
};

/** A model and how to reach it. */
export type ModelChoice = {
  provider: string;
  model: string;
  apiKey: string;
  /** URL of a server of the user's own, or null for the provider's. */
  baseUrl: string | null;
  reasoning: "off" | "minimal" | "low" | "medium" | "high" | "xhigh";
  maxOutputTokens: number;
  /** Why it must not be called, for example because its key cannot be unsealed. */
  unusable?: string;
};

export type ModelTool = { name: string; description: string; parameters: Record<string, unknown> };

export type ModelMessage =
  | { role: "user"; content: readonly InputBlock[] }
  | { role: "assistant"; content: readonly OutputBlock[] }
  | { role: "tool"; callId: string; toolName: string; isError: boolean; content: readonly InputBlock[] };

export type InputBlock = { type: "text"; text: string } | { type: "image"; mimeType: string; data: Uint8Array };

export type OutputBlock = AnswerBlock;

export type ModelEvent =
  | { type: "text_start" | "thinking_start"; index: number }
  | { type: "text_delta" | "thinking_delta"; index: number; delta: string }
  | { type: "text_end" | "thinking_end"; index: number }
  | { type: "toolcall_start"; index: number; id: string; name: string }
  | { type: "toolcall_delta"; index: number; delta: string }
  | { type: "toolcall_end"; index: number; call: Extract<OutputBlock, { type: "toolCall" }> }
  /** An attempt failed and the next has started; everything before it is void, and indexes start at 0 again. */
  | { type: "retrying"; attempt: number; waitMs: number; why: string }
  | { type: "done"; content: OutputBlock[]; usage: ModelUsage; stop: "end" | "tools" | "length"; by?: AnsweredBy }
  | { type: "error"; content: OutputBlock[]; usage: ModelUsage | null; error: ModelFailure; by?: AnsweredBy };

/** Set if the fallback answered. */
export type AnsweredBy = { provider: string; model: string };

export type ModelUsage = Usage;

export type ModelFailure = {
  kind:
    | "aborted"
    | "refused-key"
    | "unknown-model"
    | "too-long"
    | "rate-limited"
    | "overloaded"
    | "silent"
    | "unreachable"
    | "malformed"
    | "other";
  /** Tells the user what to do about it. */
  message: string;
};
