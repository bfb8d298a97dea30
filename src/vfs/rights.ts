// Rights in the stored tree: owner, group and mode as on Linux, directories included. Every function reads rows and either
// returns or throws the FileError that Linux would give. Nothing here changes rows; tree.ts does that.

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

/** Read access to the kernel's rows. */
export type NodeReads = {
  getAll(paths: readonly string[]): Map<string, FileNode>;
  listChildren(path: string): FileNode[];
  listBelow(path: string): FileNode[];
  longestPathBytes(path: string): number;
  readInline(hash: string): Uint8Array | null;
  readInlines(hashes: readonly string[]): Map<string, Uint8Array>;
};

/** Root may do everything. For others only the first class that applies counts: owner, group or others. */
export function mayAccess(who: Who, node: FileNode, bits: number): boolean {
  if (who.uid === 0) return true;
  const shift = node.uid === who.uid ? 6 : who.gids.includes(node.gid) ? 3 : 0;
  return ((node.mode >> shift) & bits) === bits;
}

/** The node; throws unless it exists and the caller may search every directory on the way. */
export function requireNode(reads: Pick<NodeReads, "getAll">, who: Who, path: string): FileNode {
  return findNode(reads, who, path) ?? raise("ENOENT", path);
}

/** The existing file, if the path may be written; throws otherwise. `ifVersion` null: there must be no file. */
export function checkMayPut(reads: NodeReads, who: Who, path: string, ifVersion: string | null | undefined): FileNode | undefined {
  const ancestorPaths = ancestors(path);
  const nodes = reads.getAll([...ancestorPaths, path]);
  let last: FileNode | undefined;
  for (const at of ancestorPaths) {
    const node = nodes.get(at);
    if (node === undefined) break;
    checkMaySearch(who, node, path);
    last = node;
  }
  const existing = nodes.get(path);
  if (existing?.kind === "directory") throw new FileError("EISDIR", path);
  if (ifVersion !== undefined && (existing?.hash ?? null) !== ifVersion) throw new FileError("ESTALE", path);
  if (!mayAccess(who, existing ?? last ?? NO_ACCESS, WRITE)) throw new FileError("EACCES", path);
  return existing;
}

export function checkMayMakeDirectory(reads: NodeReads, who: Who, path: string): void {
  if (findNode(reads, who, path) !== undefined) throw new FileError("EEXIST", path);
  if (!mayAccess(who, parentNode(reads, path), WRITE | SEARCH)) throw new FileError("EACCES", path);
}

/** As rm -r, but all or nothing: the caller must be able to list every directory and to remove each entry. */
export function checkMayRemove(reads: NodeReads, who: Who, path: string): void {
  const node = requireNode(reads, who, path);
  if (path === "/") throw new FileError("EPERM", path);
  checkMayRemoveEntry(who, parentNode(reads, path), node);
  if (isPermanent(node)) throw new FileError("EPERM", path);
  if (node.kind !== "directory") return;
  const directories = new Map([[path, node]]);
  for (const below of reads.listBelow(path)) {
    if (below.kind === "directory") directories.set(below.path, below);
    const parent = directories.get(parentOf(below.path)) ?? NO_ACCESS;
    if (!mayAccess(who, parent, READ)) throw new FileError("EACCES", parent.path);
    checkMayRemoveEntry(who, parent, below);
  }
}

