// Literal, case-sensitive search through the text files of one commit.

import { namesSecret } from "../lib/secrets.ts";
import { fail } from "../lib/sys-error.ts";
import { parseReadPath } from "./names.ts";
import { WorkSlices } from "./work-slices.ts";
import type { Store } from "./store.ts";
import { decodeText } from "./text.ts";
import { isTree, MODE, parseTree } from "./tree.ts";

export type Match = { path: string; line: number; content: string };
export type SearchResult = { ref: string; query: string; prefix?: string; truncated?: true; matches: Match[] };

const MATCHES_MAX = 500;
/** A few small trees that contain each other can expand to millions of files. */
const ENTRIES_MAX = 200_000;
const FILE_BYTES_MAX = 4 * 1024 * 1024;
const TOTAL_BYTES_MAX = 512 * 1024 * 1024;
const DEPTH_MAX = 256;
/** One line of minified code would fill the whole answer. */
const LINE_CHARS_MAX = 1000;

/** How many bytes are searched before the work yields to the event loop; every entry has a fixed cost on top of its size. */
const YIELD_BYTES = 2 * 1024 * 1024;
const ENTRY_COST_BYTES = 1024;

type Search = {
  store: Store;
  query: string;
  prefix: string;
  isSearchable: (path: string) => boolean;
  matches: Match[];
  entries: number;
  bytes: number;
  isCut: boolean;
  slices: WorkSlices;
};

export async function search(store: Store, ref: string, query: string, prefix?: string): Promise<SearchResult> {
  if (query === "") fail(400, "query is required");
  const tree = store.history.requireNode(store.refs.resolve(ref)).tree;
  const folder = prefix === undefined ? "" : cleanPrefix(prefix);
  const slices = new WorkSlices(YIELD_BYTES);
  // As in fs.search: files with secrets are skipped, unless the caller's prefix names one.
  const isSearchable = namesSecret(folder) ? () => true : (path: string) => !namesSecret(path);
  const search: Search = { store, query, prefix: folder, isSearchable, matches: [], entries: 0, bytes: 0, isCut: false, slices };
  await searchTree(search, tree, "", 0);
  const result: SearchResult = { ref, query, matches: search.matches };
  if (prefix !== undefined) result.prefix = prefix;
  if (search.isCut) result.truncated = true;
  return result;
}

/** The prefix is compared with the text of paths, so `doc` matches everything below docs/ and a file doc.txt. */
function cleanPrefix(prefix: string): string {
  const path = parseReadPath(prefix).join("/");
  return path !== "" && prefix.endsWith("/") ? `${path}/` : path;
}

async function searchTree(search: Search, tree: string, path: string, depth: number): Promise<void> {
  for (const entry of parseTree(search.store.objects.read(tree, "tree"))) {
    if (++search.entries > ENTRIES_MAX || depth > DEPTH_MAX || search.bytes > TOTAL_BYTES_MAX) search.isCut = true;
    if (search.isCut) return;
    if (search.slices.addWork(ENTRY_COST_BYTES)) await search.slices.pause();
    const name = path + entry.name;
    if (isTree(entry)) {
      const inner = `${name}/`;
      if (inner.startsWith(search.prefix) || search.prefix.startsWith(inner)) await searchTree(search, entry.oid, inner, depth + 1);
    } else if (entry.mode !== MODE.link && name.startsWith(search.prefix) && search.isSearchable(name)) {
      const before = search.bytes;
      searchFile(search, entry.oid, name);
      if (search.slices.addWork(search.bytes - before)) await search.slices.pause();
    }
  }
}

function searchFile(search: Search, oid: string, path: string): void {
  const { objects } = search.store;
  const stored = objects.findStored(oid);
  if (stored === undefined || stored.size > FILE_BYTES_MAX || stored.size === 0) return;
  search.bytes += stored.size;
  const text = decodeText(objects.inflate(stored));
  if (text === undefined) return;
  let line = 1;
  let counted = 0;
  for (let at = text.indexOf(search.query); at >= 0;) {
    if (search.matches.length === MATCHES_MAX) {
      search.isCut = true;
      return;
    }
    for (let next = text.indexOf("\n", counted); next >= 0 && next < at; next = text.indexOf("\n", counted)) {
      line++;
      counted = next + 1;
    }
    const end = text.indexOf("\n", at);
    search.matches.push({ path, line, content: excerptLine(text, counted, end < 0 ? text.length : end, at) });
    if (end < 0) return;
    at = text.indexOf(search.query, end);
  }
}

function excerptLine(text: string, start: number, end: number, at: number): string {
  const stop = text[end - 1] === "\r" ? end - 1 : end;
  if (stop - start <= LINE_CHARS_MAX) return text.slice(start, stop);
  const from = Math.max(start, Math.min(at - LINE_CHARS_MAX / 4, stop - LINE_CHARS_MAX));
  return text.slice(from, from + LINE_CHARS_MAX);
}
