// The stored part of the tree: what is not made up by another mount. Owner, group and mode are enforced as on Linux
// (rights.ts), directories included: without the right to search one, nothing below it can be reached, by whatever name.
// Rights are asked inside the transaction that needs them; a change before it is only an early refusal.

import { type Coming, type FileEntry, FileError, type FileStat, type Receipt } from "../hardware/filesystem.ts";
import { yieldToEventLoop } from "../lib/yield.ts";
import { concat } from "../lib/bytes.ts";
import { toHex } from "../lib/hex.ts";
import { KeyedMutex } from "../lib/keyed-mutex.ts";
import { ROW_BYTES } from "../lib/row-bytes.ts";
import { type Mount, mustFit, type Who } from "./mount.ts";
import { ancestors, parentOf } from "./path.ts";
import type { GrowingBlob } from "../ports/blobs.ts";
import { held } from "./receive.ts";
import { type PartRows, Uploads } from "./uploads.ts";
import {
  may,
  mayMakeDirectory,
  mayMove,
  mayPut,
  mayRemove,
  maySetMode,
  maySetModified,
  maySetOwner,
  type FileNode,
  type NodeReads,
  reach,
  READ,
} from "./rights.ts";

const FILE_MODE = 0o644;
const DIRECTORY_MODE = 0o755;
/** Of a directory in /home: it is somebody's, or will be when that user is created. */
const HOME_MODE = 0o750;
const MODE_MAX = 0o1777;
/** How often an append begins anew because the file was replaced meanwhile. */
const TRIES = 16;
/** A file is held whole while it grows: of those larger than this, one at a time for each user. */
const LARGE_BYTES = 8 * 1024 * 1024;
const LARGE_LIST = 500;

export type NodeTable = NodeReads & {
  put(node: FileNode, parent: string, content: Uint8Array | null): void;
  remove(path: string): void;
  move(from: string, to: string, parent: string): void;
};

export type TreeStorage = {
  reads: NodeReads;
  /** One transaction; resolves when it is durable. */
  change<T>(body: (table: NodeTable) => T): Promise<T>;
  /** Content too large for a row. */
  contents: {
    get(key: string, range?: { start: number; end: number }): Promise<Uint8Array | null>;
    put<T>(key: string, content: Uint8Array, name: () => Promise<T>): Promise<T>;
    grow(part: string): Promise<GrowingBlob>;
    finish<T>(key: string, grown: GrowingBlob, name: () => Promise<T>): Promise<T>;
  };
  /** Fails where so many bytes more are more than that user may store, unless the caller may do that. */
  mustHaveRoom(who: Who, uid: number, bytes: number, path: string): void;
  /** What comes in pieces counts from its beginning, with the size it is to have. */
  uploads: PartRows;
  /** A name nobody has. */
  uuid(): string;
  sha256(bytes: string | Uint8Array): Uint8Array;
  /** The same of what is large, in turns with others. */
  sha256Slowly(bytes: Uint8Array): Promise<Uint8Array>;
  now(): number;
  inlineBytesMax: number;
};

export type TreeMount = Mount & Required<Pick<Mount, "readHeads" | "receive">>;

