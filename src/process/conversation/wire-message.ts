// A message as clients see it. Thoughts and calls use the field names of the wire.

import type { OutputBlock } from "../../ports/models.ts";
import type { HistoryMessage } from "../../protocol/proc-records.ts";
import type { Message } from "../rows/history.ts";

export type WireThinking = { type: "thinking"; thinking: string; thinkingSignature?: string; redacted?: true };
export type WireToolCall = {
  type: "toolCall";
  id: string;
  name: string;
  /** Null if they could not be parsed; `raw` is the original text. */
  arguments: Record<string, unknown> | null;
  raw?: string;
  thoughtSignature?: string;
};

export function toWireMessage(message: Message): HistoryMessage {
  const { id, role, createdAt, runId } = message;
  return { id, role, content: toWireContent(message), timestamp: createdAt, ...(runId === null ? {} : { runId }) };
}

function toWireContent(message: Message): unknown {
  switch (message.role) {
    case "user":
      return message.media === undefined || message.media.length === 0 ? message.text : { text: message.text, media: message.media };
    case "assistant": {
      const { text, thinking, toolCalls } = toWireParts(message.blocks);
      if (message.stopped === true) return { text, thinking, toolCalls, stopped: true };
      return thinking.length === 0 && toolCalls.length === 0 ? text : { text, thinking, toolCalls };
    }
    case "system":
      return message.text;
    case "toolResult": {
      const { tool, isError, callId, output, images, outcome, durationMs, scriptCalls } = message;
      return {
        toolName: tool,
        isError,
        toolCallId: callId,
        output,
        ...(outcome === undefined ? {} : { outcome }),
        ...(durationMs === undefined ? {} : { durationMs }),
        ...(images === undefined ? {} : { media: images }),
        ...(scriptCalls === undefined ? {} : { scriptCalls }),
      };
    }
  }
}

export type WireParts = { text: string; thinking: WireThinking[]; toolCalls: WireToolCall[] };

export function toWireParts(blocks: readonly OutputBlock[]): WireParts {
  const parts: WireParts = { text: "", thinking: [], toolCalls: [] };
  for (const block of blocks) {
    if (block.type === "text") parts.text += block.text;
    else if (block.type === "thinking") {
      const { signature, ...rest } = block;
      parts.thinking.push({ ...rest, ...(signature === undefined ? {} : { thinkingSignature: signature }) });
    } else {
      const { signature, ...rest } = block;
      parts.toolCalls.push({ ...rest, ...(signature === undefined ? {} : { thoughtSignature: signature }) });
    }
  }
  return parts;
}

/** In the usual order of models: thoughts, text, calls. */
export function fromWireParts({ text, thinking, toolCalls }: WireParts): OutputBlock[] {
  return [
    ...thinking.map(({ thinkingSignature: signature, ...rest }) => ({ ...rest, ...(signature === undefined ? {} : { signature }) })),
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
    ...toolCalls.map(({ thoughtSignature: signature, ...rest }) => ({ ...rest, ...(signature === undefined ? {} : { signature }) })),
  ];
}
