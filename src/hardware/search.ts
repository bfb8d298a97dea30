// fs.search: lines that hold a text, literally, below a path. Bounded in matches, files and time, and honest about it.

import { globMatcher } from "../lib/glob.ts";
import type { FileKind, FileSystem, FileMachine } from "./filesystem.ts";
import { type Failure, OpError, outcome } from "./outcome.ts";
import { CHUNK_BYTES, isText, linesIn, linesOf } from "./text.ts";

export type SearchArgs = { query: string; path?: string | undefined; include?: string | undefined };
export type Match = { path: string; line: number; content: string };
export type SearchResult = { ok: true; matches: Match[]; count: number; truncated?: boolean } | Failure;

export function searchFiles(machine: FileMachine, args: SearchArgs): Promise<SearchResult> {
  const { files } = machine;
  return outcome<SearchResult>(files, async () => {
    const query = args.query.trim();
    if (query === "") throw new OpError("Search query is required.");
    const root = files.resolve(args.path ?? ".");
    const included = args.include === undefined ? () => true : globMatcher(args.include);
    const search = new Search(machine, query);
    const { kind } = await files.stat(root);
    for await (const path of walk(files, root, kind, true)) {
      if (!included(relative(root, path))) continue;
      if (!(await search.file(path))) break;
    }
    const { matches, truncated } = search;
    return { ok: true, matches, count: matches.length, ...(truncated ? { truncated } : {}) };
  });
}

class Search {
  readonly matches: Match[] = [];
  truncated = false;
  readonly #machine: FileMachine;
  readonly #query: string;
  readonly #endsAt: number;
  #filesLeft: number;

  constructor(machine: FileMachine, query: string) {
    this.#machine = machine;
    this.#query = query;
    this.#endsAt = machine.now() + machine.limits.searchMs;
    this.#filesLeft = machine.limits.searchFiles;
  }

  /** False where a limit was met and the search is over. */
  async file(path: string): Promise<boolean> {
    const { files, limits, now, signal } = this.#machine;
    if (signal.aborted || this.#filesLeft-- === 0 || now() > this.#endsAt) return this.#over();
    // Most files are small: one read says whether it is text and has all of it.
    const head = await files.read(path, { start: 0, end: CHUNK_BYTES }).catch(() => null);
    // What may not be read, or is not text, has no lines to find.
    if (head === null || !isText(head)) return true;
    let line = 0;
    for await (const content of head.length < CHUNK_BYTES ? linesIn(head) : await this.#large(path)) {
      line++;
      if (!content.includes(this.#query)) continue;
      if (this.matches.length === limits.searchMatches) return this.#over();
      this.matches.push({ path, line, content: cut(content, this.#query, limits.searchLineChars) });
    }
    return true;
  }

  async #large(path: string): Promise<AsyncIterable<string> | string[]> {
    const stat = await this.#machine.files.stat(path).catch(() => null);
    return stat === null ? [] : linesOf(this.#machine.files, path, stat.size);
  }

  #over(): boolean {
    this.truncated = true;
    return false;
  }
}

/** Files at or below a path, in the order of names; directories that may not be looked into are passed over. */
async function* walk(files: FileSystem, path: string, kind: FileKind, isRoot: boolean): AsyncGenerator<string> {
  if (kind === "file") yield path;
  if (kind !== "directory") return;
  const entries = isRoot ? await files.list(path) : await files.list(path).catch(() => []);
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
    yield* walk(files, path.endsWith("/") ? path + entry.name : `${path}/${entry.name}`, entry.kind, false);
}

/** A long line around the first match in it. */
function cut(line: string, query: string, charsMax: number): string {
  if (line.length <= charsMax) return line;
  const start = Math.max(0, Math.min(line.indexOf(query) - Math.floor(charsMax / 4), line.length - charsMax));
  return line.slice(start, start + charsMax).toWellFormed();
}

function relative(root: string, path: string): string {
  return path === root ? path.slice(path.lastIndexOf("/") + 1) : path.slice(root.endsWith("/") ? root.length : root.length + 1);
}
