// How full a conversation's context is, and what its policy says to do about that. Pure: a request is estimated by its length
// until the provider reports a count.

import type { ModelUsage } from "../ports/models.ts";
import type { ContextPolicy, ContextState } from "../protocol/proc-records.ts";

const CHARS_PER_TOKEN = 4;
/** Estimates err on the high side: a run that stops early is easier to fix than one that a provider refuses. */
const MARGIN = 1.15;
/** What a large picture costs with most providers, whatever its size in bytes. */
const IMAGE_TOKENS = 1_600;
const LEVELS = [
  ["full", 1],
  ["critical", 0.9],
  ["warn", 0.75],
] as const;
/** A run that is still too large after this many would only summarize summaries. */
const COMPACTIONS_PER_RUN = 3;

/** Text by its length, anything else by the length of its JSON, with pictures at a flat rate. */
export function estimateTokens(value: unknown): number {
  if (typeof value === "string") return charsToTokens(value.length);
  const size = { chars: 0, images: 0 };
  addJsonSize(value, size);
  return charsToTokens(size.chars) + size.images * IMAGE_TOKENS;
}

type KnownContext = Pick<
  ContextState,
  "conversationId" | "provider" | "model" | "contextWindowTokens" | "maxOutputTokens" | "estimatedInputTokens" | "updatedAt"
> &
  Partial<Pick<ContextState, "runId" | "messageCount" | "lastMessageId">>;

/** `usage` is that of the last model call, or null if none was reported since the history changed. */
export function computeContextState(known: KnownContext, usage: Pick<ModelUsage, "input" | "output" | "totalTokens"> | null): ContextState {
  const { contextWindowTokens, maxOutputTokens, estimatedInputTokens } = known;
  const reported = usage === null ? 0 : usage.totalTokens || usage.input + usage.output;
  const inputTokens = reported || estimatedInputTokens;
  const availableInputTokens = contextWindowTokens === null ? null : Math.max(1, contextWindowTokens - maxOutputTokens);
  const pressure = availableInputTokens === null ? null : inputTokens / availableInputTokens;
  return {
    ...known,
    inputTokens,
    ...(usage === null || reported === 0 ? {} : { outputTokens: usage.output, totalTokens: reported }),
    availableInputTokens,
    pressure,
    level: levelOf(pressure),
    source: reported === 0 ? "estimate" : "provider",
  };
}

/** The state after messages were added or removed, before a provider has counted again. */
export function estimateContextAfterChange(
  state: ContextState,
  tokens: number,
  now: Required<Pick<ContextState, "messageCount" | "lastMessageId" | "updatedAt">>,
): ContextState {
  const { outputTokens: _, totalTokens: __, ...known } = state;
  return computeContextState({ ...known, ...now, estimatedInputTokens: Math.max(0, state.inputTokens + tokens) }, null);
}

export type Preflight = { do: "go" } | { do: "compact"; keepLast: number } | { do: "stop"; reason: string; why: string };

const GO: Preflight = { do: "go" };

/** What to do before a model call. `compactions` counts those of this run so far. */
export function preflight(policy: ContextPolicy, state: ContextState, compactions = 0): Preflight {
  if (state.pressure === null || state.pressure < policy.compactAtPressure || policy.overflow === "manual") return GO;
  if (policy.overflow === "fail")
    return {
      do: "stop",
      reason: "context.policy.fail",
      why: `The context is ${formatPressure(state)} full (about ${state.inputTokens} tokens) and this conversation's policy is fail. ${NEXT}`,
    };
  if (compactions >= COMPACTIONS_PER_RUN)
    return {
      do: "stop",
      reason: "context.auto_compact.failed",
      why: `The context is ${formatPressure(state)} full after ${compactions} compactions in this run. ${NEXT}`,
    };
  return { do: "compact", keepLast: policy.keepLast };
}

/** What to do if nothing could be compacted: the call may still fit. */
export function preflightWithoutCompaction(state: ContextState): Preflight {
  if (state.pressure === null || state.pressure < 1) return GO;
  return {
    do: "stop",
    reason: "context.auto_compact.empty",
    why: `The context is full (about ${state.inputTokens} tokens) and there is nothing left to compact. ${NEXT}`,
  };
}

/** A compaction that did not make the context smaller is not repeated. */
export function preflightAfterCompaction(before: ContextState, after: ContextState): Preflight {
  if (after.estimatedInputTokens < before.estimatedInputTokens) return GO;
  return {
    do: "stop",
    reason: "context.auto_compact.failed",
    why: `Compaction did not make the context smaller (about ${after.estimatedInputTokens} tokens). ${NEXT}`,
  };
}

const NEXT =
  "Compact it manually with a smaller keepLast, fork it at an earlier message, start another conversation, or choose a model with a larger context window.";

/** The length of the JSON, without building it: a history is measured before every model call. */
function addJsonSize(value: unknown, size: { chars: number; images: number }): void {
  if (value instanceof Uint8Array) {
    size.images++;
  } else if (Array.isArray(value)) {
    size.chars += 2 + Math.max(0, value.length - 1);
    for (const item of value) addJsonSize(item, size);
  } else if (typeof value === "object" && value !== null) {
    size.chars += 2;
    let fields = 0;
    for (const name of Object.keys(value)) {
      const field = (value as Record<string, unknown>)[name];
      if (field === undefined) continue;
      size.chars += name.length + (fields++ === 0 ? 3 : 4);
      addJsonSize(field, size);
    }
  } else {
    size.chars += JSON.stringify(value)?.length ?? 0;
  }
}

function charsToTokens(chars: number): number {
  return Math.ceil((chars / CHARS_PER_TOKEN) * MARGIN);
}

function levelOf(pressure: number | null): ContextState["level"] {
  if (pressure === null) return "unknown";
  return LEVELS.find(([, from]) => pressure >= from)?.[0] ?? "ok";
}

function formatPressure({ pressure }: ContextState): string {
  return `${Math.round((pressure ?? 0) * 100)} %`;
}
