// Waiting pieces are merged if they are parts of the same text.

import { expect, test } from "vitest";
import type { AnswerPiece } from "../../protocol/signals.ts";
import { addPiece } from "./pieces.ts";

function piece(
  seq: number,
  delta: string,
  more: { type?: "text_delta" | "thinking_delta"; contentIndex?: number; runId?: string } = {},
): AnswerPiece {
  const { type = "text_delta", contentIndex = 0, runId = "r1" } = more;
  return { pid: "p", runId, conversationId: "default", modelCall: 1, seq, event: { type, contentIndex, delta }, timestamp: 0 };
}

test("parts of one text are merged, with the first and the last number, and other pieces are not", () => {
  const waiting = [piece(1, "a")];
  for (const next of [
    piece(2, "b"),
    piece(3, "c", { contentIndex: 1 }),
    piece(4, "d", { contentIndex: 1 }),
    piece(5, "e", { type: "thinking_delta", contentIndex: 1 }),
    piece(6, "f", { runId: "r2" }),
    { ...piece(7, ""), event: { type: "text_end" as const, contentIndex: 0 } },
  ])
    addPiece(waiting, next);
  expect(waiting.map(({ firstSeq, seq, event }) => [firstSeq, seq, (event as { delta?: string }).delta])).toEqual([
    [1, 2, "ab"],
    [3, 4, "cd"],
    [undefined, 5, "e"],
    [undefined, 6, "f"],
    [undefined, 7, undefined],
  ]);
});
