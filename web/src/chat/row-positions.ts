// The positions of the rows of a long list, from measured or estimated heights.

/** The top of each row, then the total height. */
export function computeTops<R extends { key: string }>(
  rows: readonly R[],
  heights: ReadonlyMap<string, number>,
  heightOf: (row: R) => number,
): Float64Array {
  const tops = new Float64Array(rows.length + 1);
  for (const [at, row] of rows.entries()) tops[at + 1] = tops[at]! + (heights.get(row.key) ?? heightOf(row));
  return tops;
}

/** The rows between two positions, at least one unless the list is empty. */
export function findRowRange(tops: Float64Array, from: number, to: number): { start: number; end: number } {
  const count = tops.length - 1;
  const start = Math.min(Math.max(0, count - 1), findRowAt(tops, from));
  let end = start;
  while (end < count && tops[end]! < to) end += 1;
  return { start, end: Math.min(count, Math.max(end, start + 1)) };
}

/** The row at a position, by binary search. */
function findRowAt(tops: Float64Array, height: number): number {
  let [low, high] = [0, tops.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tops[middle + 1] !== undefined && tops[middle + 1]! <= height) low = middle + 1;
    else high = middle;
  }
  return low;
}
