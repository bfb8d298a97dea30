// Pieces of an answer as it comes, on their way to those who follow. While its owner uses much of the kernel, pieces that may be one
// become one: with many followers each of them costs far more to send than to make.

export type Piece = Record<string, unknown>;

type Event = { type: string; contentIndex: number; delta: string };

/** Adds it to those that wait. */
export function addPiece(waiting: Piece[], piece: Piece): void {
  const last = waiting.at(-1);
  const whole = last === undefined ? null : joined(last, piece);
  if (whole === null) waiting.push(piece);
  else waiting[waiting.length - 1] = whole;
}

/** Both as one, with the number of the first and of the last; null where they are not parts of the same text. */
function joined(first: Piece, second: Piece): Piece | null {
  const [one, other] = [first.event as Event, second.event as Event];
  const isSame =
    first.runId === second.runId &&
    first.modelCall === second.modelCall &&
    one.type === other.type &&
    one.contentIndex === other.contentIndex &&
    typeof one.delta === "string" &&
    typeof other.delta === "string";
  return isSame ? { ...second, firstSeq: first.firstSeq ?? first.seq, event: { ...other, delta: one.delta + other.delta } } : null;
}
