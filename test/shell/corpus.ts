// Loads the snippets from shell files, one per theme: `### name` starts a snippet, `### + path` a file that is created before
// the snippet runs.

import { readdirSync, readFileSync } from "node:fs";

export type Snippet = { theme: string; name: string; script: string; files: Readonly<Record<string, string>> };

const FOLDER = new URL("./snippets/", import.meta.url);
const HEADING = /^### (\+ )?(.+)\n/gm;

export function snippets(): Snippet[] {
  return readdirSync(FOLDER)
    .toSorted()
    .flatMap((file) => parseSnippets(file.replace(/^\d+-|\.sh$/g, ""), readFileSync(new URL(file, FOLDER), "utf8")));
}

function parseSnippets(theme: string, text: string): Snippet[] {
  const parsedSnippets: (Snippet & { files: Record<string, string> })[] = [];
  const headings = [...text.matchAll(HEADING)];
  for (const [at, heading] of headings.entries()) {
    const [line, isFile, name = ""] = heading;
    const body = text.slice(heading.index + line.length, headings[at + 1]?.index);
    if (isFile === undefined) parsedSnippets.push({ theme, name, script: body, files: {} });
    else parsedSnippets.at(-1)!.files[name] = body;
  }
  return parsedSnippets;
}