export function treeMount(storage: TreeStorage): TreeMount {
  const { reads } = storage;
  const turns = { ofPath: new KeyedMutex(), ofLarge: new KeyedMutex(), ofLists: new KeyedMutex() };
  const uploads = new Uploads((part) => storage.contents.grow(part), storage.uploads);
  const change = (who: Who, body: (table: NodeTable) => void) =>
    storage.change((table) => {
      who.mustStillMay();
      body(table);
    });
  const alter = (table: NodeTable, node: FileNode, differences: Partial<FileNode>) =>
    table.put({ ...node, ...differences }, parentOf(node.path), null);
  return {
    at: "/",
    async stat(who, path) {
      return statOf(reach(reads, who, path));
    },
    list: (who, path) =>
      turns.ofLists.run(String(who.uid), async () => {
        const entries = listed(reads, who, path);
        // Whoever asks for many such lists at once gets one a turn.
        if (entries.length > LARGE_LIST) await yieldToEventLoop();
        return entries;
      }),
    async read(who, path, range) {
      const node = readable(reads, who, path);
      if (range?.ifVersion !== undefined && range.ifVersion !== node.hash) throw new FileError("ESTALE", path);
      mustFit(path, Math.min(node.size, range?.end ?? Infinity) - (range?.start ?? 0));
      return contentOf(storage, node, range);
    },
    async readHeads(who, paths, bytes) {
      const nodes = reads.along([...new Set(paths.flatMap((path) => [...ancestors(path), path]))]);
      const found = paths.map((path) => {
        try {
          return readable({ along: () => nodes }, who, path);
        } catch (error) {
          if (error instanceof FileError) return null;
          throw error;
        }
      });
      const small = reads.inlines(found.flatMap((node) => node?.hash ?? []));
      const headOf = async (node: FileNode | null) => {
        const content = small.get(node?.hash ?? "");
        if (content !== undefined) return content.slice(0, bytes);
        return node === null ? null : contentOf(storage, node, { start: 0, end: bytes }).catch(() => null);
      };
      return Promise.all(found.map(headOf));
    },
    async write(who, path, content, { ifVersion }) {
      await put(storage, who, path, content, ifVersion);
    },
    receive: (who, path, coming) => receive(storage, uploads, who, path, coming),
    append: (who, path, content) => turns.ofPath.run(path, () => append(storage, turns.ofLarge, who, path, content)),
    async remove(who, path) {
      await change(who, (table) => {
        mayRemove(table, who, path);
        table.remove(path);
      });
    },
    async makeDirectory(who, path) {
      await change(who, (table) => {
        mayMakeDirectory(table, who, path);
        storage.mustHaveRoom(who, who.uid, ROW_BYTES, path);
        table.put(newDirectory(who, path, storage.now()), parentOf(path), null);
      });
    },
    async rename(who, from, to) {
      await change(who, (table) => {
        const replaced = mayMove(table, who, from, to);
        if (from === to) return;
        if (replaced !== undefined) table.remove(to);
        table.move(from, to, parentOf(to));
      });
    },
    async setMode(who, path, mode) {
      if (!isWithin(mode, MODE_MAX)) throw new FileError("EINVAL", path, "A mode is between 0000 and 1777");
      await change(who, (table) => alter(table, maySetMode(table, who, path), { mode }));
    },
    async setOwner(who, path, uid, gid) {
      const isId = (id: number | null) => id === null || isWithin(id, ID_MAX);
      if (!isId(uid) || !isId(gid)) throw new FileError("EINVAL", path, "Users and groups are whole numbers from 0");
      await change(who, (table) => {
        const node = maySetOwner(table, who, path, uid, gid);
        if (uid !== null && uid !== node.uid) storage.mustHaveRoom(who, uid, node.size + ROW_BYTES, path);
        alter(table, node, { uid: uid ?? node.uid, gid: gid ?? node.gid });
      });
    },
    async setModified(who, path, ms) {
      if (!isWithin(ms, Number.MAX_SAFE_INTEGER)) throw new FileError("EINVAL", path, "A time is whole milliseconds since 1970");
      await change(who, (table) => alter(table, maySetModified(table, who, path), { modifiedAt: ms }));
    },
  };
}

const ID_MAX = 0x7fff_ffff;

function isWithin(value: number, max: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= max;
}

const KEY_PREFIX = "file-";

export function blobKey(hash: string): string {
  return KEY_PREFIX + hash;
}

/** The hash behind a blob's key, or null where the blob is none of ours. */
export function hashOf(key: string): string | null {
  return key.startsWith(KEY_PREFIX) ? key.slice(KEY_PREFIX.length) : null;
}

function statOf({ kind, size, modifiedAt, mode, uid, gid, hash }: FileNode): FileStat {
  return { kind, size, modifiedAt, mode, uid, gid, version: hash ?? "" };
}

function listed(reads: NodeReads, who: Who, path: string): FileEntry[] {
  const node = reach(reads, who, path);
  if (node.kind !== "directory") throw new FileError("ENOTDIR", path);
  if (!may(who, node, READ)) throw new FileError("EACCES", path);
  return reads.children(path).map((child): FileEntry => ({ name: child.path.slice(child.path.lastIndexOf("/") + 1), kind: child.kind }));
}

function readable(reads: Pick<NodeReads, "along">, who: Who, path: string): FileNode {
  const node = reach(reads, who, path);
  if (node.kind === "directory") throw new FileError("EISDIR", path);
  if (!may(who, node, READ)) throw new FileError("EACCES", path);
  return node;
}

async function contentOf({ reads, contents }: TreeStorage, node: FileNode, range?: { start: number; end: number }): Promise<Uint8Array> {
  const hash = node.hash ?? "";
  const small = reads.inline(hash);
  if (small !== null) return range === undefined ? small : small.slice(range.start, range.end);
  const bytes = await contents.get(blobKey(hash), range);
  if (bytes !== null) return bytes;
  // It may have been replaced or deleted while its content was being fetched.
  if (reads.along([node.path]).get(node.path)?.hash !== node.hash) throw new FileError("ESTALE", node.path);
  throw new Error(`The content of ${node.path} is missing from the blobs`);
}

