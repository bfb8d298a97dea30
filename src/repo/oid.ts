// Object ids: forty hexadecimal digits in memory and in tables, twenty bytes in git's own formats.

import { Sha1 } from "./sha1.ts";

export type ObjectKind = "commit" | "tree" | "blob" | "tag";

export const ZERO_OID = "0".repeat(40);

export function hashObject(kind: ObjectKind, bytes: Uint8Array): string {
  const header = new TextEncoder().encode(`${kind} ${bytes.length}\0`);
  return readOid(new Sha1().update(header).update(bytes).digest(), 0);
}

export function isOid(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text);
}

const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

export function readOid(bytes: Uint8Array, at: number): string {
  let text = "";
  for (let i = at; i < at + 20; i++) text += DIGITS[bytes[i]!]!;
  return text;
}

export function writeOid(oid: string, into: Uint8Array, at: number): void {
  for (let i = 0; i < 20; i++) into[at + i] = (digit(oid, i * 2) << 4) | digit(oid, i * 2 + 1);
}

function digit(oid: string, at: number): number {
  const code = oid.charCodeAt(at);
  return code <= 0x39 ? code - 0x30 : code - 0x57;
}
