// One stream's text since the last look. Of more than it may keep, the beginning and the end are kept, with a line between
// them that says how much is missing: a failure is told at the end, and what led to it at the beginning. It takes the same
// memory however much comes.

const HEAD_BYTES_MAX = 64 * 1024;
const FIRST_BYTES = 4 * 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

export type Taken = { text: string; isCut: boolean };

export class Output {
  readonly #bytesMax: number;
  readonly #headMax: number;
  /** The head, and behind it the latest of the rest, going round. */
  #kept = new Uint8Array(0);
  #seen = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#headMax = Math.min(HEAD_BYTES_MAX, Math.floor(bytesMax / 2));
  }

  /** Bytes that came, kept or not. */
  get bytes(): number {
    return this.#seen;
  }

  add(text: string): void {
    const bytes = encoder.encode(text);
    this.#grow(Math.min(this.#seen + bytes.length, this.#bytesMax));
    for (let from = 0; from < bytes.length;) {
      const at = this.#place();
      const piece = bytes.subarray(from, from + this.#bytesMax - at);
      this.#kept.set(piece, at);
      this.#seen += piece.length;
      from += piece.length;
    }
  }

  /** What stood before it comes first: an answer that got lost is told again. */
  take(before: Taken = NOTHING): Taken {
    const fresh = this.#take();
    if (before.text === "") return { ...fresh, isCut: fresh.isCut || before.isCut };
    this.add(before.text);
    this.add(fresh.text);
    const both = this.#take();
    return { text: both.text, isCut: both.isCut || fresh.isCut || before.isCut };
  }

  #take(): Taken {
    const [kept, seen, at] = [this.#kept, this.#seen, this.#place()];
    this.#kept = new Uint8Array(0);
    this.#seen = 0;
    if (seen <= this.#bytesMax) return { text: decoder.decode(kept.subarray(0, seen)), isCut: false };
    const head = kept.subarray(0, endOfWhole(kept, this.#headMax));
    const rest = new Uint8Array(this.#bytesMax - this.#headMax);
    rest.set(kept.subarray(at, this.#bytesMax));
    rest.set(kept.subarray(this.#headMax, at), this.#bytesMax - at);
    const tail = rest.subarray(startOfWhole(rest));
    const missing = seen - head.length - tail.length;
    return { text: `${decoder.decode(head)}\n...[truncated: ${missing} bytes left out]...\n${decoder.decode(tail)}`, isCut: true };
  }

  #place(): number {
    if (this.#seen < this.#bytesMax) return this.#seen;
    return this.#headMax + ((this.#seen - this.#headMax) % (this.#bytesMax - this.#headMax));
  }

  #grow(bytes: number): void {
    if (bytes <= this.#kept.length) return;
    const larger = new Uint8Array(Math.min(Math.max(bytes, this.#kept.length * 2, FIRST_BYTES), this.#bytesMax));
    larger.set(this.#kept);
    this.#kept = larger;
  }
}

const NOTHING: Taken = { text: "", isCut: false };

/** Within a character, every byte but its first looks like this. */
function isWithin(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000;
}

/** No character is cut in two: one that would go on beyond the end is left out. */
function endOfWhole(bytes: Uint8Array, end: number): number {
  let first = end - 1;
  while (first > 0 && isWithin(bytes[first])) first--;
  const lead = bytes[first] ?? 0;
  const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  return first + length <= end ? end : Math.max(first, 0);
}

function startOfWhole(bytes: Uint8Array): number {
  let at = 0;
  while (isWithin(bytes[at])) at++;
  return at;
}
