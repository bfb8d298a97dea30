// The file tree's rows: names, owners, modes, and the content of small files. Owns files and file_contents. Judges
// nobody: src/vfs/tree.ts asks who may before it asks this. What a row takes is counted for its owner.

import { ROW_BYTES } from "../../lib/row-bytes.ts";
import { fail } from "../../lib/sys-error.ts";
import type { Sql, SqlRow } from "../../ports/sql.ts";
import type { FileNode } from "../../vfs/rights.ts";
import type { Usage } from "./usage.ts";

/** Content up to this size lives in SQL; reading it touches no file. */
export const INLINE_BYTES_MAX = 64 * 1024;

export type FileReads = Pick<Files, "get" | "along" | "children" | "below" | "longestBelow" | "inline" | "inlines" | "isReferenced">;

const COLUMNS = "path, kind, uid, gid, mode, size, hash, modified_at";

/** Over a row that is there it leaves the index of parents alone. */
const PUT = `INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET kind = excluded.kind,
  uid = excluded.uid, gid = excluded.gid, mode = excluded.mode, size = excluded.size, hash = excluded.hash,
  modified_at = excluded.modified_at`;
/** Directories that are remembered. */
const REMEMBERED_MAX = 4096;

export class Files {
  readonly #sql: Sql;
  /** Every path leads through a few of them, and they seldom change. As the rows are: whatever takes rows back says `forget`. */
  readonly #directories = new Map<string, FileNode>();
  readonly #usage: Usage;
  /** Hashes in Blobs that no row names since the last look. */
  #freed: string[] = [];

  constructor(sql: Sql, usage: Usage) {
    this.#sql = sql;
    this.#usage = usage;
  }

  get(path: string): FileNode | undefined {
    const row = this.#sql.get(`SELECT ${COLUMNS} FROM files WHERE path = ?`, path);
    return row && fromRow(row);
  }

  /** Whatever there is of these paths, in one look. */
  along(paths: readonly string[]): Map<string, FileNode> {
    const found = new Map<string, FileNode>();
    const left: string[] = [];
    for (const path of paths) {
      const known = this.#directories.get(path);
      if (known === undefined) left.push(path);
      else found.set(path, known);
    }
    for (const node of this.#rows(left)) {
      found.set(node.path, node);
      if (node.kind === "directory") this.#remember(node);
    }
    return found;
  }

  /** Rows were taken back. */
  undone(): void {
    this.#freed = [];
    this.forget();
  }

  forget(): void {
    this.#directories.clear();
  }

  /** Large content that went with its last row; only once that is on disk may it be deleted. */
  takeFreed(): string[] {
    const freed = this.#freed;
    this.#freed = [];
    return freed;
  }

  children(path: string): FileNode[] {
    return this.#sql.all(`SELECT ${COLUMNS} FROM files WHERE parent = ? AND path <> '/' ORDER BY path`, path).map(fromRow);
  }

  /** Everything under a directory, itself left out. */
  below(path: string): FileNode[] {
    const [from, to] = range(path);
    return this.#sql.all(`SELECT ${COLUMNS} FROM files WHERE path > ? AND path < ? ORDER BY path`, from, to).map(fromRow);
  }

  /** Bytes of the longest path under a directory. */
  longestBelow(path: string): number {
    const [from, to] = range(path);
    return Number(
      this.#sql.get("SELECT max(length(CAST(path AS BLOB))) AS bytes FROM files WHERE path > ? AND path < ?", from, to)?.bytes ?? 0,
    );
  }

  /** The content of a small file; null where it is in Blobs. */
  inline(hash: string): Uint8Array | null {
    const content = this.#sql.get("SELECT content FROM file_contents WHERE hash = ?", hash)?.content;
    return content instanceof Uint8Array ? content : null;
  }

  /** Of many at once; those in Blobs are left out. */
  inlines(hashes: readonly string[]): Map<string, Uint8Array> {
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
    if (before?.uid === node.uid) this.#usage.filesChanged(node.uid, node.size - before.size);
    else {
      if (before !== undefined) this.#usage.filesChanged(before.uid, -before.size - ROW_BYTES);
      this.#usage.filesChanged(node.uid, node.size + ROW_BYTES);
    }
    this.#sql.run(PUT, node.path, parent, node.kind, node.uid, node.gid, node.mode, node.size, node.hash, node.modifiedAt);
    if (before?.hash && before.hash !== node.hash) this.#dropContent(before.hash);
  }

  remove(path: string): void {
    this.forget();
    const [from, to] = range(path);
    const rows = this.#sql.all(
      "SELECT DISTINCT hash FROM files WHERE (path = ? OR (path > ? AND path < ?)) AND hash IS NOT NULL",
      path,
      from,
      to,
    );
    const stored = `SELECT uid, sum(size + ${ROW_BYTES}) AS bytes FROM files WHERE path = ? OR (path > ? AND path < ?) GROUP BY uid`;
    for (const { uid, bytes } of this.#sql.all(stored, path, from, to)) this.#usage.filesChanged(Number(uid), -Number(bytes));
    this.#sql.run("DELETE FROM files WHERE path = ? OR (path > ? AND path < ?)", path, from, to);
    for (const row of rows) this.#dropContent(String(row.hash));
  }

  /** Nothing is at or below `to`, and it is not below `from`. */
  move(from: string, to: string, parent: string): void {
    this.forget();
    const [first, last] = range(from);
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

  /** A directory of the user's own, which others may not look into. What root has put there before becomes the user's. */
  makeHome(account: { home: string; uid: number; gid: number }, now: number): void {
    const { home, uid, gid } = account;
    if (this.get(home)?.kind === "file") fail(409, `${home} is a file: move it away or delete it first, the user's home belongs there`);
    const [from, to] = range(home);
    this.forget();
    const given = `SELECT uid, sum(size + ${ROW_BYTES}) AS bytes FROM files WHERE path > ? AND path < ? GROUP BY uid`;
    for (const { uid: before, bytes } of this.#sql.all(given, from, to)) {
      this.#usage.filesChanged(Number(before), -Number(bytes));
      this.#usage.filesChanged(uid, Number(bytes));
    }
    this.#sql.run("UPDATE files SET uid = ?, gid = ? WHERE path > ? AND path < ?", uid, gid, from, to);
    this.put({ path: home, kind: "directory", uid, gid, mode: 0o750, size: 0, hash: null, modifiedAt: now }, "/home", null);
  }

  isReferenced(hash: string): boolean {
    return this.#sql.get("SELECT 1 FROM files WHERE hash = ? LIMIT 1", hash) !== undefined;
  }

  #rows(paths: readonly string[]): FileNode[] {
    const [path] = paths;
    if (path === undefined) return [];
    if (paths.length > 1)
      return this.#sql
        .all(`SELECT ${COLUMNS} FROM files WHERE path IN (SELECT value FROM json_each(?))`, JSON.stringify(paths))
        .map(fromRow);
    const node = this.get(path);
    return node === undefined ? [] : [node];
  }

  #remember(node: FileNode): void {
    if (this.#directories.size >= REMEMBERED_MAX) this.forget();
    this.#directories.set(node.path, node);
  }

  /** Two files may have the same content; it goes with the last of them. */
  #dropContent(hash: string): void {
    if (this.isReferenced(hash)) return;
    if (this.#sql.run("DELETE FROM file_contents WHERE hash = ?", hash) === 0) this.#freed.push(hash);
  }
}

/** Paths below, as a range of the index: "0" follows "/". */
function range(path: string): [string, string] {
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
