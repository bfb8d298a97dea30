// The stored part of the tree: everything that no other mount computes. Owner, group and mode are enforced as on Linux
// (rights.ts), directories included: without the right to search a directory, no path below it can be reached. Rights are
// checked inside the transaction that needs them; a check before it only refuses early.

import { type IncomingFile, type FileEntry, FileError, type FileStat, type FileReceiver } from "../hardware/filesystem.ts";
import { yieldToEventLoop } from "../lib/yield.ts";
import { concat } from "../lib/bytes.ts";
import { toHex } from "../lib/hex.ts";
import { KeyedMutex } from "../lib/keyed-mutex.ts";
import { ROW_BYTES } from "../lib/row-bytes.ts";
import { type Mount, mustFit, type Who } from "./mount.ts";
import { ancestors, parentOf } from "./path.ts";
import type { GrowingBlob } from "../ports/blobs.ts";
import { receiveInMemory } from "./receive.ts";
import { type PartRows, Uploads } from "./uploads.ts";
import {
  mayAccess,
  checkMayMakeDirectory,
  checkMayMove,
  checkMayPut,
  checkMayRemove,
  checkMaySetMode,
  checkMaySetModified,
  checkMaySetOwner,
  type FileNode,
  type NodeReads,
  requireNode,
  READ,
} from "./rights.ts";

const FILE_MODE = 0o644;
const DIRECTORY_MODE = 0o755;
/** For directories in /home: each is somebody's home, or will be when that user is created. */
const HOME_MODE = 0o750;
const MODE_MAX = 0o1777;
/** How often an append is retried because the file was replaced meanwhile. */
const APPEND_TRIES = 16;
/** An append holds the whole file in memory, so each user may grow only one file above this size at a time. */
const LARGE_BYTES = 8 * 1024 * 1024;
const LARGE_LIST = 500;

export type NodeTable = NodeReads & {
  put(node: FileNode, parent: string, content: Uint8Array | null): void;
  remove(path: string): void;
  move(from: string, to: string, parent: string): void;
};

export type TreeStorage = {
  reads: NodeReads;
  /** Runs one transaction; resolves when it is durable. */
  transact<T>(body: (table: NodeTable) => T): Promise<T>;
  /** Content that is too large for a row. */
  contents: {
    get(key: string, range?: { start: number; end: number }): Promise<Uint8Array | null>;
    put<T>(key: string, content: Uint8Array, name: () => Promise<T>): Promise<T>;
    openGrowing(part: string): Promise<GrowingBlob>;
    putGrown<T>(key: string, grown: GrowingBlob, name: () => Promise<T>): Promise<T>;
  };
  /** Fails if that many additional bytes exceed the quota of the user, unless the caller may exceed it. */
  mustHaveRoom(who: Who, uid: number, bytes: number, path: string): void;
  /** An upload counts from its start, with its final size. */
  uploads: PartRows;
  /** A new unique name. */
  uuid(): string;
  sha256(bytes: string | Uint8Array): Uint8Array;
  /** The same for large content; yields to the event loop. */
  sha256Async(bytes: Uint8Array): Promise<Uint8Array>;
  now(): number;
  inlineBytesMax: number;
};

export type TreeMount = Mount & Required<Pick<Mount, "readFirstBytes" | "receive">>;

