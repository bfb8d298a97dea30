// Text of this machine that is to be sent: only whole, only if it is text, and only if it fits into a frame.

import { createReadStream } from "node:fs";
import { LIMITS } from "../protocol/limits.ts";
import { Problem } from "./problem.ts";

/** What a frame has besides the content: names, the path, the target. */
const FRAME_REST_BYTES = 16 * 1024;
export const CONTENT_BYTES_MAX = LIMITS.frameInBytes - FRAME_REST_BYTES;

export async function localText(file: string): Promise<string> {
  return sendable(await fileBytes(file), file);
}

/** As text, if it is and if it can be sent. */
export function sendable(bytes: Uint8Array, source: string): string {
  if (bytes.length > CONTENT_BYTES_MAX) throw tooLarge(source);
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const again = new TextEncoder().encode(text);
  const wrongAt = Buffer.compare(again, bytes) === 0 ? -1 : again.findIndex((byte, at) => byte !== bytes[at]);
  if (wrongAt !== -1) throw new Problem(`Not UTF-8 text at byte ${wrongAt + 1}: ${source}. Nothing was written; only text can be`);
  if (Buffer.byteLength(JSON.stringify(text)) > CONTENT_BYTES_MAX) throw tooLarge(source);
  return text;
}

/** Never more than can be sent, and one byte to tell. */
async function fileBytes(file: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of createReadStream(file, { end: CONTENT_BYTES_MAX })) chunks.push(chunk as Uint8Array);
  } catch (error) {
    throw new Problem(`Cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return Buffer.concat(chunks);
}

function tooLarge(source: string): Problem {
  return new Problem(`Too large to be written in one go: ${source}. At most ${LIMITS.frameInBytes / 1024 / 1024} MiB, as JSON`);
}
