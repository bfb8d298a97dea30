// Who may do what in the stored tree: owner, group and mode as on Linux, directories included. Every function looks at
// rows and either answers or throws the FileError Linux would give. Changes nothing; tree.ts does.

import { FileError } from "../hardware/filesystem.ts";
import type { Who } from "./mount.ts";
import { ancestors, parentOf, PATH_BYTES_MAX } from "./path.ts";

export const READ = 4;
const WRITE = 2;
export const SEARCH = 1;
const STICKY = 0o1000;
const PERMANENT = new Set(["/", "/etc", "/home", "/root", "/tmp", "/var"]);

export type FileNode = {
  path: string;
  kind: "file" | "directory";
  uid: number;
  gid: number;
  mode: number;
  size: number;
  hash: string | null;
  modifiedAt: number;
};

/** The rows, as the kernel keeps them. */
export type NodeReads = {
  along(paths: readonly string[]): Map<string, FileNode>;
  children(path: string): FileNode[];
  below(path: string): FileNode[];
  longestBelow(path: string): number;
  inline(hash: string): Uint8Array | null;
  inlines(hashes: readonly string[]): Map<string, Uint8Array>;
};

/** Root may; else the owner's bits, or the group's, or everybody's: the first that applies, and only that one. */
export function may(who: Who, node: FileNode, bits: number): boolean {
  if (who.uid === 0) return true;
  const shift = node.uid === who.uid ? 6 : who.gids.includes(node.gid) ? 3 : 0;
  return ((node.mode >> shift) & bits) === bits;
}

/** The node, if every directory on the way may be searched. */
export function reach(reads: Pick<NodeReads, "along">, who: Who, path: string): FileNode {
  return lookUp(reads, who, path) ?? raise("ENOENT", path);
}

/** What is there already, if this may be written; else why not. `ifVersion` null: only where nothing is. */
export function mayPut(reads: NodeReads, who: Who, path: string, ifVersion: string | null | undefined): FileNode | undefined {
  const way = ancestors(path);
  const nodes = reads.along([...way, path]);
  let last: FileNode | undefined;
  for (const at of way) {
    const node = nodes.get(at);
    if (node === undefined) break;
    maySearch(who, node, path);
    last = node;
  }
  const there = nodes.get(path);
  if (there?.kind === "directory") throw new FileError("EISDIR", path);
  if (ifVersion !== undefined && (there?.hash ?? null) !== ifVersion) throw new FileError("ESTALE", path);
  if (!may(who, there ?? last ?? NOBODYS, WRITE)) throw new FileError("EACCES", path);
  return there;
}

export function mayMakeDirectory(reads: NodeReads, who: Who, path: string): void {
  if (lookUp(reads, who, path) !== undefined) throw new FileError("EEXIST", path);
  if (!may(who, holderOf(reads, path), WRITE | SEARCH)) throw new FileError("EACCES", path);
}

/** As rm -r, but all or nothing: what is in a directory must be listed, and each entry taken out of it. */
export function mayRemove(reads: NodeReads, who: Who, path: string): void {
  const node = reach(reads, who, path);
  if (path === "/") throw new FileError("EPERM", path);
  mayTakeOut(who, holderOf(reads, path), node);
  if (isPermanent(node)) throw new FileError("EPERM", path);
  if (node.kind !== "directory") return;
  const directories = new Map([[path, node]]);
  for (const below of reads.below(path)) {
    if (below.kind === "directory") directories.set(below.path, below);
    const holder = directories.get(parentOf(below.path)) ?? NOBODYS;
    if (!may(who, holder, READ)) throw new FileError("EACCES", holder.path);
    mayTakeOut(who, holder, below);
  }
}

