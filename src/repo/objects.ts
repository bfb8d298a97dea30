// Git objects in SQL, by hash. Owns the tables objects, chunks and usage. Bytes are stored as the zlib stream that git puts
// into a pack, so serving a clone copies them and compresses nothing. Everything a stored object references is stored too, so
// no reader has to walk the graph to find out whether an object is complete.

import { ROW_BYTES } from "../lib/row-bytes.ts";
import { fail } from "../lib/sys-error.ts";
import type { Sql, SqlRow, SqlValue } from "../ports/sql.ts";
import { type ObjectKind, hashObject } from "./oid.ts";
import { deflate, inflate } from "./zlib.ts";

export type GitObject = { kind: ObjectKind; bytes: Uint8Array };

/** Where an object's compressed bytes are. */
export type StoredObject = { kind: ObjectKind; size: number; first: number; chunks: number };

/** How many bytes all objects may take, including those in quarantine, and the error message when that is exceeded. */
export type Quota = { bytes: number; says: string };

/** Below the limit of 2 MB per SQL value. */
const CHUNK_BYTES = 1_500_000;

/** Objects per query: each may load a whole chunk into memory. */
const OBJECTS_PER_QUERY = 20;
const WITH_FIRST_CHUNK = "SELECT o.oid, o.kind, o.size, o.first, o.chunks, c.bytes FROM objects o JOIN chunks c ON c.id = o.first";

const NUMBER_OF: Record<ObjectKind, number> = { commit: 1, tree: 2, blob: 3, tag: 4 };
const KIND_OF: Record<number, ObjectKind> = { 1: "commit", 2: "tree", 3: "blob", 4: "tag" };

export class Objects {
  readonly #sql: Sql;
  #quota: Quota | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Stored bytes, as counted against the quota. */
  get storedBytes(): number {
    return Number(this.#sql.get("SELECT bytes FROM usage")!.bytes);
  }

  /** Sets the quota from now on; null for no limit but the disk. */
  setQuota(quota: Quota | null): void {
    this.#quota = quota;
  }

  kind(oid: string): ObjectKind | undefined {
    const row = this.#sql.get("SELECT kind FROM objects WHERE oid = ?", oid);
    return row && KIND_OF[Number(row.kind)];
  }

  find(oid: string): GitObject | undefined {
    const row = this.#sql.get(`${WITH_FIRST_CHUNK} WHERE o.oid = ?`, oid);
    return row && this.#inflateRow(row);
  }

  /** Commits in the order of `oids`; fails if one is missing. */
  readCommits(oids: readonly string[]): Uint8Array[] {
    const found = new Map<string, Uint8Array>();
    for (let at = 0; at < oids.length; at += OBJECTS_PER_QUERY) {
      const batch = JSON.stringify(oids.slice(at, at + OBJECTS_PER_QUERY));
      for (const row of this.#sql.all(`${WITH_FIRST_CHUNK} WHERE o.oid IN (SELECT value FROM json_each(?))`, batch))
        if (KIND_OF[Number(row.kind)] === "commit") found.set(String(row.oid), this.#inflateRow(row).bytes);
    }
    return oids.map((oid) => found.get(oid) ?? this.read(oid, "commit"));
  }

  /** The bytes of an object; fails if it is missing or of another kind. */
  read(oid: string, kind: ObjectKind): Uint8Array {
    const object = this.find(oid);
    if (object === undefined) fail(404, `Object not found: ${oid}`);
    if (object.kind !== kind) fail(400, `Object ${oid} is a ${object.kind}, not a ${kind}`);
    return object.bytes;
  }

  findStored(oid: string): StoredObject | undefined {
    const row = this.#sql.get("SELECT kind, size, first, chunks FROM objects WHERE oid = ?", oid);
    return row && toStored(row);
  }

  /** Does nothing if the object is stored already. */
  write(kind: ObjectKind, bytes: Uint8Array): string {
    const oid = hashObject(kind, bytes);
    if (this.kind(oid) === undefined) {
      const { first, chunks } = this.storeDeflated(deflate(bytes));
      this.#sql.run("INSERT INTO objects VALUES (?, ?, ?, ?, ?)", oid, NUMBER_OF[kind], bytes.length, first, chunks);
    }
    return oid;
  }

  /** Stores bytes that no object names yet; the caller inserts a row for them or drops them. */
  storeDeflated(deflated: Uint8Array): { first: number; chunks: number } {
    const cost = deflated.length + ROW_BYTES * Math.ceil(deflated.length / CHUNK_BYTES);
    if (this.#quota !== null && this.storedBytes + cost > this.#quota.bytes) fail(507, this.#quota.says);
    this.#sql.run("UPDATE usage SET bytes = bytes + ?", cost);
    const first = Number(this.#sql.get("SELECT coalesce(max(id), 0) + 1 AS first FROM chunks")!.first);
    let chunks = 0;
    for (let at = 0; at < deflated.length; at += CHUNK_BYTES)
      this.#sql.run("INSERT INTO chunks VALUES (?, ?)", first + chunks++, deflated.subarray(at, at + CHUNK_BYTES));
    return { first, chunks };
  }

  /** `which` is a query for chunk ids. */
  dropChunks(which: string, ...bindings: SqlValue[]): void {
    const cost = `SELECT coalesce(sum(length(bytes) + ${ROW_BYTES}), 0) FROM chunks WHERE id IN (${which})`;
    this.#sql.run(`UPDATE usage SET bytes = bytes - (${cost})`, ...bindings);
    this.#sql.run(`DELETE FROM chunks WHERE id IN (${which})`, ...bindings);
  }

  inflate(stored: StoredObject): Uint8Array {
    return inflate([...this.readDeflated(stored)], stored.size);
  }

  /** The compressed bytes, a row at a time. */
  *readDeflated(stored: StoredObject): Generator<Uint8Array> {
    for (let id = stored.first; id < stored.first + stored.chunks; id++)
      yield this.#sql.get("SELECT bytes FROM chunks WHERE id = ?", id)!.bytes as Uint8Array;
  }

  /** `row` includes the first chunk; most objects have only one. */
  #inflateRow(row: SqlRow): GitObject {
    const stored = toStored(row);
    const { kind, size, first, chunks } = stored;
    const rest = chunks === 1 ? [] : this.readDeflated({ ...stored, first: first + 1, chunks: chunks - 1 });
    return { kind, bytes: inflate([row.bytes as Uint8Array, ...rest], size) };
  }

  /** How many objects are stored; for operators and tests. */
  count(): number {
    return Number(this.#sql.get("SELECT count(*) AS n FROM objects")!.n);
  }
}

export function toStored(row: SqlRow): StoredObject {
  return { kind: KIND_OF[Number(row.kind)]!, size: Number(row.size), first: Number(row.first), chunks: Number(row.chunks) };
}

export function kindNumber(kind: ObjectKind): number {
  return NUMBER_OF[kind];
}

export function kindOfNumber(number: number): ObjectKind | undefined {
  return KIND_OF[number];
}
