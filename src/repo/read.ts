// Reads one path of the tree of one commit.

import { fail } from "../lib/sys-error.ts";
import { parseReadPath } from "./names.ts";
import type { Store } from "./store.ts";
import { decodeText } from "./text.ts";
import { findEntry, isTree, MODE, parseTree, type TreeEntry } from "./tree.ts";

export type EntryType = "tree" | "blob" | "symlink";
export type ListedEntry = { name: string; path: string; mode: string; hash: string; type: EntryType };

export type ReadResult =
  | { ref: string; path: string; kind: "tree"; entries: ListedEntry[] }
  | { ref: string; path: string; kind: "file"; size: number; isBinary: boolean; content: string | null };

/** The entry at a path, without its content. `size` is in bytes and absent for a directory. */
export type PathEntry = { path: string; mode: string; hash: string; type: EntryType; size?: number };

export function read(store: Store, ref: string, path: string): ReadResult {
  const found = lookup(store, ref, path);
  if (found === undefined) fail(404, `Path not found: ${parseReadPath(path).join("/")} at ${ref}`);
  if (found.type === "tree") return { ref, path: found.path, kind: "tree", entries: listTree(store, found.hash, found.path) };
  const bytes = store.objects.read(found.hash, "blob");
  const content = decodeText(bytes) ?? null;
  return { ref, path: found.path, kind: "file", size: bytes.length, isBinary: content === null, content };
}

export function lookup(store: Store, ref: string, path: string): PathEntry | undefined {
  const segments = parseReadPath(path);
  const entry = findPath(segments, store.history.requireNode(store.refs.resolve(ref)).tree, (tree, name) =>
    findEntry(store.objects.read(tree, "tree"), name),
  );
  if (entry === undefined) return undefined;
  const found: PathEntry = { path: segments.join("/"), mode: formatMode(entry.mode), hash: entry.oid, type: typeOf(entry) };
  if (found.type !== "tree") found.size = store.objects.findStored(entry.oid)?.size ?? 0;
  return found;
}

/** The first bytes of many files; null for a path that is not a file. Each directory is read once for all of them. */
export function readFirstBytes(
  { history, refs, objects }: Store,
  ref: string,
  paths: readonly string[],
  bytes: number,
): (Uint8Array | null)[] {
  const root = history.requireNode(refs.resolve(ref)).tree;
  const treeCache = new Map<string, Map<string, TreeEntry>>();
  const find = (tree: string, name: string) => {
    let entries = treeCache.get(tree);
    if (entries === undefined) {
      entries = new Map(parseTree(objects.read(tree, "tree")).map((entry) => [entry.name, entry]));
      treeCache.set(tree, entries);
    }
    return entries.get(name);
  };
  return paths.map((path) => {
    const entry = findPath(parseReadPath(path), root, find);
    return entry === undefined || typeOf(entry) !== "blob" ? null : objects.read(entry.oid, "blob").slice(0, bytes);
  });
}

function findPath(
  segments: readonly string[],
  root: string,
  find: (tree: string, name: string) => TreeEntry | undefined,
): TreeEntry | undefined {
  let entry: TreeEntry = { mode: MODE.tree, name: "", oid: root };
  for (const segment of segments) {
    // Links are not followed: their targets mean something only where the tree is checked out.
    const next = isTree(entry) ? find(entry.oid, segment) : undefined;
    if (next === undefined) return undefined;
    entry = next;
  }
  return entry;
}

/** Sorted by name, unlike git, which sorts a directory as if its name ended in a slash. */
export function listTree({ objects }: Store, tree: string, path: string): ListedEntry[] {
  const prefix = path === "" ? "" : `${path}/`;
  return parseTree(objects.read(tree, "tree"))
    .map((entry) => ({
      name: entry.name,
      path: prefix + entry.name,
      mode: formatMode(entry.mode),
      hash: entry.oid,
      type: typeOf(entry),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function typeOf(entry: TreeEntry): EntryType {
  if (isTree(entry)) return "tree";
  return entry.mode === MODE.link ? "symlink" : "blob";
}

/** As `git ls-tree` prints it. */
function formatMode(mode: string): string {
  return mode.padStart(6, "0");
}
