// Writes a pack object by object. The stored bytes are already in the form that a pack holds.

import { kindNumber, type Objects } from "./objects.ts";
import { Sha1 } from "./sha1.ts";
import { concat } from "../lib/bytes.ts";

const PIECE_BYTES = 64 * 1024;

/** All objects must be stored. Stored objects never change, so even a slow reader gets a consistent pack. */
export function* writePack(objects: Objects, oids: ReadonlySet<string>): Generator<Uint8Array> {
  const hash = new Sha1();
  let parts: Uint8Array[] = [encodePackHeader(oids.size)];
  let pieceBytes = 0;
  for (const oid of oids) {
    const stored = objects.findStored(oid);
    if (stored === undefined) throw new Error(`object ${oid} is missing`);
    parts.push(encodeEntryHeader(kindNumber(stored.kind), stored.size));
    for (const bytes of objects.readDeflated(stored)) {
      parts.push(bytes);
      pieceBytes += bytes.length;
      if (pieceBytes < PIECE_BYTES) continue;
      const piece = concat(parts);
      hash.update(piece);
      yield piece;
      parts = [];
      pieceBytes = 0;
    }
  }
  const rest = concat(parts);
  yield concat([rest, hash.update(rest).digest()]);
}

function encodePackHeader(count: number): Uint8Array {
  const header = new DataView(new ArrayBuffer(12));
  header.setUint32(0, 0x5041434b);
  header.setUint32(4, 2);
  header.setUint32(8, count);
  return new Uint8Array(header.buffer);
}

function encodeEntryHeader(kind: number, size: number): Uint8Array {
  const bytes = [(kind << 4) | (size & 15)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1]! |= 0x80;
    bytes.push(rest & 0x7f);
  }
  return new Uint8Array(bytes);
}
