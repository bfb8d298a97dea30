// fs.search: lines that hold a text, literally, below a path. Bounded in matches, files and time, and honest about it.

import { yieldToEventLoop } from "../lib/yield.ts";
import { globMatcher } from "../lib/glob.ts";
import { namesSecret } from "../lib/secrets.ts";
import type { FileKind, FileSystem, FileMachine } from "./filesystem.ts";
import { type Failure, OpError, outcome } from "./outcome.ts";
import { CHUNK_BYTES, isText, linesOf, linesOfText, lossyText } from "./text.ts";

export type SearchArgs = { query: string; path?: string | undefined; include?: string | undefined };
export type Match = { path: string; line: number; content: string };
export type SearchResult = { ok: true; matches: Match[]; count: number; truncated?: boolean } | Failure;

/** How many files are asked for at once, at most CHUNK_BYTES of each. */
const BATCH_FILES = 16;
/** Names that are looked at before others get their turn. */
const TURN_PATHS = 64;

export function searchFiles(machine: FileMachine, args: SearchArgs): Promise<SearchResult> {
  const { files } = machine;
  return outcome<SearchResult>(files, async () => {
    const query = args.query.trim();
    if (query === "") throw new OpError("Search query is required.");
    const root = files.resolve(args.path ?? ".");
    const included = args.include === undefined ? () => true : globMatcher(args.include);
    // Who looks for something everywhere does not mean their keys; who begins there does.
    const isOpen = namesSecret(root) ? () => true : (path: string) => !namesSecret(path);
    const search = new Search(machine, query);
    const { kind } = await files.stat(root);
    const batch: string[] = [];
    let seen = 0;
    const give = () => (++seen % TURN_PATHS === 0 ? yieldToEventLoop() : undefined);
    const holding = kind === "directory" ? await holdingOf(machine, root, query) : null;
    for await (const path of holding === null ? walk(files, root, kind, give) : holding.paths) {
      if (search.isOver()) break;
      if (included(relative(root, path)) && isOpen(path)) batch.push(path);
      if (batch.length === BATCH_FILES) await search.files(batch.splice(0));
    }
    await search.files(batch);
    const { matches } = search;
    const truncated = search.truncated || holding?.isComplete === false;
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

  /** Whether a limit was met. */
  isOver(): boolean {
    const { now, signal } = this.#machine;
    this.truncated ||= signal.aborted || now() > this.#endsAt;
    return this.truncated;
  }

  async files(paths: readonly string[]): Promise<void> {
    if (this.isOver() || paths.length === 0) return;
    // Most files are small: one read says whether it is text and has all of it.
    const heads = await headsOf(this.#machine.files, paths);
    await yieldToEventLoop();
    for (const [at, head] of heads.entries()) {
      if (this.isOver() || this.#filesLeft-- === 0) this.truncated = true;
      // What may not be read, or is not text, has no lines to find.
      else if (head !== null && isText(head)) await this.#file(paths[at]!, head);
      if (this.truncated) return;
    }
  }

  async #file(path: string, head: Uint8Array): Promise<void> {
    if (head.length === CHUNK_BYTES) return this.#large(path);
    const text = lossyText(head);
    // Most files do not hold it, and then their lines are nobody's business.
    if (text.includes(this.#query)) this.#lines(path, 0, linesOfText(text));
  }

  async #large(path: string): Promise<void> {
    const stat = await this.#machine.files.stat(path).catch(() => null);
    if (stat === null) return;
    let before = 0;
    for await (const lines of linesOf(this.#machine.files, path, stat.size)) {
      this.#lines(path, before, lines);
      if (this.truncated) return;
      before += lines.length;
    }
  }

  #lines(path: string, before: number, lines: readonly string[]): void {
    const { limits } = this.#machine;
    for (const [at, content] of lines.entries()) {
      if (!content.includes(this.#query)) continue;
      if (this.matches.length === limits.searchMatches) {
        this.truncated = true;
        return;
      }
      this.matches.push({ path, line: before + at + 1, content: cut(content, this.#query, limits.searchLineChars) });
    }
  }
}

async function headsOf(files: FileSystem, paths: readonly string[]): Promise<(Uint8Array | null)[]> {
  if (files.readHeads !== undefined) return files.readHeads(paths, CHUNK_BYTES);
  const heads: (Uint8Array | null)[] = [];
  for (const path of paths) heads.push(await files.read(path, { start: 0, end: CHUNK_BYTES }).catch(() => null));
  return heads;
}

/** In the order in which they would be walked to. */
async function holdingOf({ files, limits, signal }: FileMachine, root: string, query: string): Promise<Holding | null> {
  if (files.filesHolding === undefined) return null;
  // One that may not be looked into is a failure, and not empty.
  await files.list(root);
  const holding = await files.filesHolding(root, query, limits.searchMs, signal);
  return holding && { ...holding, paths: holding.paths.toSorted(asWalked) };
}

type Holding = { paths: string[]; isComplete: boolean };

function asWalked(a: string, b: string): number {
  const [names, others] = [a.split("/"), b.split("/")];
  const at = names.findIndex((name, at) => name !== others[at]);
  const [name, other] = [names[at], others[at]];
  return name === undefined ? -1 : other === undefined || name > other ? 1 : -1;
}

type Give = () => Promise<void> | undefined;

/** Files at or below a path, in the order of names; directories that may not be looked into are passed over. */
async function* walk(files: FileSystem, path: string, kind: FileKind, give: Give, isRoot = true): AsyncGenerator<string> {
  await give();
  if (kind === "file") yield path;
  if (kind !== "directory") return;
  const entries = isRoot ? await files.list(path) : await files.list(path).catch(() => []);
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
    yield* walk(files, path.endsWith("/") ? path + entry.name : `${path}/${entry.name}`, entry.kind, give, false);
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
