// Git objects in SQL, by name. Owns objects and chunks. Bytes are kept as the zlib stream that git puts into a pack, so
// serving a clone copies them and compresses nothing. Whatever is here is complete: everything an object points to is
// here too, which is why nothing else has to walk a graph to know that it may show it. Counts what it keeps, in usage.

import { ROW_BYTES } from "../lib/row-bytes.ts";
import { fail } from "../lib/sys-error.ts";
import type { Sql, SqlRow, SqlValue } from "../ports/sql.ts";
import { type ObjectKind, oidOf } from "./oid.ts";
import { deflate, inflate } from "./zlib.ts";

export type GitObject = { kind: ObjectKind; bytes: Uint8Array };

/** Where an object's compressed bytes are. */
export type Stored = { kind: ObjectKind; size: number; first: number; chunks: number };

/** How much all objects may take, those that are arriving included, and what is said where that is too little. */
export type Quota = { bytes: number; says: string };

/** Below the 2 MB that a value may have. */
const CHUNK_BYTES = 1_500_000;

/** Objects asked for in one look: each may bring a whole chunk into memory. */
const AT_ONCE = 20;
const WITH_FIRST_CHUNK = "SELECT o.oid, o.kind, o.size, o.first, o.chunks, c.bytes FROM objects o JOIN chunks c ON c.id = o.first";

const NUMBER_OF: Record<ObjectKind, number> = { commit: 1, tree: 2, blob: 3, tag: 4 };
const KIND_OF: Record<number, ObjectKind> = { 1: "commit", 2: "tree", 3: "blob", 4: "tag" };

export class Objects {
  readonly #sql: Sql;
  #quota: Quota | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** What they take. */
  get bytes(): number {
    return Number(this.#sql.get("SELECT bytes FROM usage")!.bytes);
  }

  /** From now on; null for as much as the disk has. */
  allow(quota: Quota | null): void {
    this.#quota = quota;
  }

  kind(oid: string): ObjectKind | undefined {
    const row = this.#sql.get("SELECT kind FROM objects WHERE oid = ?", oid);
    return row && KIND_OF[Number(row.kind)];
  }

  find(oid: string): GitObject | undefined {
    const row = this.#sql.get(`${WITH_FIRST_CHUNK} WHERE o.oid = ?`, oid);
    return row && this.#unpacked(row);
  }

  /** Commits that must be there, in the order in which they are asked for. */
  commits(oids: readonly string[]): Uint8Array[] {
    const found = new Map<string, Uint8Array>();
    for (let at = 0; at < oids.length; at += AT_ONCE) {
      const some = JSON.stringify(oids.slice(at, at + AT_ONCE));
      for (const row of this.#sql.all(`${WITH_FIRST_CHUNK} WHERE o.oid IN (SELECT value FROM json_each(?))`, some))
        if (KIND_OF[Number(row.kind)] === "commit") found.set(String(row.oid), this.#unpacked(row).bytes);
    }
    return oids.map((oid) => found.get(oid) ?? this.read(oid, "commit"));
  }

  /** The bytes of an object that must be there and be of this kind. */
  read(oid: string, kind: ObjectKind): Uint8Array {
    const object = this.find(oid);
    if (object === undefined) fail(404, `Object not found: ${oid}`);
    if (object.kind !== kind) fail(400, `Object ${oid} is a ${object.kind}, not a ${kind}`);
    return object.bytes;
  }

  stored(oid: string): Stored | undefined {
    const row = this.#sql.get("SELECT kind, size, first, chunks FROM objects WHERE oid = ?", oid);
    return row && toStored(row);
  }

  /** Only objects that are not there yet cost anything. */
  write(kind: ObjectKind, bytes: Uint8Array): string {
    const oid = oidOf(kind, bytes);
    if (this.kind(oid) === undefined) {
      const { first, chunks } = this.keep(deflate(bytes));
      this.#sql.run("INSERT INTO objects VALUES (?, ?, ?, ?, ?)", oid, NUMBER_OF[kind], bytes.length, first, chunks);
    }
    return oid;
  }

  /** Bytes without a name yet: the quarantine gives them one, or drops them. */
  keep(deflated: Uint8Array): { first: number; chunks: number } {
    const cost = deflated.length + ROW_BYTES * Math.ceil(deflated.length / CHUNK_BYTES);
    if (this.#quota !== null && this.bytes + cost > this.#quota.bytes) fail(507, this.#quota.says);
    this.#sql.run("UPDATE usage SET bytes = bytes + ?", cost);
    const first = Number(this.#sql.get("SELECT coalesce(max(id), 0) + 1 AS first FROM chunks")!.first);
    let chunks = 0;
    for (let at = 0; at < deflated.length; at += CHUNK_BYTES)
      this.#sql.run("INSERT INTO chunks VALUES (?, ?)", first + chunks++, deflated.subarray(at, at + CHUNK_BYTES));
    return { first, chunks };
  }

  /** `which` is a query for numbers of chunks. */
  drop(which: string, ...bindings: SqlValue[]): void {
    const cost = `SELECT coalesce(sum(length(bytes) + ${ROW_BYTES}), 0) FROM chunks WHERE id IN (${which})`;
    this.#sql.run(`UPDATE usage SET bytes = bytes - (${cost})`, ...bindings);
    this.#sql.run(`DELETE FROM chunks WHERE id IN (${which})`, ...bindings);
  }

  inflate(stored: Stored): Uint8Array {
    return inflate([...this.deflated(stored)], stored.size);
  }

  /** The compressed bytes, a row at a time. */
  *deflated(stored: Stored): Generator<Uint8Array> {
    for (let id = stored.first; id < stored.first + stored.chunks; id++)
      yield this.#sql.get("SELECT bytes FROM chunks WHERE id = ?", id)!.bytes as Uint8Array;
  }

  /** `row` has the first chunk, which is all of most objects. */
  #unpacked(row: SqlRow): GitObject {
    const stored = toStored(row);
    const { kind, size, first, chunks } = stored;
    const rest = chunks === 1 ? [] : this.deflated({ ...stored, first: first + 1, chunks: chunks - 1 });
    return { kind, bytes: inflate([row.bytes as Uint8Array, ...rest], size) };
  }

  /** How many there are; for operators and tests. */
  count(): number {
    return Number(this.#sql.get("SELECT count(*) AS n FROM objects")!.n);
  }
}

export function toStored(row: SqlRow): Stored {
  return { kind: KIND_OF[Number(row.kind)]!, size: Number(row.size), first: Number(row.first), chunks: Number(row.chunks) };
}

export function kindNumber(kind: ObjectKind): number {
  return NUMBER_OF[kind];
}

export function kindOfNumber(number: number): ObjectKind | undefined {
  return KIND_OF[number];
}
