// The stored part of the tree: what is not made up by another mount. Owner, group and mode are enforced as on Linux,
// directories included: without the right to search one, nothing below it can be reached, by whatever name.

import { type FileEntry, FileError, type FileStat } from "../hardware/filesystem.ts";
import { toHex } from "../lib/hex.ts";
import type { Mount, Who } from "./mount.ts";
import { ancestors, parentOf } from "./path.ts";

const READ = 4;
const WRITE = 2;
const SEARCH = 1;
const STICKY = 0o1000;
const FILE_MODE = 0o644;
const DIRECTORY_MODE = 0o755;
const PERMANENT = new Set(["/etc", "/home", "/root", "/tmp", "/var"]);

export type Node = {
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
  along(paths: readonly string[]): Map<string, Node>;
  children(path: string): Node[];
  below(path: string): Node[];
  inline(hash: string): Uint8Array | null;
};
export type NodeTable = NodeReads & { put(node: Node, parent: string, content: Uint8Array | null): void; remove(path: string): void };

export type TreeMeans = {
  reads: NodeReads;
  /** One transaction; resolves when it is durable. */
  change<T>(body: (table: NodeTable) => T): Promise<T>;
  /** Content too large for a row. */
  contents: {
    get(key: string, range?: { start: number; end: number }): Promise<Uint8Array | null>;
    put<T>(key: string, content: Uint8Array, name: () => Promise<T>): Promise<T>;
  };
  sha256(bytes: Uint8Array): Uint8Array;
  now(): number;
  inlineBytesMax: number;
};

export function treeMount(means: TreeMeans): Mount {
  const { reads, contents } = means;
  return {
    at: "/",
    async stat(who, path) {
      return statOf(reach(reads, who, path));
    },
    async list(who, path) {
      const node = reach(reads, who, path);
      if (node.kind !== "directory") throw new FileError("ENOTDIR", path);
      if (!may(who, node, READ)) throw new FileError("EACCES", path);
      return reads
        .children(path)
        .map((child): FileEntry => ({ name: child.path.slice(child.path.lastIndexOf("/") + 1), kind: child.kind }));
    },
    async read(who, path, range) {
      const node = reach(reads, who, path);
      if (node.kind === "directory") throw new FileError("EISDIR", path);
      if (!may(who, node, READ)) throw new FileError("EACCES", path);
      if (range?.ifVersion !== undefined && range.ifVersion !== node.hash) throw new FileError("ESTALE", path);
      const small = reads.inline(node.hash ?? "");
      if (small !== null) return range === undefined ? small : small.slice(range.start, range.end);
      const bytes = await contents.get(blobKey(node.hash ?? ""), range);
      if (bytes !== null) return bytes;
      // It may have been replaced or deleted while its content was being fetched.
      if (reads.along([path]).get(path)?.hash !== node.hash) throw new FileError("ESTALE", path);
      throw new Error(`The content of ${path} is missing from the blobs`);
    },
    async write(who, path, content, { ifVersion }) {
      mayPut(reads, who, path, ifVersion);
      const hash = toHex(means.sha256(content));
      const isSmall = content.length <= means.inlineBytesMax;
      const name = () =>
        means.change((table) => {
          // Once more inside: somebody may have been faster, or rights may have changed.
          who.mustStillMay();
          const there = mayPut(table, who, path, ifVersion);
          const modifiedAt = means.now();
          makeParents(table, who, path, modifiedAt);
          const { uid, gid, mode } = there ?? { uid: who.uid, gid: who.gid, mode: FILE_MODE };
          table.put(
            { path, kind: "file", uid, gid, mode, size: content.length, hash, modifiedAt },
            parentOf(path),
            isSmall ? content : null,
          );
        });
      await (isSmall ? name() : contents.put(blobKey(hash), content, name));
    },
    async remove(who, path) {
      await means.change((table) => {
        who.mustStillMay();
        mayRemove(table, who, path);
        table.remove(path);
      });
    },
  };
}

const KEY_PREFIX = "file-";

function blobKey(hash: string): string {
  return KEY_PREFIX + hash;
}

