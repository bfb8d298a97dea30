// The answer that is just coming, put together from its pieces. Pure: whoever shows it decides when.

import type { LiveAnswer, StreamPiece } from "../../../src/client/client.ts";

export type LiveBlock =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string }
  | { type: "toolCall"; id: string; name: string; arguments: Record<string, unknown> | null; raw?: string };

export type Coming = { runId: string; conversationId: string; modelCall: number; seq: number; blocks: LiveBlock[]; isRetrying: boolean };

export function begun(live: LiveAnswer): Coming {
  const { runId, conversationId, modelCall, seq } = live;
  return { runId, conversationId, modelCall, seq, blocks: live.blocks.map((block) => ({ ...block }) as LiveBlock), isRetrying: false };
}

/**
 * The answer with one more piece: the same object where it goes on, another where another begins. The end of one whose
 * beginning nobody heard is no answer.
 */
export function heard(coming: Coming | null, { runId, conversationId, modelCall, seq, event }: StreamPiece): Coming | null {
  const goesOn = coming !== null && coming.runId === runId && coming.modelCall === modelCall && seq > coming.seq;
  if (!goesOn && !/_start$|^retrying$/.test(event.type)) return coming;
  const answer = goesOn ? coming : { runId, conversationId, modelCall, seq, blocks: [], isRetrying: false };
  answer.seq = seq;
  take(answer, event);
  return answer;
}

function take(answer: Coming, event: StreamPiece["event"]): void {
  const at = Number(event.contentIndex ?? 0);
  const delta = typeof event.delta === "string" ? event.delta : "";
  if (event.type !== "retrying") answer.isRetrying = false;
  switch (event.type) {
    case "text_start":
      answer.blocks[at] = { type: "text", text: "" };
      return;
    case "thinking_start":
      answer.blocks[at] = { type: "thinking", thinking: "" };
      return;
    case "toolcall_start":
      answer.blocks[at] = { type: "toolCall", id: String(event.id), name: String(event.name), arguments: null, raw: "" };
      return;
    case "text_delta": {
      const block = (answer.blocks[at] ??= { type: "text", text: "" });
      if (block.type === "text") block.text += delta;
      return;
    }
    case "thinking_delta": {
      const block = (answer.blocks[at] ??= { type: "thinking", thinking: "" });
      if (block.type === "thinking") block.thinking += delta;
      return;
    }
    case "toolcall_delta": {
      const block = answer.blocks[at];
      if (block?.type === "toolCall") block.raw = (block.raw ?? "") + delta;
      return;
    }
    case "toolcall_end":
      answer.blocks[at] = { ...(event.call as Extract<LiveBlock, { type: "toolCall" }>), type: "toolCall" };
      return;
    case "retrying":
      answer.blocks = [];
      answer.isRetrying = true;
  }
}
