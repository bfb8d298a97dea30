// gsv cat: a file's content as it is. A terminal gets it with all escape sequences made harmless, and never gets a picture.

import { parsePlace } from "../place.ts";
import { Problem } from "../problem.ts";
import { type Part, remoteContent } from "../remote-content.ts";
import { type Globals, withClient } from "../session.ts";
import { pour, sayJson } from "../terminal.ts";

type Picture = Extract<Part, { picture: unknown }>;

export async function cat(flags: Globals, [text = ""]: readonly string[]): Promise<void> {
  const place = parsePlace(text);
  await withClient(flags, async (client) => {
    const kept: string[] = [];
    const seen = { path: "", size: 0 };
    for await (const part of remoteContent(client, place)) {
      if ("picture" in part) return showPicture(flags, text, part);
      if (flags.json) kept.push(part.text);
      else await pour(part.text);
      Object.assign(seen, { path: part.path, size: part.size });
    }
    if (flags.json) sayJson({ ...seen, content: kept.join("") });
  });
}

async function showPicture(flags: Globals, text: string, { path, size, mimeType, picture }: Picture): Promise<void> {
  if (flags.json) return sayJson({ path, size, mimeType, data: picture.toString("base64") });
  if (process.stdout.isTTY) throw new Problem(`A picture (${mimeType}, ${size} bytes): ${path}. Save it with: gsv cat ${text} > FILE`);
  await pour(picture);
}
