// The rows of the stored tree: names, owners, modes, and the content of small files. Owns files and file_contents. Checks no rights:
// src/vfs/tree.ts does that before it calls this. The size of each row counts toward its owner's usage.

import { Cache } from "../../lib/cache.ts";
import { ROW_BYTES } from "../../lib/row-bytes.ts";
import { fail } from "../../lib/sys-error.ts";
import type { Sql, SqlRow } from "../../ports/sql.ts";
import type { FileNode } from "../../vfs/rights.ts";
import type { Usage } from "./usage.ts";

/** Content up to this size is stored in SQL, so reading it needs no file. */
export const INLINE_BYTES_MAX = 64 * 1024;

export type FileReads = Pick<
  Files,
  | "get"
  | "getAll"
  | "listChildren"
  | "listBelow"
  | "longestPathBytes"
  | "readInline"
  | "readInlines"
  | "isReferenced"
  | "generationOfFolders"
>;

const COLUMNS = "path, kind, uid, gid, mode, size, hash, modified_at";

/** Over an existing row it does not touch the index of parents. */
const PUT = `INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET kind = excluded.kind,
  uid = excluded.uid, gid = excluded.gid, mode = excluded.mode, size = excluded.size, hash = excluded.hash,
  modified_at = excluded.modified_at`;
const DIRECTORY_CACHE_MAX = 4096;

export class Files {
  readonly #sql: Sql;
  /** A cache: every path leads through a few directories, and they seldom change. A rollback must call `onRollback`, and a lost batch `clearCaches`. */
  readonly #directories = new Cache<string, FileNode>(DIRECTORY_CACHE_MAX);
  readonly #usage: Usage;
  #generationOfFolders = 0;
  /** Whether folders changed since the last rollback, so that a rollback may undo it. */
  #haveFoldersChanged = false;
  /** Hashes of content in Blobs that no row refers to any more, since the last `takeFreedHashes`. */
  #freedHashes: string[] = [];

  constructor(sql: Sql, usage: Usage) {
    this.#sql = sql;
    this.#usage = usage;
  }

  get(path: string): FileNode | undefined {
    const row = this.#sql.get(`SELECT ${COLUMNS} FROM files WHERE path = ?`, path);
    return row && fromRow(row);
  }

  /** The nodes that exist at these paths, in one query. */
  getAll(paths: readonly string[]): Map<string, FileNode> {
    const found = new Map<string, FileNode>();
    const missing: string[] = [];
    for (const path of paths) {
      const known = this.#directories.find(path);
      if (known === undefined) missing.push(path);
      else found.set(path, known);
    }
    for (const node of this.#loadNodes(missing)) {
      found.set(node.path, node);
      if (node.kind === "directory") this.#directories.set(node.path, node);
    }
    return found;
  }

  /** A transaction was rolled back. Most of those are refused writes, after which folders are as they were. */
  onRollback(): void {
    this.#freedHashes = [];
    this.#directories.clear();
    if (this.#haveFoldersChanged) this.#generationOfFolders++;
    this.#haveFoldersChanged = false;
  }

  /** Any rows may have changed: a batch was lost. */
  clearCaches(): void {
    this.#freedHashes = [];
    this.#directories.clear();
    this.#generationOfFolders++;
  }

  /**
   * Changes whenever a directory may have changed, or a file below one whose name ends with .d (context.d, skills.d). So what was read
   * from those can be cached, however many other files are written.
   */
  get generationOfFolders(): number {
    return this.#generationOfFolders;
  }

  /** Hashes of large content whose last row was deleted. Delete the content only after that is on disk. */
  takeFreedHashes(): string[] {
    const freed = this.#freedHashes;
    this.#freedHashes = [];
    return freed;
  }

  listChildren(path: string): FileNode[] {
    return this.#sql.all(`SELECT ${COLUMNS} FROM files WHERE parent = ? AND path <> '/' ORDER BY path`, path).map(fromRow);
  }

  /** Everything below a directory, without the directory itself. */
  listBelow(path: string): FileNode[] {
    const [from, to] = rangeBelow(path);
    return this.#sql.all(`SELECT ${COLUMNS} FROM files WHERE path > ? AND path < ? ORDER BY path`, from, to).map(fromRow);
  }

  /** Bytes of the longest path below a directory. */
  longestPathBytes(path: string): number {
    const [from, to] = rangeBelow(path);
    return Number(
      this.#sql.get("SELECT max(length(CAST(path AS BLOB))) AS bytes FROM files WHERE path > ? AND path < ?", from, to)?.bytes ?? 0,
    );
  }

  /** The content of a small file; null if it is in Blobs. */
  readInline(hash: string): Uint8Array | null {
    const content = this.#sql.get("SELECT content FROM file_contents WHERE hash = ?", hash)?.content;
    return content instanceof Uint8Array ? content : null;
  }

  /** The content of many files at once, without those in Blobs. */
  readInlines(hashes: readonly string[]): Map<string, Uint8Array> {
    const rows = this.#sql.all(
      "SELECT hash, content FROM file_contents WHERE hash IN (SELECT value FROM json_each(?))",
      JSON.stringify(hashes),
    );
    return new Map(rows.map((row) => [String(row.hash), row.content as Uint8Array]));
  }

