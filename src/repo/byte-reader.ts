// Reads a byte stream piece by piece, with an optional limit and an optional SHA-1 of the bytes read.

import { fail } from "../lib/sys-error.ts";
import { Sha1 } from "./sha1.ts";

export type ByteStream = ReadableStream<Uint8Array>;

export class ByteReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #piece: Uint8Array = new Uint8Array(0);
  #offset = 0;
  /** Bytes in earlier pieces. */
  #bytesBefore = 0;
  #bytesMax = Number.POSITIVE_INFINITY;
  #limitMessage = "";
  #hash: Sha1 | undefined;
  #hashOffset = 0;

  constructor(stream: ByteStream) {
    this.#reader = stream.getReader();
  }

  /** How many bytes were read so far. */
  get position(): number {
    return this.#bytesBefore + this.#offset;
  }

  /** Limits the bytes that may be read from here on; reading more fails with `message`. */
  limit(bytesMax: number, message: string): void {
    this.#bytesMax = this.position + bytesMax;
    this.#limitMessage = message;
  }

  /** The unread bytes of the current piece; empty at the end of the stream. The caller reports with `skip` how many it used. */
  async peek(): Promise<Uint8Array> {
    while (this.#offset === this.#piece.length) {
      const { done, value } = await this.#reader.read();
      if (done) return new Uint8Array(0);
      this.#feedHash();
      this.#bytesBefore += this.#piece.length;
      this.#piece = value;
      this.#offset = 0;
      this.#hashOffset = 0;
    }
    return this.#offset === 0 ? this.#piece : this.#piece.subarray(this.#offset);
  }

  skip(count: number): void {
    this.#offset += count;
    if (this.position > this.#bytesMax) fail(413, this.#limitMessage);
  }

  async readByte(): Promise<number> {
    if (this.#offset === this.#piece.length && (await this.peek()).length === 0) fail(400, "The data ends too early");
    const byte = this.#piece[this.#offset]!;
    this.skip(1);
    return byte;
  }

  async take(count: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(count);
    for (let filled = 0; filled < count;) {
      const piece = await this.peek();
      if (piece.length === 0) fail(400, "The data ends too early");
      const used = piece.subarray(0, count - filled);
      bytes.set(used, filled);
      filled += used.length;
      this.skip(used.length);
    }
    return bytes;
  }

  async isAtEnd(): Promise<boolean> {
    return (await this.peek()).length === 0;
  }

  /** Hashes everything read from here until `digest`. */
  startHash(): void {
    this.#hash = new Sha1();
    this.#hashOffset = this.#offset;
  }

  digest(): Uint8Array {
    this.#feedHash();
    const digest = this.#hash!.digest();
    this.#hash = undefined;
    return digest;
  }

  /**
   * Discards the rest. A client does not read the answer while it is still sending, so up to `bytesMax` are read before the
   * stream is cancelled.
   */
  async drain(bytesMax: number): Promise<void> {
    try {
      for (let left = bytesMax; left > 0;) {
        const { done, value } = await this.#reader.read();
        if (done) return;
        left -= value.length;
      }
      await this.#reader.cancel();
    } catch {
      // The peer has disconnected.
    }
  }

  #feedHash(): void {
    if (this.#hash === undefined) return;
    this.#hash.update(this.#piece.subarray(this.#hashOffset, this.#offset));
    this.#hashOffset = this.#offset;
  }
}

/** A stream with backpressure: it pulls the next piece only when there is room for it. */
export function toByteStream(pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): ByteStream {
  const iterator = Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await iterator.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}
