// Models behind one interface, whichever provider they are of. A stream never throws: how it failed is its last event,
// with as much of the message as had come by then.

import type { AnswerBlock, Usage } from "../protocol/proc-records.ts";

export interface Models {
  /** The last event is `done` or `error`. When the signal says stop, the call ends at once, as an error of kind `aborted`. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

export type ModelRequest = {
  choice: ModelChoice;
  system: string;
  messages: readonly ModelMessage[];
  tools: readonly ModelTool[];
  /** Asked where the chosen model cannot answer: too many failures, no room, no way there. */
  fallback?: ModelChoice;
  /** The process that asks: providers that keep caches find theirs by it. */
  affinity: string;
};

/** Which model, and how it is reached. */
export type ModelChoice = {
  provider: string;
  model: string;
  apiKey: string;
  /** Of a server of one's own, or null for the provider's. */
  baseUrl: string | null;
  reasoning: "off" | "minimal" | "low" | "medium" | "high" | "xhigh";
  maxOutputTokens: number;
  /** Why it must not be asked, such as where its key cannot be opened. */
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
  /** A try failed and the next is under way; what came before is void, and indexes begin at 0 again. */
  | { type: "retrying"; attempt: number; waitMs: number; why: string }
  | { type: "done"; content: OutputBlock[]; usage: ModelUsage; stop: "end" | "tools" | "length"; by?: AnsweredBy }
  | { type: "error"; content: OutputBlock[]; usage: ModelUsage | null; error: ModelFailure; by?: AnsweredBy };

/** Given where it was the fallback that answered. */
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
  /** For people: what to do about it. */
  message: string;
};
