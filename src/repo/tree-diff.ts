// Which files differ between two trees. Directories with the same hash are not read.

import type { Objects } from "./objects.ts";
import { compareEntries, isTree, parseTree, type TreeEntry } from "./tree.ts";

type Side = { mode: string; oid: string };
export type ChangedFile = { path: string; before?: Side; after?: Side };

const DEPTH_MAX = 256;
/** A few small trees that contain each other can expand to any number of directories without a file. */
const ENTRIES_MAX = 200_000;
/** Reading a tree takes as long as comparing this many entries. */
const TREE_COST_ENTRIES = 20;

/** Returns at most `filesMax` files; `isCut` means that there are more. */
export function findChangedFiles(
  objects: Objects,
  before: string | null,
  after: string | null,
  filesMax: number,
): { files: ChangedFile[]; isCut: boolean } {
  const files: ChangedFile[] = [];
  let isCut = false;
  let entries = 0;

  function visit(path: string, old: TreeEntry | undefined, now: TreeEntry | undefined, depth: number): void {
    if (isCut) return;
    if (old !== undefined && now !== undefined && old.oid === now.oid && old.mode === now.mode) return;
    const oldTree = old !== undefined && isTree(old) ? old.oid : null;
    const nowTree = now !== undefined && isTree(now) ? now.oid : null;
    if (oldTree !== null || nowTree !== null) compare(`${path}/`, oldTree, nowTree, depth + 1);
    const file: ChangedFile = { path };
    if (old !== undefined && oldTree === null) file.before = { mode: old.mode, oid: old.oid };
    if (now !== undefined && nowTree === null) file.after = { mode: now.mode, oid: now.oid };
    if (file.before === undefined && file.after === undefined) return;
    if (files.length === filesMax) isCut = true;
    else files.push(file);
  }

  function compare(prefix: string, old: string | null, now: string | null, depth: number): void {
    if (depth > DEPTH_MAX) isCut = true;
    if (isCut) return;
    entries += TREE_COST_ENTRIES;
    const left = old === null ? [] : parseTree(objects.read(old, "tree"));
    const right = now === null ? [] : parseTree(objects.read(now, "tree"));
    let i = 0;
    let j = 0;
    while (!isCut && (i < left.length || j < right.length)) {
      if (++entries > ENTRIES_MAX) isCut = true;
      const a = left[i];
      const b = right[j];
      const order = a === undefined ? 1 : b === undefined ? -1 : compareEntries(a, b);
      if (order <= 0) i++;
      if (order >= 0) j++;
      visit(prefix + (order <= 0 ? a! : b!).name, order <= 0 ? a : undefined, order >= 0 ? b : undefined, depth);
    }
  }

  if (before !== after) compare("", before, after, 0);
  return { files, isCut };
}
