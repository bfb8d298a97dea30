// Looking at one place of a tree at one commit.

import { fail } from "../lib/sys-error.ts";
import { readPath } from "./names.ts";
import type { Store } from "./store.ts";
import { asText } from "./text.ts";
import { findEntry, isTree, MODE, parseTree, type TreeEntry } from "./tree.ts";

export type EntryType = "tree" | "blob" | "symlink";
export type ListedEntry = { name: string; path: string; mode: string; hash: string; type: EntryType };

export type ReadResult =
  | { ref: string; path: string; kind: "tree"; entries: ListedEntry[] }
  | { ref: string; path: string; kind: "file"; size: number; isBinary: boolean; content: string | null };

/** What is at a path, without its content. `size` is in bytes and absent for a directory. */
export type Found = { path: string; mode: string; hash: string; type: EntryType; size?: number };

export function read(store: Store, ref: string, path: string): ReadResult {
  const found = lookup(store, ref, path);
  if (found === undefined) fail(404, `Path not found: ${readPath(path).join("/")} at ${ref}`);
  if (found.type === "tree") return { ref, path: found.path, kind: "tree", entries: list(store, found.hash, found.path) };
  const bytes = store.objects.read(found.hash, "blob");
  const content = asText(bytes) ?? null;
  return { ref, path: found.path, kind: "file", size: bytes.length, isBinary: content === null, content };
}

export function lookup(store: Store, ref: string, path: string): Found | undefined {
  const segments = readPath(path);
  const entry = walk(segments, store.history.node(store.refs.resolve(ref)).tree, (tree, name) =>
    findEntry(store.objects.read(tree, "tree"), name),
  );
  if (entry === undefined) return undefined;
  const found: Found = { path: segments.join("/"), mode: shownMode(entry.mode), hash: entry.oid, type: typeOf(entry) };
  if (found.type !== "tree") found.size = store.objects.stored(entry.oid)?.size ?? 0;
  return found;
}

/** The first bytes of many files, null for what is none. Each directory on the way is read once for all of them. */
export function heads({ history, refs, objects }: Store, ref: string, paths: readonly string[], bytes: number): (Uint8Array | null)[] {
  const root = history.node(refs.resolve(ref)).tree;
  const opened = new Map<string, Map<string, TreeEntry>>();
  const find = (tree: string, name: string) => {
    let entries = opened.get(tree);
    if (entries === undefined) {
      entries = new Map(parseTree(objects.read(tree, "tree")).map((entry) => [entry.name, entry]));
      opened.set(tree, entries);
    }
    return entries.get(name);
  };
  return paths.map((path) => {
    const entry = walk(readPath(path), root, find);
    return entry === undefined || typeOf(entry) !== "blob" ? null : objects.read(entry.oid, "blob").slice(0, bytes);
  });
}

function walk(
  segments: readonly string[],
  root: string,
  find: (tree: string, name: string) => TreeEntry | undefined,
): TreeEntry | undefined {
  let entry: TreeEntry = { mode: MODE.tree, name: "", oid: root };
  for (const segment of segments) {
    // Links are not followed: what they point to is another machine's business.
    const next = isTree(entry) ? find(entry.oid, segment) : undefined;
    if (next === undefined) return undefined;
    entry = next;
  }
  return entry;
}

/** By name, which is not git's own order: there a directory counts as if it ended in a slash. */
export function list({ objects }: Store, tree: string, path: string): ListedEntry[] {
  const prefix = path === "" ? "" : `${path}/`;
  return parseTree(objects.read(tree, "tree"))
    .map((entry) => ({
      name: entry.name,
      path: prefix + entry.name,
      mode: shownMode(entry.mode),
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
function shownMode(mode: string): string {
  return mode.padStart(6, "0");
}
