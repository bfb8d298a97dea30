// The part of pako 1.0.11 that zlib.ts uses. pako's public API hides where a stream ended, which a pack reader must know, and
// allocates a compressor of a quarter megabyte for every object.

declare module "pako/lib/zlib/zstream.js" {
  export default class ZStream {
    input: Uint8Array | null;
    next_in: number;
    avail_in: number;
    output: Uint8Array | null;
    next_out: number;
    avail_out: number;
    total_out: number;
    msg: string;
  }
}

declare module "pako/lib/zlib/inflate.js" {
  import type ZStream from "pako/lib/zlib/zstream.js";
  export function inflateInit2(stream: ZStream, windowBits: number): number;
  export function inflate(stream: ZStream, flush: number): number;
}

declare module "pako/lib/zlib/deflate.js" {
  import type ZStream from "pako/lib/zlib/zstream.js";
  export function deflateInit2(
    stream: ZStream,
    level: number,
    method: number,
    windowBits: number,
    memLevel: number,
    strategy: number,
  ): number;
  export function deflateReset(stream: ZStream): number;
  export function deflate(stream: ZStream, flush: number): number;
}
