// gsv cat: a file's content as it is, without the line numbers fs.read puts in front. A text is fetched page by page, so
// its size does not matter; a terminal gets it with all escape sequences made harmless, and never gets a picture.

import { type Calls, type Client } from "../../client/client.ts";
import { type FilePlace, parsePlace } from "../place.ts";
import { Problem } from "../problem.ts";
import { type Globals, isCode, withClient } from "../session.ts";
import { pour, sayJson } from "../terminal.ts";

type Answer = Calls["fs.read"]["result"];
type Page = Extract<Answer, { content: unknown }>;
type Picture = { path: string; size: number; blocks: Exclude<Page["content"], string> };

const FIRST_LINES = 1_000;
/** What a page should hold, once it is known how long lines are. */
const PAGE_CHARS = 4 * 1024 * 1024;
const GROWTH_MAX = 8;
/** How fs.read numbers lines. */
const NUMBER_WIDTH = 6;

export async function cat(flags: Globals, [text = ""]: readonly string[]): Promise<void> {
  const place = parsePlace(text);
  await withClient(flags, async (client) => {
    const kept: string[] = [];
    const write = flags.json ? (part: string) => void kept.push(part) : pour;
    const seen = { path: "", size: 0, lines: 0, bytes: 0, isDoubtful: false };
    for await (const { path, size, content } of pages(client, place)) {
      if (typeof content !== "string") return showPicture(flags, text, { path, size, blocks: content });
      const lines = unnumbered(content, seen.lines);
      // The end of a line is written with the next one: whether the last has an end, only the size can tell.
      const part = (seen.lines > 0 && lines.length > 0 ? "\n" : "") + lines.join("\n");
      await write(part);
      Object.assign(seen, { path, size, lines: seen.lines + lines.length, bytes: seen.bytes + Buffer.byteLength(part) });
      seen.isDoubtful ||= part.includes("\ufffd");
    }
    const { path, size, bytes } = seen;
    if (bytes + 1 === size) await write("\n");
    else if (bytes !== size && seen.isDoubtful) throw new Problem(`Not all of ${path} is UTF-8: what is not came as U+FFFD`);
    else if (bytes !== size) throw new Problem(`${path} was changed while it was read: read it again`);
    if (flags.json) sayJson({ path, size, content: kept.join("") });
  });
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

async function showPicture(flags: Globals, text: string, { path, size, blocks }: Picture): Promise<void> {
  const image = blocks.find((block) => block.type === "image");
  if (image === undefined) throw new Problem(`Neither text nor a picture: ${path}`);
  const { data, mimeType } = image;
  if (flags.json) return sayJson({ path, size, mimeType, data });
  if (process.stdout.isTTY) throw new Problem(`A picture (${mimeType}, ${size} bytes): ${path}. Save it with: gsv cat ${text} > FILE`);
  await pour(Buffer.from(data, "base64"));
}
