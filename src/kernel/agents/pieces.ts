// Pieces of a live answer that wait to be sent to followers. While the owner has used up their share, pieces of the same text are merged:
// with many followers, each piece costs far more to send than to make.

import type { AnswerPiece } from "../../protocol/signals.ts";

/** Adds a piece to those that wait, merged with the last one if possible. */
export function addPiece(waiting: AnswerPiece[], piece: AnswerPiece): void {
  const last = waiting.at(-1);
  const merged = last === undefined ? null : merge(last, piece);
  if (merged === null) waiting.push(piece);
  else waiting[waiting.length - 1] = merged;
}

/** Both as one piece, with the first and the last number; null if they are not parts of the same text. */
function merge(first: AnswerPiece, second: AnswerPiece): AnswerPiece | null {
  const [one, other] = [first.event, second.event];
  if (first.runId !== second.runId || first.modelCall !== second.modelCall) return null;
  if (!("delta" in one) || !("delta" in other) || one.type !== other.type || one.contentIndex !== other.contentIndex) return null;
  return { ...second, firstSeq: first.firstSeq ?? first.seq, event: { ...other, delta: one.delta + other.delta } };
}