export function makeTreeMount(storage: TreeStorage): TreeMount {
  const { reads } = storage;
  const mutexes = { paths: new KeyedMutex(), largeFiles: new KeyedMutex(), lists: new KeyedMutex() };
  const uploads = new Uploads((part) => storage.contents.openGrowing(part), storage.uploads);
  const change = (who: Who, body: (table: NodeTable) => void) =>
    storage.transact((table) => {
      who.checkStillAllowed();
      body(table);
    });
  const updateNode = (table: NodeTable, node: FileNode, changes: Partial<FileNode>) =>
    table.put({ ...node, ...changes }, parentOf(node.path), null);
  return {
    at: "/",
    async stat(who, path) {
      return toStat(requireNode(reads, who, path));
    },
    list: (who, path) =>
      mutexes.lists.run(String(who.uid), async () => {
        const entries = listEntries(reads, who, path);
        // A caller who asks for many large lists at once gets one per turn of the event loop.
        if (entries.length > LARGE_LIST) await yieldToEventLoop();
        return entries;
      }),
    async read(who, path, range) {
      const node = requireReadable(reads, who, path);
      if (range?.ifVersion !== undefined && range.ifVersion !== node.hash) throw new FileError("ESTALE", path);
      mustFit(path, Math.min(node.size, range?.end ?? Infinity) - (range?.start ?? 0));
      return readContent(storage, node, range);
    },
    async readFirstBytes(who, paths, bytes) {
      const nodes = reads.getAll([...new Set(paths.flatMap((path) => [...ancestors(path), path]))]);
      const found = paths.map((path) => {
        try {
          return requireReadable({ getAll: () => nodes }, who, path);
        } catch (error) {
          if (error instanceof FileError) return null;
          throw error;
        }
      });
      const small = reads.readInlines(found.flatMap((node) => node?.hash ?? []));
      const readFirstBytesOf = async (node: FileNode | null) => {
        const content = small.get(node?.hash ?? "");
        if (content !== undefined) return content.slice(0, bytes);
        return node === null ? null : readContent(storage, node, { start: 0, end: bytes }).catch(() => null);
      };
      return Promise.all(found.map(readFirstBytesOf));
    },
    async write(who, path, content, { ifVersion }) {
      await putFile(storage, who, path, content, ifVersion);
    },
    receive: (who, path, coming) => receive(storage, uploads, who, path, coming),
    append: (who, path, content) => mutexes.paths.run(path, () => append(storage, mutexes.largeFiles, who, path, content)),
    async remove(who, path) {
      await change(who, (table) => {
        checkMayRemove(table, who, path);
        table.remove(path);
      });
    },
    async makeDirectory(who, path) {
      await change(who, (table) => {
        checkMayMakeDirectory(table, who, path);
        storage.mustHaveRoom(who, who.uid, ROW_BYTES, path);
        table.put(makeDirectoryNode(who, path, storage.now()), parentOf(path), null);
      });
    },
    async rename(who, from, to) {
      await change(who, (table) => {
        const replaced = checkMayMove(table, who, from, to);
        if (from === to) return;
        if (replaced !== undefined) table.remove(to);
        table.move(from, to, parentOf(to));
      });
    },
    async setMode(who, path, mode) {
      if (!isWithin(mode, MODE_MAX)) throw new FileError("EINVAL", path, "A mode must be between 0000 and 1777");
      await change(who, (table) => updateNode(table, checkMaySetMode(table, who, path), { mode }));
    },
    async setOwner(who, path, uid, gid) {
      const isId = (id: number | null) => id === null || isWithin(id, ID_MAX);
      if (!isId(uid) || !isId(gid)) throw new FileError("EINVAL", path, "A uid or gid must be a non-negative integer");
      await change(who, (table) => {
        const node = checkMaySetOwner(table, who, path, uid, gid);
        if (uid !== null && uid !== node.uid) storage.mustHaveRoom(who, uid, node.size + ROW_BYTES, path);
        updateNode(table, node, { uid: uid ?? node.uid, gid: gid ?? node.gid });
      });
    },
    async setModified(who, path, ms) {
      if (!isWithin(ms, Number.MAX_SAFE_INTEGER)) throw new FileError("EINVAL", path, "A time must be whole milliseconds since 1970");
      await change(who, (table) => updateNode(table, checkMaySetModified(table, who, path), { modifiedAt: ms }));
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

/** The hash in a blob's key, or null if the blob is not a file of the tree. */
export function hashFromBlobKey(key: string): string | null {
  return key.startsWith(KEY_PREFIX) ? key.slice(KEY_PREFIX.length) : null;
}

function toStat({ kind, size, modifiedAt, mode, uid, gid, hash }: FileNode): FileStat {
  return { kind, size, modifiedAt, mode, uid, gid, version: hash ?? "" };
}

function listEntries(reads: NodeReads, who: Who, path: string): FileEntry[] {
  const node = requireNode(reads, who, path);
  if (node.kind !== "directory") throw new FileError("ENOTDIR", path);
  if (!mayAccess(who, node, READ)) throw new FileError("EACCES", path);
  return reads
    .listChildren(path)
    .map((child): FileEntry => ({ name: child.path.slice(child.path.lastIndexOf("/") + 1), kind: child.kind }));
}

function requireReadable(reads: Pick<NodeReads, "getAll">, who: Who, path: string): FileNode {
  const node = requireNode(reads, who, path);
  if (node.kind === "directory") throw new FileError("EISDIR", path);
  if (!mayAccess(who, node, READ)) throw new FileError("EACCES", path);
  return node;
}

async function readContent({ reads, contents }: TreeStorage, node: FileNode, range?: { start: number; end: number }): Promise<Uint8Array> {
  const hash = node.hash ?? "";
  const small = reads.readInline(hash);
  if (small !== null) return range === undefined ? small : small.slice(range.start, range.end);
  const bytes = await contents.get(blobKey(hash), range);
  if (bytes !== null) return bytes;
  // The file may have been replaced or deleted while its content was fetched.
  if (reads.getAll([node.path]).get(node.path)?.hash !== node.hash) throw new FileError("ESTALE", node.path);
  throw new Error(`The content of ${node.path} is missing from the blob store`);
}

/** An existing file keeps its owner and mode; `mode` is for a new file. `ifVersion` null: there must be no file. */
async function putFile(
  storage: TreeStorage,
  who: Who,
  path: string,
  content: Uint8Array,
  ifVersion: string | null | undefined,
  mode?: number,
): Promise<void> {
  // Checked before anything is stored.
  const existing = checkMayPut(storage.reads, who, path, ifVersion);
  storage.mustHaveRoom(who, existing?.uid ?? who.uid, addedBytes(existing, content.length), path);
  const isSmall = content.length <= storage.inlineBytesMax;
  const hash = toHex(isSmall ? storage.sha256(content) : await storage.sha256Async(content));
  const name = () => writeRow(storage, who, path, { hash, size: content.length, inline: isSmall ? content : null, ifVersion, mode });
  await (isSmall ? name() : storage.contents.put(blobKey(hash), content, name));
}

type RowContent = {
  hash: string;
  size: number;
  inline: Uint8Array | null;
  ifVersion?: string | null | undefined;
  mode?: number | undefined;
  /** The upload's part in Blobs. */
  part?: string;
};

function addedBytes(existing: FileNode | undefined, size: number): number {
  return existing === undefined ? size + ROW_BYTES : size - existing.size;
}

/** Writes the row that makes content a file. */
function writeRow(
  storage: TreeStorage,
  who: Who,
  path: string,
  { hash, size, inline, ifVersion, mode: newMode, part }: RowContent,
): Promise<void> {
  return storage.transact((table) => {
    // Checked again inside the transaction: another writer may have been faster, or rights may have changed.
    who.checkStillAllowed();
    const existing = checkMayPut(table, who, path, ifVersion);
    const modifiedAt = storage.now();
    makeParents(table, who, path, modifiedAt);
    const { uid, gid, mode } = existing ?? { uid: who.uid, gid: who.gid, mode: newMode ?? FILE_MODE };
    if (part !== undefined) storage.uploads.drop(part);
    storage.mustHaveRoom(who, uid, addedBytes(existing, size), path);
    table.put({ path, kind: "file", uid, gid, mode, size, hash, modifiedAt }, parentOf(path), inline);
  });
}

/** Large uploads grow in Blobs, so that they are never in memory as a whole. */
async function receive(storage: TreeStorage, uploads: Uploads, who: Who, path: string, coming: IncomingFile): Promise<FileReceiver> {
  checkMayPut(storage.reads, who, path, undefined);
  if (coming.size <= storage.inlineBytesMax)
    return receiveInMemory(path, coming, (content) => putFile(storage, who, path, content, undefined, coming.mode));
  const part = `part-${toHex(storage.sha256(JSON.stringify([who.uid, path, coming.size, coming.tag ?? storage.uuid()])))}`;
  const mustHaveRoom = (bytes: number) => storage.mustHaveRoom(who, who.uid, bytes, path);
  const { grown: blob, leave, end } = await uploads.begin(part, who.uid, path, coming.size, mustHaveRoom);
  const have = blob.size;
  return {
    have,
    read: (start, end) => blob.read(start, end),
    write: (chunk) => blob.write(chunk),
    async finish(sha256) {
      const name = () => writeRow(storage, who, path, { hash: sha256, size: coming.size, inline: null, mode: coming.mode, part });
      await storage.contents.putGrown(blobKey(sha256), blob, name).finally(end);
    },
    abandon: leave,
  };
}

async function append(storage: TreeStorage, largeFiles: KeyedMutex, who: Who, path: string, content: Uint8Array): Promise<void> {
  for (let tries = 1; ; tries++) {
    const existing = checkMayPut(storage.reads, who, path, undefined);
    const size = (existing?.size ?? 0) + content.length;
    mustFit(path, size);
    const grow = async () => {
      const before = existing === undefined ? new Uint8Array() : await readContent(storage, existing);
      await putFile(storage, who, path, concat([before, content]), existing?.hash ?? null);
    };
    try {
      return await (size > LARGE_BYTES ? largeFiles.run(String(who.uid), grow) : grow());
    } catch (error) {
      if (!(error instanceof FileError) || error.code !== "ESTALE" || tries === APPEND_TRIES) throw error;
    }
  }
}

function makeParents(table: NodeTable, who: Who, path: string, now: number): void {
  const directories = ancestors(path);
  const existing = table.getAll(directories);
  for (const at of directories) if (!existing.has(at)) table.put(makeDirectoryNode(who, at, now), parentOf(at), null);
}

function makeDirectoryNode({ uid, gid }: Who, path: string, modifiedAt: number): FileNode {
  const mode = parentOf(path) === "/home" ? HOME_MODE : DIRECTORY_MODE;
  return { path, kind: "directory", uid, gid, mode, size: 0, hash: null, modifiedAt };
}
