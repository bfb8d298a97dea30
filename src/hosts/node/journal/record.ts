// The records of a journal. A record holds what one batch wrote, as the statements that wrote it: for each file the number of its
// new version and, in their order, statements with their bindings. A text of a statement is written once per segment; records name it
// by its place among the texts of the segment.
//
//   segment  = header, record...
//   record   = length of the payload (4 bytes), CRC-32 of the payload (4 bytes), payload
//   payload  = [new texts, [file, version, [[place of the text, ...bindings]...]]...]  in the format of V8's serializer

import { deserialize, serialize } from "node:v8";
import { crc32 } from "node:zlib";
import type { SqlValue } from "../../../ports/sql.ts";

/** A statement and its bindings. */
export type Write = readonly [query: string, bindings: readonly SqlValue[]];

/** What a batch wrote to one file. Versions of a file follow each other without gaps. */
export type Entry = { file: string; version: number; writes: readonly Write[] };

type StoredEntry = [file: string, version: number, writes: [text: number, ...bindings: SqlValue[]][]];
type Payload = [texts: string[], entries: StoredEntry[]];

export const HEADER = Buffer.from("gsv journal 1\n");
const RECORD_HEADER_BYTES = 8;

/** The texts of a segment. Those of a record count only once it was written. */
export class RecordEncoder {
  readonly #places = new Map<string, number>();

  /** `keep` must be called when the record is in the segment. */
  encode(entries: readonly Entry[]): { bytes: Buffer; keep: () => void } {
    const texts: string[] = [];
    const newPlaces = new Map<string, number>();
    const placeOf = (query: string): number => {
      const known = this.#places.get(query) ?? newPlaces.get(query);
      if (known !== undefined) return known;
      const place = this.#places.size + texts.length;
      newPlaces.set(query, place);
      texts.push(query);
      return place;
    };
    const stored = entries.map(({ file, version, writes }): StoredEntry => [
      file,
      version,
      writes.map(([query, bindings]) => [placeOf(query), ...bindings]),
    ]);
    const payload = serialize([texts, stored] satisfies Payload);
    const bytes = Buffer.allocUnsafe(RECORD_HEADER_BYTES + payload.length);
    bytes.writeUInt32LE(payload.length, 0);
    bytes.writeUInt32LE(crc32(payload), 4);
    payload.copy(bytes, RECORD_HEADER_BYTES);
    const keep = () => {
      for (const [query, place] of newPlaces) this.#places.set(query, place);
    };
    return { bytes, keep };
  }
}

/** The entries of a segment, in their order. `isWhole` is false if it ends with a record that was not written completely. */
export function decodeSegment(bytes: Buffer): { entries: Entry[]; isWhole: boolean } {
  const entries: Entry[] = [];
  const texts: string[] = [];
  let at = HEADER.length;
  while (at < bytes.length) {
    const payload = readPayload(bytes, at);
    if (payload === null) return { entries, isWhole: false };
    at += RECORD_HEADER_BYTES + payload.length;
    const [newTexts, stored] = deserialize(payload) as Payload;
    texts.push(...newTexts);
    for (const [file, version, writes] of stored)
      entries.push({ file, version, writes: writes.map(([text, ...bindings]) => [texts[text]!, bindings]) });
  }
  return { entries, isWhole: at === bytes.length };
}

function readPayload(bytes: Buffer, at: number): Buffer | null {
  const start = at + RECORD_HEADER_BYTES;
  if (start > bytes.length) return null;
  const payload = bytes.subarray(start, start + bytes.readUInt32LE(at));
  const isComplete = payload.length === bytes.readUInt32LE(at) && payload.length > 0;
  return isComplete && crc32(payload) === bytes.readUInt32LE(at + 4) ? payload : null;
}
