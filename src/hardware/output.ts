// One stream's text since the last poll. If there is too much, the start and the end are kept, with a line between them that says
// how much is missing: a failure shows at the end, and its cause at the start. Memory use is bounded.

const HEAD_BYTES_MAX = 64 * 1024;
const FIRST_BYTES = 4 * 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

export type OutputPart = { text: string; isCut: boolean };

export class Output {
  readonly #bytesMax: number;
  readonly #headMax: number;
  /** The head, and after it a ring buffer with the end of the rest. */
  #buffer = new Uint8Array(0);
  #total = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#headMax = Math.min(HEAD_BYTES_MAX, Math.floor(bytesMax / 2));
  }

  /** Bytes received, stored or not. */
  get bytes(): number {
    return this.#total;
  }

  add(text: string): void {
    const bytes = encoder.encode(text);
    this.#grow(Math.min(this.#total + bytes.length, this.#bytesMax));
    for (let from = 0; from < bytes.length;) {
      const at = this.#writeOffset();
      const piece = bytes.subarray(from, from + this.#bytesMax - at);
      this.#buffer.set(piece, at);
      this.#total += piece.length;
      from += piece.length;
    }
  }

  /** Returns the output and clears it. `before` is a lost answer, which is sent again in front of it. */
  take(before: OutputPart = NOTHING): OutputPart {
    const fresh = this.#drainBuffer();
    if (before.text === "") return { ...fresh, isCut: fresh.isCut || before.isCut };
    this.add(before.text);
    this.add(fresh.text);
    const both = this.#drainBuffer();
    return { text: both.text, isCut: both.isCut || fresh.isCut || before.isCut };
  }

  #drainBuffer(): OutputPart {
    const [buffer, total, at] = [this.#buffer, this.#total, this.#writeOffset()];
    this.#buffer = new Uint8Array(0);
    this.#total = 0;
    if (total <= this.#bytesMax) return { text: decoder.decode(buffer.subarray(0, total)), isCut: false };
    const head = buffer.subarray(0, endOfWholeCharacters(buffer, this.#headMax));
    const rest = new Uint8Array(this.#bytesMax - this.#headMax);
    rest.set(buffer.subarray(at, this.#bytesMax));
    rest.set(buffer.subarray(this.#headMax, at), this.#bytesMax - at);
    const tail = rest.subarray(startOfWholeCharacters(rest));
    const missing = total - head.length - tail.length;
    return { text: `${decoder.decode(head)}\n...[truncated: ${missing} bytes left out]...\n${decoder.decode(tail)}`, isCut: true };
  }

  #writeOffset(): number {
    if (this.#total < this.#bytesMax) return this.#total;
    return this.#headMax + ((this.#total - this.#headMax) % (this.#bytesMax - this.#headMax));
  }

  #grow(bytes: number): void {
    if (bytes <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.min(Math.max(bytes, this.#buffer.length * 2, FIRST_BYTES), this.#bytesMax));
    larger.set(this.#buffer);
    this.#buffer = larger;
  }
}

const NOTHING: OutputPart = { text: "", isCut: false };

/** Whether this is a UTF-8 continuation byte. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000;
}

/** Leaves out a character that would continue beyond the end. */
function endOfWholeCharacters(bytes: Uint8Array, end: number): number {
  let first = end - 1;
  while (first > 0 && isContinuation(bytes[first])) first--;
  const lead = bytes[first] ?? 0;
  const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  return first + length <= end ? end : Math.max(first, 0);
}

function startOfWholeCharacters(bytes: Uint8Array): number {
  let at = 0;
  while (isContinuation(bytes[at])) at++;
  return at;
}