/** What is replaced at `to`, or undefined where nothing is. Both parents change, so both must allow it. */
export function mayMove(reads: NodeReads, who: Who, from: string, to: string): FileNode | undefined {
  if (from === "/" || to === "/") throw new FileError("EPERM", from);
  const node = reach(reads, who, from);
  const there = lookUp(reads, who, to);
  if (from === to) return there;
  if (to.startsWith(`${from}/`)) throw new FileError("EINVAL", to, `${from} cannot be moved into itself`);
  if (from.startsWith(`${to}/`)) throw new FileError("ENOTEMPTY", to);
  const holder = holderOf(reads, to);
  mayTakeOut(who, holderOf(reads, from), node);
  if (isPermanent(node)) throw new FileError("EPERM", from);
  if (there === undefined) {
    if (!may(who, holder, WRITE | SEARCH)) throw new FileError("EACCES", to);
  } else {
    mayTakeOut(who, holder, there);
    if (isPermanent(there)) throw new FileError("EPERM", to);
    if (there.kind === "directory" && node.kind === "file") throw new FileError("EISDIR", to);
    if (there.kind === "file" && node.kind === "directory") throw new FileError("ENOTDIR", to);
  }
  // A directory that changes its parent is itself changed: its `..` leads elsewhere.
  const isElsewhere = parentOf(from) !== parentOf(to);
  if (node.kind === "directory" && isElsewhere && !may(who, node, WRITE)) throw new FileError("EACCES", from);
  if (there?.kind === "directory" && reads.children(to).length > 0) throw new FileError("ENOTEMPTY", to);
  // What is below must stay within reach under its new name.
  const bytesOf = (path: string) => new TextEncoder().encode(path).length;
  if (node.kind === "directory" && reads.longestBelow(from) - bytesOf(from) + bytesOf(to) > PATH_BYTES_MAX)
    throw new FileError("ENAMETOOLONG", to);
  return there;
}

export function maySetMode(reads: NodeReads, who: Who, path: string): FileNode {
  const node = reach(reads, who, path);
  if (who.uid !== 0 && who.uid !== node.uid) throw new FileError("EPERM", path, "Only its owner and root change its mode");
  return node;
}

/** Giving away is root's; an owner may choose among their own groups. */
export function maySetOwner(reads: NodeReads, who: Who, path: string, uid: number | null, gid: number | null): FileNode {
  const node = reach(reads, who, path);
  const keepsUid = uid === null || (uid === node.uid && who.uid === node.uid);
  const keepsGid = gid === null || (who.uid === node.uid && (gid === node.gid || who.gids.includes(gid)));
  if (who.uid !== 0 && !(keepsUid && keepsGid)) throw new FileError("EPERM", path, "Only root changes whose it is");
  return node;
}

export function maySetModified(reads: NodeReads, who: Who, path: string): FileNode {
  const node = reach(reads, who, path);
  if (who.uid !== node.uid && !may(who, node, WRITE)) throw new FileError("EACCES", path);
  return node;
}

/** Step by step to what is there, if anything; what it is in must be there. */
function lookUp(reads: Pick<NodeReads, "along">, who: Who, path: string): FileNode | undefined {
  const way = ancestors(path);
  const nodes = reads.along([...way, path]);
  for (const at of way) maySearch(who, nodes.get(at) ?? raise("ENOENT", path), path);
  return nodes.get(path);
}

function maySearch(who: Who, node: FileNode, path: string): void {
  if (node.kind !== "directory") throw new FileError("ENOTDIR", path);
  if (!may(who, node, SEARCH)) throw new FileError("EACCES", path);
}

/** Changes the directory it is in; out of a sticky one only its owner, or the directory's, takes something. */
function mayTakeOut(who: Who, directory: FileNode, node: FileNode): void {
  if (!may(who, directory, WRITE | SEARCH)) throw new FileError("EACCES", node.path);
  const isSticky = (directory.mode & STICKY) !== 0;
  if (isSticky && who.uid !== 0 && who.uid !== node.uid && who.uid !== directory.uid) throw new FileError("EPERM", node.path);
}

/** People's homes and the tree's own directories stay; what is in them goes. */
function isPermanent({ path, kind }: FileNode): boolean {
  return PERMANENT.has(path) || (parentOf(path) === "/home" && kind === "directory");
}

function holderOf(reads: NodeReads, path: string): FileNode {
  return reads.along([parentOf(path)]).get(parentOf(path)) ?? NOBODYS;
}

const NOBODYS: FileNode = { path: "", kind: "directory", uid: 0, gid: 0, mode: 0, size: 0, hash: null, modifiedAt: 0 };

function raise(code: "ENOENT", path: string): never {
  throw new FileError(code, path);
}