/** The node that is replaced at `to`, or undefined. Both parents change, so the caller must be able to write both. */
export function checkMayMove(reads: NodeReads, who: Who, from: string, to: string): FileNode | undefined {
  if (from === "/" || to === "/") throw new FileError("EPERM", from);
  const node = requireNode(reads, who, from);
  const existing = findNode(reads, who, to);
  if (from === to) return existing;
  if (to.startsWith(`${from}/`)) throw new FileError("EINVAL", to, `${from} cannot be moved into itself`);
  if (from.startsWith(`${to}/`)) throw new FileError("ENOTEMPTY", to);
  const parent = parentNode(reads, to);
  checkMayRemoveEntry(who, parentNode(reads, from), node);
  if (isPermanent(node)) throw new FileError("EPERM", from);
  if (existing === undefined) {
    if (!mayAccess(who, parent, WRITE | SEARCH)) throw new FileError("EACCES", to);
  } else {
    checkMayRemoveEntry(who, parent, existing);
    if (isPermanent(existing)) throw new FileError("EPERM", to);
    if (existing.kind === "directory" && node.kind === "file") throw new FileError("EISDIR", to);
    if (existing.kind === "file" && node.kind === "directory") throw new FileError("ENOTDIR", to);
  }
  // Moving a directory to another parent changes the directory itself, because its `..` changes.
  const changesParent = parentOf(from) !== parentOf(to);
  if (node.kind === "directory" && changesParent && !mayAccess(who, node, WRITE)) throw new FileError("EACCES", from);
  if (existing?.kind === "directory" && reads.listChildren(to).length > 0) throw new FileError("ENOTEMPTY", to);
  // The paths of all descendants must stay within the limit.
  const byteLength = (path: string) => new TextEncoder().encode(path).length;
  if (node.kind === "directory" && reads.longestPathBytes(from) - byteLength(from) + byteLength(to) > PATH_BYTES_MAX)
    throw new FileError("ENAMETOOLONG", to);
  return existing;
}

export function checkMaySetMode(reads: NodeReads, who: Who, path: string): FileNode {
  const node = requireNode(reads, who, path);
  if (who.uid !== 0 && who.uid !== node.uid) throw new FileError("EPERM", path, "Only its owner and root can change its mode");
  return node;
}

/** Only root may change the owner; an owner may choose among their own groups. */
export function checkMaySetOwner(reads: NodeReads, who: Who, path: string, uid: number | null, gid: number | null): FileNode {
  const node = requireNode(reads, who, path);
  const keepsUid = uid === null || (uid === node.uid && who.uid === node.uid);
  const keepsGid = gid === null || (who.uid === node.uid && (gid === node.gid || who.gids.includes(gid)));
  if (who.uid !== 0 && !(keepsUid && keepsGid)) throw new FileError("EPERM", path, "Only root can change its owner");
  return node;
}

export function checkMaySetModified(reads: NodeReads, who: Who, path: string): FileNode {
  const node = requireNode(reads, who, path);
  if (who.uid !== node.uid && !mayAccess(who, node, WRITE)) throw new FileError("EACCES", path);
  return node;
}

/** The node, or undefined. The parent must exist, and the caller must be able to search every directory on the way. */
function findNode(reads: Pick<NodeReads, "getAll">, who: Who, path: string): FileNode | undefined {
  const ancestorPaths = ancestors(path);
  const nodes = reads.getAll([...ancestorPaths, path]);
  for (const at of ancestorPaths) checkMaySearch(who, nodes.get(at) ?? raise("ENOENT", path), path);
  return nodes.get(path);
}

function checkMaySearch(who: Who, node: FileNode, path: string): void {
  if (node.kind !== "directory") throw new FileError("ENOTDIR", path);
  if (!mayAccess(who, node, SEARCH)) throw new FileError("EACCES", path);
}

/** Removing an entry writes its directory. From a sticky one only the owner of the entry or the directory may remove it. */
function checkMayRemoveEntry(who: Who, directory: FileNode, node: FileNode): void {
  if (!mayAccess(who, directory, WRITE | SEARCH)) throw new FileError("EACCES", node.path);
  const isSticky = (directory.mode & STICKY) !== 0;
  if (isSticky && who.uid !== 0 && who.uid !== node.uid && who.uid !== directory.uid) throw new FileError("EPERM", node.path);
}

/** Homes and the tree's own directories cannot be removed; their content can. */
function isPermanent({ path, kind }: FileNode): boolean {
  return PERMANENT.has(path) || (parentOf(path) === "/home" && kind === "directory");
}

function parentNode(reads: NodeReads, path: string): FileNode {
  return reads.getAll([parentOf(path)]).get(parentOf(path)) ?? NO_ACCESS;
}

const NO_ACCESS: FileNode = { path: "", kind: "directory", uid: 0, gid: 0, mode: 0, size: 0, hash: null, modifiedAt: 0 };

function raise(code: "ENOENT", path: string): never {
  throw new FileError(code, path);
}
