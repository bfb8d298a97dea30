// Reads a pack as it arrives: entry by entry, each inflated to exactly the size it declares. The checksum is verified at the
// end, so the caller must not publish any entry before the generator has finished.

import { fail } from "../lib/sys-error.ts";
import type { ByteReader } from "./byte-reader.ts";
import type { Limits } from "./limits.ts";
import { kindOfNumber } from "./objects.ts";
import { type ObjectKind, readOid } from "./oid.ts";
import { concat } from "../lib/bytes.ts";
import { Inflater } from "./zlib.ts";

export type PackEntry = {
  offset: number;
  /** What `bytes` holds: an object, or a delta against a base. */
  content: { kind: ObjectKind } | { baseOffset: number } | { baseOid: string };
  bytes: Uint8Array;
  /** `bytes` as they were compressed in the pack. */
  deflated: Uint8Array;
};

const SIGNATURE = 0x5041434b;
const OFS_DELTA = 6;
const REF_DELTA = 7;

export async function* readPack(reader: ByteReader, limits: Limits): AsyncGenerator<PackEntry> {
  const start = reader.position;
  reader.limit(limits.packBytes, `Pack too large: more than ${limits.packBytes} bytes`);
  reader.startHash();
  const header = new DataView((await reader.take(12)).buffer);
  if (header.getUint32(0) !== SIGNATURE) failMalformed("its header is wrong");
  const version = header.getUint32(4);
  if (version !== 2 && version !== 3) failMalformed(`version ${version}`);
  const count = header.getUint32(8);
  if (count > limits.packObjects) fail(413, `Pack too large: ${count} objects (at most ${limits.packObjects})`);

  let inflated = 0;
  for (let i = 0; i < count; i++) {
    const offset = reader.position - start;
    const { number, size } = await readEntryHeader(reader);
    if (size > limits.objectBytes) fail(413, `Object too large: ${size} bytes (at most ${limits.objectBytes})`);
    inflated += size;
    if (inflated > limits.inflatedBytes) fail(413, `Pack too large: it unpacks to more than ${limits.inflatedBytes} bytes`);
    const content = await readContent(reader, number, offset);
    yield { offset, content, ...(await inflateEntry(reader, size)) };
  }

  const digest = readOid(reader.digest(), 0);
  if (readOid(await reader.take(20), 0) !== digest) failMalformed("its checksum is wrong");
  if (!(await reader.isAtEnd())) failMalformed("there is data after its end");
}

async function readEntryHeader(reader: ByteReader): Promise<{ number: number; size: number }> {
  let byte = await reader.readByte();
  const number = (byte >> 4) & 7;
  let size = byte & 15;
  for (let shift = 4; byte >= 0x80; shift += 7) {
    if (shift > 46) failMalformed("a size that is too large");
    byte = await reader.readByte();
    size += (byte & 0x7f) * 2 ** shift;
  }
  return { number, size };
}

async function readContent(reader: ByteReader, number: number, offset: number): Promise<PackEntry["content"]> {
  if (number === REF_DELTA) return { baseOid: readOid(await reader.take(20), 0) };
  if (number === OFS_DELTA) {
    let byte = await reader.readByte();
    let distance = byte & 0x7f;
    while (byte >= 0x80) {
      byte = await reader.readByte();
      distance = (distance + 1) * 128 + (byte & 0x7f);
      if (distance > offset) break;
    }
    if (distance <= 0 || distance > offset) failMalformed("a delta whose base is not before it");
    return { baseOffset: offset - distance };
  }
  return { kind: kindOfNumber(number) ?? failMalformed(`an entry of type ${number}`) };
}

async function inflateEntry(reader: ByteReader, size: number): Promise<{ bytes: Uint8Array; deflated: Uint8Array }> {
  const inflater = new Inflater(size);
  const parts: Uint8Array[] = [];
  for (;;) {
    const piece = await reader.peek();
    if (piece.length === 0) failMalformed("it is cut short");
    const { used, done } = inflater.push(piece);
    // Copied, because the piece belongs to the stream.
    parts.push(piece.slice(0, used));
    reader.skip(used);
    if (done) return { bytes: inflater.bytes, deflated: concat(parts) };
    if (used === 0) failMalformed("its compressed data is damaged");
  }
}

function failMalformed(why: string): never {
  fail(400, `Bad pack: ${why}`);
}
