// A file's content as it is on its target, without the line numbers fs.read puts in front. A text is fetched page by
// page, so its size does not matter; a picture comes whole; other binary files cannot be read.

import { type Calls, type Client } from "../client/client.ts";
import type { FilePlace } from "./place.ts";
import { Problem } from "./problem.ts";
import { isCode } from "./session.ts";

type Answer = Calls["fs.read"]["result"];
type Page = Extract<Answer, { content: unknown }>;

export type Part = { path: string; size: number } & ({ text: string } | { picture: Buffer; mimeType: string });

const FIRST_LINES = 1_000;
/** What a page should hold, once it is known how long lines are. */
const PAGE_CHARS = 4 * 1024 * 1024;
const GROWTH_MAX = 8;
/** How fs.read numbers lines. */
const NUMBER_WIDTH = 6;

/** Fails after the last part where the parts are not the whole, byte for byte. */
export async function* remoteContent(client: Client, place: FilePlace): AsyncGenerator<Part> {
  const seen = { path: "", size: 0, lines: 0, bytes: 0, isDoubtful: false };
  for await (const { path, size, content } of pages(client, place)) {
    if (typeof content !== "string") return yield { path, size, ...picture(path, content) };
    const lines = unnumbered(content, seen.lines);
    // The end of a line is written with the next one: whether the last has an end, only the size can tell.
    const text = (seen.lines > 0 && lines.length > 0 ? "\n" : "") + lines.join("\n");
    Object.assign(seen, { path, size, lines: seen.lines + lines.length, bytes: seen.bytes + Buffer.byteLength(text) });
    seen.isDoubtful ||= text.includes("\ufffd");
    yield { path, size, text };
  }
  const { path, size, bytes } = seen;
  if (bytes + 1 === size) return yield { path, size, text: "\n" };
  if (bytes !== size && seen.isDoubtful) throw new Problem(`Not all of ${path} is UTF-8: what is not came as U+FFFD`);
  if (bytes !== size) throw new Problem(`${path} was changed while it was read: read it again`);
}

/** Pages of a text of any length, or one picture. */
async function* pages(client: Client, place: FilePlace): AsyncGenerator<Page> {
  let limit = FIRST_LINES;
  for (let offset = 0; ;) {
    const answer = await read(client, { ...place, offset, limit });
    if (!answer.ok) {
      if (limit === 1) throw new Problem(answer.error);
      // Lines may be so long that fewer of them fit; whatever else is wrong, one line will tell.
      limit = 1;
      continue;
    }
    if ("directories" in answer) throw new Problem(`Is a directory: ${answer.path}. gsv ls shows what is in it`);
    yield answer;
    const { content, more } = answer;
    if (typeof content !== "string" || more !== true) return;
    const lines = content.split("\n").length;
    offset += lines;
    limit = Math.max(1, Math.min(limit * GROWTH_MAX, Math.floor((PAGE_CHARS * lines) / content.length)));
  }
}

/** An answer that is too large for a frame is refused, and one too large in itself fails: the same to us. */
async function read(client: Client, args: Calls["fs.read"]["args"]): Promise<Answer> {
  try {
    return await client.call("fs.read", args);
  } catch (error) {
    if (isCode(error, 413)) return { ok: false, error: `${error.message} (413)` };
    throw error;
  }
}

/** Takes off exactly the numbers that must be there, since a line of the file may begin like one. */
function unnumbered(content: string, before: number): string[] {
  if (content === "") return [];
  return content.split("\n").map((line, at) => {
    const number = `${String(before + at + 1).padStart(NUMBER_WIDTH)}\t`;
    if (!line.startsWith(number)) throw new Problem(`The answer has no line ${before + at + 1} where it should be`);
    return line.slice(number.length);
  });
}

function picture(path: string, blocks: Exclude<Page["content"], string>): { picture: Buffer; mimeType: string } {
  const image = blocks.find((block) => block.type === "image");
  if (image === undefined) throw new Problem(`Neither text nor a picture: ${path}`);
  return { picture: Buffer.from(image.data, "base64"), mimeType: image.mimeType };
}