/** What is there keeps its owner and mode; `mode` is for a new file. `ifVersion` null: only where nothing is. */
async function put(
  storage: TreeStorage,
  who: Who,
  path: string,
  content: Uint8Array,
  ifVersion: string | null | undefined,
  mode?: number,
): Promise<void> {
  // Before anything is stored.
  const there = mayPut(storage.reads, who, path, ifVersion);
  storage.mustHaveRoom(who, there?.uid ?? who.uid, growth(there, content.length), path);
  const isSmall = content.length <= storage.inlineBytesMax;
  const hash = toHex(isSmall ? storage.sha256(content) : await storage.sha256Slowly(content));
  const name = () => naming(storage, who, path, { hash, size: content.length, inline: isSmall ? content : null, ifVersion, mode });
  await (isSmall ? name() : storage.contents.put(blobKey(hash), content, name));
}

type Named = {
  hash: string;
  size: number;
  inline: Uint8Array | null;
  ifVersion?: string | null | undefined;
  mode?: number | undefined;
  /** What it has grown in. */
  part?: string;
};

function growth(there: FileNode | undefined, size: number): number {
  return there === undefined ? size + ROW_BYTES : size - there.size;
}

/** The row that makes content a file. */
function naming(storage: TreeStorage, who: Who, path: string, { hash, size, inline, ifVersion, mode: wanted, part }: Named): Promise<void> {
  return storage.change((table) => {
    // Once more inside: somebody may have been faster, or rights may have changed.
    who.mustStillMay();
    const there = mayPut(table, who, path, ifVersion);
    const modifiedAt = storage.now();
    makeParents(table, who, path, modifiedAt);
    const { uid, gid, mode } = there ?? { uid: who.uid, gid: who.gid, mode: wanted ?? FILE_MODE };
    if (part !== undefined) storage.uploads.drop(part);
    storage.mustHaveRoom(who, uid, growth(there, size), path);
    table.put({ path, kind: "file", uid, gid, mode, size, hash, modifiedAt }, parentOf(path), inline);
  });
}

/** What is large grows in Blobs, so that nobody holds all of it. */
async function receive(storage: TreeStorage, uploads: Uploads, who: Who, path: string, coming: Coming): Promise<Receipt> {
  mayPut(storage.reads, who, path, undefined);
  if (coming.size <= storage.inlineBytesMax)
    return held(path, coming, (content) => put(storage, who, path, content, undefined, coming.mode));
  const part = `part-${toHex(storage.sha256(JSON.stringify([who.uid, path, coming.size, coming.tag ?? storage.uuid()])))}`;
  const mustHaveRoom = (bytes: number) => storage.mustHaveRoom(who, who.uid, bytes, path);
  const { grown, leave, end } = await uploads.begin(part, who.uid, path, coming.size, mustHaveRoom);
  const have = grown.size;
  return {
    have,
    read: (start, end) => grown.read(start, end),
    write: (chunk) => grown.write(chunk),
    async finish(sha256) {
      const name = () => naming(storage, who, path, { hash: sha256, size: coming.size, inline: null, mode: coming.mode, part });
      await storage.contents.finish(blobKey(sha256), grown, name).finally(end);
    },
    leave,
  };
}

async function append(storage: TreeStorage, large: KeyedMutex, who: Who, path: string, content: Uint8Array): Promise<void> {
  for (let tries = 1; ; tries++) {
    const there = mayPut(storage.reads, who, path, undefined);
    const size = (there?.size ?? 0) + content.length;
    mustFit(path, size);
    const grow = async () => {
      const before = there === undefined ? new Uint8Array() : await contentOf(storage, there);
      await put(storage, who, path, concat([before, content]), there?.hash ?? null);
    };
    try {
      return await (size > LARGE_BYTES ? large.run(String(who.uid), grow) : grow());
    } catch (error) {
      if (!(error instanceof FileError) || error.code !== "ESTALE" || tries === TRIES) throw error;
    }
  }
}

function makeParents(table: NodeTable, who: Who, path: string, now: number): void {
  const way = ancestors(path);
  const there = table.along(way);
  for (const at of way) if (!there.has(at)) table.put(newDirectory(who, at, now), parentOf(at), null);
}

function newDirectory({ uid, gid }: Who, path: string, modifiedAt: number): FileNode {
  const mode = parentOf(path) === "/home" ? HOME_MODE : DIRECTORY_MODE;
  return { path, kind: "directory", uid, gid, mode, size: 0, hash: null, modifiedAt };
}
