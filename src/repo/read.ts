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
  let entry: TreeEntry = { mode: MODE.tree, name: "", oid: store.history.node(store.refs.resolve(ref)).tree };
  for (const segment of segments) {
    // Links are not followed: what they point to is another machine's business.
    if (!isTree(entry)) return undefined;
    const next = findEntry(store.objects.read(entry.oid, "tree"), segment);
    if (next === undefined) return undefined;
    entry = next;
  }
  const found: Found = { path: segments.join("/"), mode: shownMode(entry.mode), hash: entry.oid, type: typeOf(entry) };
  if (found.type !== "tree") found.size = store.objects.stored(entry.oid)?.size ?? 0;
  return found;
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
