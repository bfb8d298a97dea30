// A cache of line positions in large files, so that reading a file page by page does not count lines from the start each time. It
// belongs to a target and outlives a call. It holds only numbers; every read checks rights again.

/** The line with this number, from 0, starts at this byte. */
export type LinePosition = { line: number; byte: number };

const FILES_MAX = 64;
const SPACING_BYTES = 128 * 1024;
const START: LinePosition = { line: 0, byte: 0 };

export class LinePositions {
  readonly #files = new Map<string, LinePosition[]>();

  /** The last known position at or before a line of this version of a file. */
  nearestBefore(path: string, version: string, line: number): LinePosition {
    const places = this.#files.get(fileVersionKey(path, version)) ?? [];
    let [low, high] = [0, places.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (places[middle]!.line <= line) low = middle + 1;
      else high = middle;
    }
    return places[low - 1] ?? START;
  }

  /** Kept only if it is far enough after the last one. Without a version nobody could tell which content it belongs to. */
  add(path: string, version: string, place: LinePosition): void {
    if (version === "") return;
    const key = fileVersionKey(path, version);
    const places = this.#files.get(key) ?? [];
    if (place.byte < (places.at(-1)?.byte ?? 0) + SPACING_BYTES) return;
    places.push(place);
    // Most recently used last.
    this.#files.delete(key);
    this.#files.set(key, places);
    const [oldest] = this.#files.keys();
    if (this.#files.size > FILES_MAX && oldest !== undefined) this.#files.delete(oldest);
  }
}

function fileVersionKey(path: string, version: string): string {
  return `${version} ${path}`;
}
