// The answer that is just coming, put together from its pieces. Pure: an answer is a value that nobody changes, and each piece
// makes another that shares with it whatever the piece left alone. So whoever shows one sees that it grew, and adding a piece
// costs the same however long the answer is (a browser joins two strings without copying them).

import type { LiveAnswer, StreamPiece } from "../../../src/client/client.ts";

export type LiveBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly thinking: string }
  | {
      readonly type: "toolCall";
      readonly id: string;
      readonly name: string;
      readonly arguments: Record<string, unknown> | null;
      readonly raw?: string;
    };

export type Coming = {
  readonly runId: string;
  readonly conversationId: string;
  readonly modelCall: number;
  readonly seq: number;
  /** By the model's numbers, of which some may be missing. */
  readonly blocks: readonly (LiveBlock | undefined)[];
  readonly isRetrying: boolean;
};

export function begun(live: LiveAnswer): Coming {
  const { runId, conversationId, modelCall, seq } = live;
  return { runId, conversationId, modelCall, seq, blocks: live.blocks as LiveBlock[], isRetrying: false };
}

/** The answer with one more piece. The end of one whose beginning nobody heard is no answer. */
export function heard(coming: Coming | null, { runId, conversationId, modelCall, seq, event }: StreamPiece): Coming | null {
  const goesOn = coming !== null && coming.runId === runId && coming.modelCall === modelCall && seq > coming.seq;
  if (!goesOn && !/_start$|^retrying$/.test(event.type)) return coming;
  const before = goesOn ? coming.blocks : [];
  const isRetrying = event.type === "retrying";
  return { runId, conversationId, modelCall, seq, blocks: isRetrying ? [] : withPiece(before, event), isRetrying };
}

function withPiece(blocks: Coming["blocks"], event: StreamPiece["event"]): Coming["blocks"] {
  const at = Number(event.contentIndex ?? 0);
  const block = blockAfter(blocks[at], event);
  if (block === blocks[at]) return blocks;
  const next = blocks.slice();
  next[at] = block;
  return next;
}

function blockAfter(block: LiveBlock | undefined, event: StreamPiece["event"]): LiveBlock | undefined {
  const delta = typeof event.delta === "string" ? event.delta : "";
  switch (event.type) {
    case "text_start":
      return { type: "text", text: "" };
    case "thinking_start":
      return { type: "thinking", thinking: "" };
    case "toolcall_start":
      return { type: "toolCall", id: String(event.id), name: String(event.name), arguments: null, raw: "" };
    case "text_delta":
      if (block === undefined) return { type: "text", text: delta };
      return block.type === "text" ? { type: "text", text: block.text + delta } : block;
    case "thinking_delta":
      if (block === undefined) return { type: "thinking", thinking: delta };
      return block.type === "thinking" ? { type: "thinking", thinking: block.thinking + delta } : block;
    case "toolcall_delta":
      return block?.type === "toolCall" ? { ...block, raw: (block.raw ?? "") + delta } : block;
    case "toolcall_end":
      return { ...(event.call as Extract<LiveBlock, { type: "toolCall" }>), type: "toolCall" };
    default:
      return block;
  }
}