/** The hash behind a blob's key, or null where the blob is none of ours. */
export function hashOf(key: string): string | null {
  return key.startsWith(KEY_PREFIX) ? key.slice(KEY_PREFIX.length) : null;
}

function statOf(node: Node): FileStat {
  return { kind: node.kind, size: node.size, modifiedAt: node.modifiedAt, version: node.hash ?? "" };
}

/** The node, if every directory on the way may be searched. */
function reach(reads: NodeReads, who: Who, path: string): Node {
  const way = ancestors(path);
  const nodes = reads.along([...way, path]);
  for (const at of way) {
    const node = nodes.get(at);
    if (node === undefined) throw new FileError("ENOENT", path);
    if (node.kind !== "directory") throw new FileError("ENOTDIR", path);
    if (!may(who, node, SEARCH)) throw new FileError("EACCES", path);
  }
  const node = nodes.get(path);
  if (node === undefined) throw new FileError("ENOENT", path);
  return node;
}

/** What is there already, if this may be written; else why not. */
function mayPut(reads: NodeReads, who: Who, path: string, ifVersion: string | undefined): Node | undefined {
  const way = ancestors(path);
  const nodes = reads.along([...way, path]);
  let last: Node | undefined;
  for (const at of way) {
    const node = nodes.get(at);
    if (node === undefined) break;
    if (node.kind !== "directory") throw new FileError("ENOTDIR", path);
    if (!may(who, node, SEARCH)) throw new FileError("EACCES", path);
    last = node;
  }
  const there = nodes.get(path);
  if (there?.kind === "directory") throw new FileError("EISDIR", path);
  if (ifVersion !== undefined && there?.hash !== ifVersion) throw new FileError("ESTALE", path);
  if (!may(who, there ?? last ?? NOBODYS, WRITE)) throw new FileError("EACCES", path);
  return there;
}

const NOBODYS: Node = { path: "", kind: "directory", uid: 0, gid: 0, mode: 0, size: 0, hash: null, modifiedAt: 0 };

function makeParents(table: NodeTable, who: Who, path: string, now: number): void {
  const way = ancestors(path);
  const there = table.along(way);
  for (const at of way) {
    if (there.has(at)) continue;
    table.put(
      { path: at, kind: "directory", uid: who.uid, gid: who.gid, mode: DIRECTORY_MODE, size: 0, hash: null, modifiedAt: now },
      parentOf(at),
      null,
    );
  }
}

/** As rm -r, but all or nothing: what is in a directory must be listed, and each entry taken out of it. */
function mayRemove(reads: NodeReads, who: Who, path: string): void {
  const node = reach(reads, who, path);
  if (path === "/") throw new FileError("EPERM", path);
  mayTakeOut(who, reads.along([parentOf(path)]).get(parentOf(path)) ?? NOBODYS, node);
  // People's homes and the tree's own directories are not for removal; what is in them is.
  if (PERMANENT.has(path) || (parentOf(path) === "/home" && node.kind === "directory")) throw new FileError("EPERM", path);
  if (node.kind !== "directory") return;
  const directories = new Map([[path, node]]);
  for (const below of reads.below(path)) {
    if (below.kind === "directory") directories.set(below.path, below);
    const holder = directories.get(parentOf(below.path)) ?? NOBODYS;
    if (!may(who, holder, READ)) throw new FileError("EACCES", holder.path);
    mayTakeOut(who, holder, below);
  }
}

/** Changes the directory it is in; out of a sticky one only its owner, or the directory's, takes something. */
function mayTakeOut(who: Who, directory: Node, node: Node): void {
  if (!may(who, directory, WRITE | SEARCH)) throw new FileError("EACCES", node.path);
  const isSticky = (directory.mode & STICKY) !== 0;
  if (isSticky && who.uid !== 0 && who.uid !== node.uid && who.uid !== directory.uid) throw new FileError("EPERM", node.path);
}

/** Root may; else the owner's bits, or the group's, or everybody's: the first that applies, and only that one. */
function may(who: Who, node: Node, bits: number): boolean {
  if (who.uid === 0) return true;
  const shift = node.uid === who.uid ? 6 : who.gids.includes(node.gid) ? 3 : 0;
  return ((node.mode >> shift) & bits) === bits;
}
