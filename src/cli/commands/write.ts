// gsv write: makes or replaces a file with text from a file of this machine or from standard input.

import { createReadStream } from "node:fs";
import { LIMITS } from "../../protocol/limits.ts";
import { stdinBytes } from "../ask.ts";
import { parsePlace, placeText } from "../place.ts";
import { Problem } from "../problem.ts";
import { mustBeOk } from "../remote-file.ts";
import { type Globals, withClient } from "../session.ts";
import { note, sayJson } from "../terminal.ts";

/** What a frame has besides the content: names, the path, the target. */
const FRAME_REST_BYTES = 16 * 1024;
const CONTENT_BYTES_MAX = LIMITS.frameInBytes - FRAME_REST_BYTES;

export async function write(flags: Globals, [text = "", file = "-"]: readonly string[]): Promise<void> {
  const place = parsePlace(text);
  const given = file === "-" ? null : checked(await fileBytes(file), file);
  await withClient(flags, async (client) => {
    // After logging in, because a password on standard input comes before the content.
    const content = given ?? checked(await typedBytes(), "standard input");
    const { path, size } = mustBeOk(await client.call("fs.write", { ...place, content }));
    if (flags.json) return sayJson({ path, size });
    note(`Wrote ${size} bytes to ${placeText(place, path)}.`);
  });
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

function typedBytes(): Promise<Uint8Array> {
  if (process.stdin.isTTY) note("gsv: type the text; Ctrl-D on a line of its own ends it");
  return stdinBytes(CONTENT_BYTES_MAX);
}

/** As text, if it is and if it can be sent. */
function checked(bytes: Uint8Array, source: string): string {
  if (bytes.length > CONTENT_BYTES_MAX) throw tooLarge(source);
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const again = new TextEncoder().encode(text);
  const wrongAt = Buffer.compare(again, bytes) === 0 ? -1 : again.findIndex((byte, at) => byte !== bytes[at]);
  if (wrongAt !== -1) throw new Problem(`Not UTF-8 text at byte ${wrongAt + 1}: ${source}. Nothing was written; only text can be`);
  if (Buffer.byteLength(JSON.stringify(text)) > CONTENT_BYTES_MAX) throw tooLarge(source);
  return text;
}

function tooLarge(source: string): Problem {
  return new Problem(`Too large to be written in one go: ${source}. At most ${LIMITS.frameInBytes / 1024 / 1024} MiB, as JSON`);
}
