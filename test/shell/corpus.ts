// The snippets as data. They are shell text, so they lie in files of shell text, one per theme: `### name` begins a
// snippet, `### + path` a file that is placed before it runs.

import { readdirSync, readFileSync } from "node:fs";

export type Snippet = { theme: string; name: string; script: string; files: Readonly<Record<string, string>> };

const FOLDER = new URL("./snippets/", import.meta.url);
const HEADING = /^### (\+ )?(.+)\n/gm;

export function snippets(): Snippet[] {
  return readdirSync(FOLDER)
    .toSorted()
    .flatMap((file) => parsed(file.replace(/^\d+-|\.sh$/g, ""), readFileSync(new URL(file, FOLDER), "utf8")));
}

function parsed(theme: string, text: string): Snippet[] {
  const found: (Snippet & { files: Record<string, string> })[] = [];
  const headings = [...text.matchAll(HEADING)];
  for (const [at, heading] of headings.entries()) {
    const [line, isFile, name = ""] = heading;
    const body = text.slice(heading.index + line.length, headings[at + 1]?.index);
    if (isFile === undefined) found.push({ theme, name, script: body, files: {} });
    else found.at(-1)!.files[name] = body;
  }
  return found;
}
