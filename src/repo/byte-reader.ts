// A stream of bytes read piece by piece: bounded, and hashed on the way where asked for.

import { fail } from "../lib/sys-error.ts";
import { Sha1 } from "./sha1.ts";

export type ByteStream = ReadableStream<Uint8Array>;

export class ByteReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #piece: Uint8Array = new Uint8Array(0);
  #at = 0;
  /** Bytes of earlier pieces. */
  #before = 0;
  #bytesMax = Number.POSITIVE_INFINITY;
  #tooLarge = "";
  #hash: Sha1 | undefined;
  #hashedTo = 0;

  constructor(stream: ByteStream) {
    this.#reader = stream.getReader();
  }

  /** How many bytes were taken so far. */
  get position(): number {
    return this.#before + this.#at;
  }

  /** From here on at most so many; `message` is said when there are more. */
  limit(bytesMax: number, message: string): void {
    this.#bytesMax = this.position + bytesMax;
    this.#tooLarge = message;
  }

  /** What is at hand; empty at the end of the stream. `skip` says how much of it was used. */
  async peek(): Promise<Uint8Array> {
    while (this.#at === this.#piece.length) {
      const { done, value } = await this.#reader.read();
      if (done) return new Uint8Array(0);
      this.#feedHash();
      this.#before += this.#piece.length;
      this.#piece = value;
      this.#at = 0;
      this.#hashedTo = 0;
    }
    return this.#at === 0 ? this.#piece : this.#piece.subarray(this.#at);
  }

  skip(count: number): void {
    this.#at += count;
    if (this.position > this.#bytesMax) fail(413, this.#tooLarge);
  }

  async byte(): Promise<number> {
    if (this.#at === this.#piece.length && (await this.peek()).length === 0) fail(400, "The data ends too early");
    const byte = this.#piece[this.#at]!;
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

  /** Everything taken from here until `digest` is hashed. */
  startHash(): void {
    this.#hash = new Sha1();
    this.#hashedTo = this.#at;
  }

  digest(): Uint8Array {
    this.#feedHash();
    const digest = this.#hash!.digest();
    this.#hash = undefined;
    return digest;
  }

  /**
   * Throws the rest away. A client that is still sending does not listen, so it is heard out up to `bytesMax`; then it
   * is told that no more is wanted.
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
      // It has gone away by itself.
    }
  }

  #feedHash(): void {
    if (this.#hash === undefined) return;
    this.#hash.update(this.#piece.subarray(this.#hashedTo, this.#at));
    this.#hashedTo = this.#at;
  }
}

/** A stream that asks for the next piece only when there is room for it. */
export function streamOf(pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): ByteStream {
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
