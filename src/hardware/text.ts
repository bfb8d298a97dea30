// Text in files: detects text, reads lines of a file of any size in constant memory, and formats sizes for people.

import type { FileSystem } from "./filesystem.ts";
import type { LinePosition } from "./line-places.ts";

export const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 10;
/** The part of a file that decides whether it is text. */
const HEAD_BYTES = 8 * 1024;

/** Text is UTF-8 without NUL. A head may end within a character. */
export function isText(bytes: Uint8Array): boolean {
  const head = bytes.subarray(0, HEAD_BYTES);
  if (head.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(head, {
      stream: head.length < bytes.length || bytes.length === HEAD_BYTES,
    });
    return true;
  } catch {
    return false;
  }
}

/** All of it as text, or null if it is not text. */
export function decodeText(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** `from` is where to start, at the start of a line; `onPlace` is called with positions of later lines. */
export type ReadOptions = { version?: string; from?: LinePosition; onPlace?: (place: LinePosition) => void };

/**
 * Lines without their newlines, read chunk by chunk and yielded per chunk. A final newline adds no line. With a version, it fails
 * unless all chunks are of that version.
 */
export async function* readLines(files: FileSystem, path: string, size: number, reading: ReadOptions = {}): AsyncGenerator<string[]> {
  const { version = "", from = { line: 0, byte: 0 }, onPlace } = reading;
  const pinned = version === "" ? {} : { ifVersion: version };
  const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
  let line = from.line;
  let rest = "";
  for (let start = from.byte; start < size; start += CHUNK_BYTES) {
    const chunk = await files.read(path, { start, end: Math.min(start + CHUNK_BYTES, size), ...pinned });
    if (chunk.length === 0) break;
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    line += lines.length;
    if (lines.length > 0) onPlace?.({ line, byte: start + chunk.lastIndexOf(NEWLINE) + 1 });
    yield lines;
  }
  rest += decoder.decode();
  if (rest !== "") yield [rest];
}

/** The same for bytes in memory. */
export function decodeLines(bytes: Uint8Array): string[] {
  return splitLines(lossyText(bytes));
}

export function splitLines(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

export function lossyText(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(bytes);
}

export function humanSize(bytes: number): string {
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  const at = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  return at === 0 ? `${bytes} bytes` : `${(bytes / 1024 ** at).toFixed(1)} ${units[at]}`;
}
