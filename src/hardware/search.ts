// fs.search: finds lines that contain a text, literally, below a path. Matches, files and time are limited, and the result says
// if a limit was reached.

import { yieldToEventLoop } from "../lib/yield.ts";
import { globMatcher } from "../lib/glob.ts";
import { namesSecret } from "../lib/secrets.ts";
import type { FileKind, FileSystem, FileMachine } from "./filesystem.ts";
import { type Failure, OpError, catchFailures } from "./outcome.ts";
import { CHUNK_BYTES, isText, readLines, splitLines, lossyText } from "./text.ts";

export type SearchArgs = { query: string; path?: string | undefined; include?: string | undefined };
export type Match = { path: string; line: number; content: string };
export type SearchResult = { ok: true; matches: Match[]; count: number; truncated?: boolean } | Failure;

/** How many files are read at once, at most CHUNK_BYTES of each. */
const BATCH_FILES = 16;
/** How many paths are visited before the search yields to the event loop. */
const YIELD_PATHS = 64;

export function searchFiles(machine: FileMachine, args: SearchArgs): Promise<SearchResult> {
  const { files } = machine;
  return catchFailures<SearchResult>(files, async () => {
    const query = args.query.trim();
    if (query === "") throw new OpError("Search query is required.");
    const root = files.resolve(args.path ?? ".");
    const isIncluded = args.include === undefined ? () => true : globMatcher(args.include);
    // A search everywhere is not meant to include keys; one that starts there is.
    const isSearched = namesSecret(root) ? () => true : (path: string) => !namesSecret(path);
    const search = new Search(machine, query);
    const { kind } = await files.stat(root);
    const batch: string[] = [];
    let seen = 0;
    const yieldSometimes = () => (++seen % YIELD_PATHS === 0 ? yieldToEventLoop() : undefined);
    const holding = kind === "directory" ? await findCandidates(machine, root, query) : null;
    for await (const path of holding === null ? walk(files, root, kind, yieldSometimes) : holding.paths) {
      if (search.isOver()) break;
      if (isIncluded(relativePath(root, path)) && isSearched(path)) batch.push(path);
      if (batch.length === BATCH_FILES) await search.searchPaths(batch.splice(0));
    }
    await search.searchPaths(batch);
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

  /** Whether a limit was reached or the search was aborted. */
  isOver(): boolean {
    const { now, signal } = this.#machine;
    this.truncated ||= signal.aborted || now() > this.#endsAt;
    return this.truncated;
  }

  async searchPaths(paths: readonly string[]): Promise<void> {
    if (this.isOver() || paths.length === 0) return;
    // Most files are small: one read shows whether it is text and returns all of it.
    const heads = await readHeads(this.#machine.files, paths);
    await yieldToEventLoop();
    for (const [at, head] of heads.entries()) {
      if (this.isOver() || this.#filesLeft-- === 0) this.truncated = true;
      // Unreadable and binary files have no lines to find.
      else if (head !== null && isText(head)) await this.#searchFile(paths[at]!, head);
      if (this.truncated) return;
    }
  }

  async #searchFile(path: string, head: Uint8Array): Promise<void> {
    if (head.length === CHUNK_BYTES) return this.#searchLargeFile(path);
    const text = lossyText(head);
    // Most files do not contain it and need not be split into lines.
    if (text.includes(this.#query)) this.#addMatches(path, 0, splitLines(text));
  }

  async #searchLargeFile(path: string): Promise<void> {
    const stat = await this.#machine.files.stat(path).catch(() => null);
    if (stat === null) return;
    let before = 0;
    for await (const lines of readLines(this.#machine.files, path, stat.size)) {
      this.#addMatches(path, before, lines);
      if (this.truncated) return;
      before += lines.length;
    }
  }

  #addMatches(path: string, before: number, lines: readonly string[]): void {
    const { limits } = this.#machine;
    for (const [at, content] of lines.entries()) {
      if (!content.includes(this.#query)) continue;
      if (this.matches.length === limits.searchMatches) {
        this.truncated = true;
        return;
      }
      this.matches.push({ path, line: before + at + 1, content: excerpt(content, this.#query, limits.searchLineChars) });
    }
  }
}

async function readHeads(files: FileSystem, paths: readonly string[]): Promise<(Uint8Array | null)[]> {
  if (files.readFirstBytes !== undefined) return files.readFirstBytes(paths, CHUNK_BYTES);
  const heads: (Uint8Array | null)[] = [];
  for (const path of paths) heads.push(await files.read(path, { start: 0, end: CHUNK_BYTES }).catch(() => null));
  return heads;
}

/** Candidate files in the order of a walk. */
async function findCandidates({ files, limits, signal }: FileMachine, root: string, query: string): Promise<Candidates | null> {
  if (files.findFilesContaining === undefined) return null;
  // An unreadable root is a failure, not an empty result.
  await files.list(root);
  const holding = await files.findFilesContaining(root, query, limits.searchMs, signal);
  return holding && { ...holding, paths: holding.paths.toSorted(compareWalkOrder) };
}

type Candidates = { paths: string[]; isComplete: boolean };

function compareWalkOrder(a: string, b: string): number {
  const [names, others] = [a.split("/"), b.split("/")];
  const at = names.findIndex((name, at) => name !== others[at]);
  const [name, other] = [names[at], others[at]];
  return name === undefined ? -1 : other === undefined || name > other ? 1 : -1;
}

type YieldSometimes = () => Promise<void> | undefined;

/** Files at or below a path, sorted by name; unreadable directories below it are skipped. */
async function* walk(
  files: FileSystem,
  path: string,
  kind: FileKind,
  yieldSometimes: YieldSometimes,
  isRoot = true,
): AsyncGenerator<string> {
  await yieldSometimes();
  if (kind === "file") yield path;
  if (kind !== "directory") return;
  const entries = isRoot ? await files.list(path) : await files.list(path).catch(() => []);
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
    yield* walk(files, path.endsWith("/") ? path + entry.name : `${path}/${entry.name}`, entry.kind, yieldSometimes, false);
}

/** The part of a long line around its first match. */
function excerpt(line: string, query: string, charsMax: number): string {
  if (line.length <= charsMax) return line;
  const start = Math.max(0, Math.min(line.indexOf(query) - Math.floor(charsMax / 4), line.length - charsMax));
  return line.slice(start, start + charsMax).toWellFormed();
}

function relativePath(root: string, path: string): string {
  return path === root ? path.slice(path.lastIndexOf("/") + 1) : path.slice(root.endsWith("/") ? root.length : root.length + 1);
}
