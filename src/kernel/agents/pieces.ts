// Pieces of an answer as it comes, on their way to those who follow. While its owner uses much of the kernel, pieces that may be one
// become one: with many followers each of them costs far more to send than to make.

import type { AnswerPiece } from "../../protocol/signals.ts";

/** Adds it to those that wait. */
export function addPiece(waiting: AnswerPiece[], piece: AnswerPiece): void {
  const last = waiting.at(-1);
  const whole = last === undefined ? null : joined(last, piece);
  if (whole === null) waiting.push(piece);
  else waiting[waiting.length - 1] = whole;
}

/** Both as one, with the number of the first and of the last; null where they are not parts of the same text. */
function joined(first: AnswerPiece, second: AnswerPiece): AnswerPiece | null {
  const [one, other] = [first.event, second.event];
  if (first.runId !== second.runId || first.modelCall !== second.modelCall) return null;
  if (!("delta" in one) || !("delta" in other) || one.type !== other.type || one.contentIndex !== other.contentIndex) return null;
  return { ...second, firstSeq: first.firstSeq ?? first.seq, event: { ...other, delta: one.delta + other.delta } };
}
