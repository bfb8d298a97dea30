// zlib as git uses it: synchronous and portable. `Inflater` takes its input in pieces, reports where the stream ended, and
// never produces more than the given size.

// oxlint-disable-next-line typescript/triple-slash-reference -- other projects see this file without its folder
/// <reference path="./pako.d.ts" />
import { deflate as deflateStep, deflateInit2, deflateReset } from "pako/lib/zlib/deflate.js";
import { inflate as inflateStep, inflateInit2 } from "pako/lib/zlib/inflate.js";
import ZStream from "pako/lib/zlib/zstream.js";
import { fail } from "../lib/sys-error.ts";

const FINISH = 4;
const OK = 0;
const STREAM_END = 1;
const BUFFER_ERROR = -5;
const WINDOW_BITS = 15;
/** For source text, the default of 6 takes twice the time and saves one percent of the size. */
const LEVEL = 4;
const DEFLATED = 8;

export class Inflater {
  readonly #stream = new ZStream();
  readonly #output: Uint8Array;
  readonly #size: number;

  constructor(size: number) {
    this.#size = size;
    // One byte more than declared, to detect a stream that holds more.
    this.#output = new Uint8Array(size + 1);
    this.#stream.output = this.#output;
    this.#stream.avail_out = size + 1;
    inflateInit2(this.#stream, WINDOW_BITS);
  }

  /** Returns how many bytes of the input were used, and whether the stream is complete. */
  push(input: Uint8Array): { used: number; done: boolean } {
    const stream = this.#stream;
    stream.input = input;
    stream.next_in = 0;
    stream.avail_in = input.length;
    const status = inflateStep(stream, FINISH);
    if (stream.total_out > this.#size) fail(400, "Bad object: it unpacks to more than its stated size");
    if (status === STREAM_END) {
      if (stream.total_out !== this.#size) fail(400, "Bad object: it unpacks to less than its stated size");
      return { used: stream.next_in, done: true };
    }
    if (status !== OK && status !== BUFFER_ERROR) fail(400, "Bad object: its compressed data is damaged");
    return { used: stream.next_in, done: false };
  }

  /** Valid only after `push` returned `done: true`. */
  get bytes(): Uint8Array {
    return this.#output.subarray(0, this.#size);
  }
}

export function inflate(parts: readonly Uint8Array[], size: number): Uint8Array {
  const inflater = new Inflater(size);
  for (const part of parts) if (inflater.push(part).done) return inflater.bytes;
  fail(500, "A stored object is incomplete");
}

/**
 * Two shared compressors. Creating one takes longer than compressing most objects, and so does clearing the tables of the
 * large one, which small objects do not need.
 */
const SMALL_BYTES_MAX = 16 * 1024;
const small = makeCompressor(5);
const large = makeCompressor(8);

export function deflate(bytes: Uint8Array): Uint8Array {
  const stream = bytes.length > SMALL_BYTES_MAX ? large : small;
  deflateReset(stream);
  const output = new Uint8Array(bytes.length + Math.ceil(bytes.length / 100) + 64);
  stream.input = bytes;
  stream.next_in = 0;
  stream.avail_in = bytes.length;
  stream.output = output;
  stream.next_out = 0;
  stream.avail_out = output.length;
  const status = deflateStep(stream, FINISH);
  if (status !== STREAM_END) throw new Error(`deflate ended with ${status}`);
  stream.input = null;
  stream.output = null;
  return output.slice(0, stream.next_out);
}

function makeCompressor(memoryLevel: number): ZStream {
  const stream = new ZStream();
  deflateInit2(stream, LEVEL, DEFLATED, WINDOW_BITS, memoryLevel, 0);
  return stream;
}
