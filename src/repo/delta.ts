// Git's deltas: lists of "copy from the base" and "insert these bytes".

import { fail } from "../lib/sys-error.ts";

/** The size of the object that a delta produces, without applying it. */
export function deltaSize(delta: Uint8Array): number {
  const at = { n: 0 };
  readVarint(delta, at);
  return readVarint(delta, at);
}

export function applyDelta(base: Uint8Array, delta: Uint8Array): Uint8Array {
  const at = { n: 0 };
  if (readVarint(delta, at) !== base.length) failMalformed("it is for another base");
  const result = new Uint8Array(readVarint(delta, at));
  let filled = 0;
  while (at.n < delta.length) {
    const op = delta[at.n++]!;
    if (op === 0) failMalformed("an unknown instruction");
    let from = 0;
    let count = op;
    if (op & 0x80) {
      for (let i = 0; i < 4; i++) if (op & (1 << i)) from += readByte(delta, at) * 2 ** (8 * i);
      count = 0;
      for (let i = 0; i < 3; i++) if (op & (0x10 << i)) count += readByte(delta, at) * 2 ** (8 * i);
      if (count === 0) count = 0x10000;
      if (from + count > base.length) failMalformed("it copies past the end of its base");
    } else if (at.n + count > delta.length) {
      failMalformed("it is cut short");
    }
    if (filled + count > result.length) failMalformed("it produces more than its stated size");
    if (op & 0x80) {
      result.set(base.subarray(from, from + count), filled);
    } else {
      result.set(delta.subarray(at.n, at.n + count), filled);
      at.n += count;
    }
    filled += count;
  }
  if (filled !== result.length) failMalformed("it produces less than its stated size");
  return result;
}

function readVarint(bytes: Uint8Array, at: { n: number }): number {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = readByte(bytes, at);
    value += (byte & 0x7f) * 2 ** shift;
    if (shift > 42) failMalformed("a number that is too large");
    if (byte < 0x80) return value;
  }
}

function readByte(bytes: Uint8Array, at: { n: number }): number {
  if (at.n >= bytes.length) failMalformed("it is cut short");
  return bytes[at.n++]!;
}

function failMalformed(why: string): never {
  fail(400, `Bad delta: ${why}`);
}
