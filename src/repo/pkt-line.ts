// Git's pkt-line framing: the length in four hexadecimal digits, then the line. 0000 is a flush.

import { fail } from "../lib/sys-error.ts";
import type { ByteReader } from "./byte-reader.ts";
import { concat } from "../lib/bytes.ts";
import { toBytes, decodeTextLossily } from "./text.ts";

export const FLUSH = toBytes("0000");
export const PKT_BYTES_MAX = 65520;

export type Band = 1 | 2 | 3;

export function pkt(content: string | Uint8Array): Uint8Array {
  const bytes = typeof content === "string" ? toBytes(content) : content;
  return concat([toBytes((bytes.length + 4).toString(16).padStart(4, "0")), bytes]);
}

/** Null for a flush. */
export async function readPkt(reader: ByteReader): Promise<Uint8Array | null> {
  const digits = decodeTextLossily(await reader.take(4));
  if (!/^[0-9a-fA-F]{4}$/.test(digits)) fail(400, "Bad request: not a packet line");
  const length = Number.parseInt(digits, 16);
  if (length === 0) return null;
  if (length < 4 || length > PKT_BYTES_MAX) fail(400, "Bad request: the length of a packet line");
  return reader.take(length - 4);
}

/** Null for a flush; without the newline at the end. */
export async function readPktLine(reader: ByteReader): Promise<string | null> {
  const bytes = await readPkt(reader);
  return bytes === null ? null : decodeTextLossily(bytes).replace(/\n$/, "");
}

/** Splits bytes into packets of one side band, as large as the client accepts. */
export function* splitIntoSideband(band: Band, bytes: Uint8Array, packetMax: number): Generator<Uint8Array> {
  const room = packetMax - 5;
  for (let at = 0; at < bytes.length; at += room) yield pkt(concat([new Uint8Array([band]), bytes.subarray(at, at + room)]));
}