  put(node: FileNode, parent: string, content: Uint8Array | null): void {
    if (content !== null && node.hash !== null) this.#sql.run("INSERT OR IGNORE INTO file_contents VALUES (?, ?)", node.hash, content);
    const before = this.get(node.path);
    this.#directories.delete(node.path);
    if (node.kind === "directory" || node.path.includes(".d/")) this.#changeFolders();
    if (before?.uid === node.uid) this.#usage.addFileBytes(node.uid, node.size - before.size);
    else {
      if (before !== undefined) this.#usage.addFileBytes(before.uid, -before.size - ROW_BYTES);
      this.#usage.addFileBytes(node.uid, node.size + ROW_BYTES);
    }
    this.#sql.run(PUT, node.path, parent, node.kind, node.uid, node.gid, node.mode, node.size, node.hash, node.modifiedAt);
    if (before?.hash && before.hash !== node.hash) this.#dropContent(before.hash);
  }

  remove(path: string): void {
    this.#changeFolders();
    const [from, to] = rangeBelow(path);
    const rows = this.#sql.all(
      "SELECT DISTINCT hash FROM files WHERE (path = ? OR (path > ? AND path < ?)) AND hash IS NOT NULL",
      path,
      from,
      to,
    );
    const bytesByOwner = `SELECT uid, sum(size + ${ROW_BYTES}) AS bytes FROM files WHERE path = ? OR (path > ? AND path < ?) GROUP BY uid`;
    for (const { uid, bytes } of this.#sql.all(bytesByOwner, path, from, to)) this.#usage.addFileBytes(Number(uid), -Number(bytes));
    this.#sql.run("DELETE FROM files WHERE path = ? OR (path > ? AND path < ?)", path, from, to);
    for (const row of rows) this.#dropContent(String(row.hash));
  }

  /** The caller ensures that nothing is at or below `to`, and that `to` is not below `from`. */
  move(from: string, to: string, parent: string): void {
    this.#changeFolders();
    const [first, last] = rangeBelow(from);
    this.#sql.run(
      "UPDATE files SET path = ? || substr(path, length(?) + 1), parent = ? || substr(parent, length(?) + 1) WHERE path > ? AND path < ?",
      to,
      from,
      to,
      from,
      first,
      last,
    );
    this.#sql.run("UPDATE files SET path = ?, parent = ? WHERE path = ?", to, parent, from);
  }

  /** Makes a user's home, which other users cannot list. Files that root has put there before become the user's. */
  makeHome(account: { home: string; uid: number; gid: number }, now: number): void {
    const { home, uid, gid } = account;
    if (this.get(home)?.kind === "file") fail(409, `${home} is a file: move or delete it first, because the user's home must be there`);
    const [from, to] = rangeBelow(home);
    this.#changeFolders();
    const bytesByOwner = `SELECT uid, sum(size + ${ROW_BYTES}) AS bytes FROM files WHERE path > ? AND path < ? GROUP BY uid`;
    for (const { uid: before, bytes } of this.#sql.all(bytesByOwner, from, to)) {
      this.#usage.addFileBytes(Number(before), -Number(bytes));
      this.#usage.addFileBytes(uid, Number(bytes));
    }
    this.#sql.run("UPDATE files SET uid = ?, gid = ? WHERE path > ? AND path < ?", uid, gid, from, to);
    this.put({ path: home, kind: "directory", uid, gid, mode: 0o750, size: 0, hash: null, modifiedAt: now }, "/home", null);
  }

  isReferenced(hash: string): boolean {
    return this.#sql.get("SELECT 1 FROM files WHERE hash = ? LIMIT 1", hash) !== undefined;
  }

  #changeFolders(): void {
    this.#directories.clear();
    this.#generationOfFolders++;
    this.#haveFoldersChanged = true;
  }

  #loadNodes(paths: readonly string[]): FileNode[] {
    const [path] = paths;
    if (path === undefined) return [];
    if (paths.length > 1)
      return this.#sql
        .all(`SELECT ${COLUMNS} FROM files WHERE path IN (SELECT value FROM json_each(?))`, JSON.stringify(paths))
        .map(fromRow);
    const node = this.get(path);
    return node === undefined ? [] : [node];
  }

  /** Files with the same content share it; it is deleted with the last of them. */
  #dropContent(hash: string): void {
    if (this.isReferenced(hash)) return;
    if (this.#sql.run("DELETE FROM file_contents WHERE hash = ?", hash) === 0) this.#freedHashes.push(hash);
  }
}

/** The paths below a directory as a range of the index: "0" is the byte after "/". */
function rangeBelow(path: string): [string, string] {
  const bare = path === "/" ? "" : path;
  return [`${bare}/`, `${bare}0`];
}

function fromRow(row: SqlRow): FileNode {
  return {
    path: String(row.path),
    kind: row.kind as FileNode["kind"],
    uid: Number(row.uid),
    gid: Number(row.gid),
    mode: Number(row.mode),
    size: Number(row.size),
    hash: row.hash as string | null,
    modifiedAt: Number(row.modified_at),
  };
}
