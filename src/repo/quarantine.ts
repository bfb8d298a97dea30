// Objects that have arrived and are not to be seen yet. Owns incoming. They become part of the repository in one
// transaction, all of them, or go without a trace; what a crash leaves behind goes at the next start.
//
// Rows here are on the relaxed lane: nobody was promised them, and the transaction that publishes carries them along.

import { fail } from "../lib/sys-error.ts";
import { StorageError } from "../ports/sql.ts";
import type { Commit } from "./commit.ts";
import { type GitObject, kindNumber, type Stored, toStored } from "./objects.ts";
import { type ObjectKind, oidOf } from "./oid.ts";
import { References } from "./references.ts";
import type { Store } from "./store.ts";
import { deflate } from "./zlib.ts";

type Links = Pick<Commit, "tree" | "parents">;
type Kept = Pick<Store, "sql" | "objects">;

export class Quarantine {
  readonly #store: Store;
  readonly #push: number;
  readonly #kinds = new Map<string, ObjectKind>();
  readonly #commits = new Map<string, Links>();
  readonly #references: References;

  constructor(store: Store) {
    this.#store = store;
    this.#references = new References(store.limits);
    this.#push = Number(store.sql.get("SELECT coalesce(max(push), 0) + 1 AS push FROM incoming")!.push);
    // Takes the number, also while nothing has arrived.
    store.sql.relaxed(() => store.sql.run("INSERT INTO incoming VALUES (?, '', 0, 0, 0, 0)", this.#push));
  }

  /** Checks an object for itself; what it points to is checked by `complete`. */
  add(kind: ObjectKind, bytes: Uint8Array, deflated?: Uint8Array): string {
    const { sql, objects } = this.#store;
    const oid = oidOf(kind, bytes);
    const known = this.find(oid);
    if (known !== undefined) {
      // Two contents of one hash: whoever sent the second wants it taken for the first.
      if (known.kind !== kind || !isSame(known.bytes, bytes)) fail(400, `Bad object: ${oid} collides with another`);
      return oid;
    }
    const commit = this.#references.collect(kind, bytes);
    if (commit !== undefined) this.#commits.set(oid, { tree: commit.tree, parents: commit.parents });
    this.#kinds.set(oid, kind);
    sql.relaxed(() =>
      sql.transaction(() => {
        const { first, chunks } = objects.keep(deflated ?? deflate(bytes));
        sql.run("INSERT INTO incoming VALUES (?, ?, ?, ?, ?, ?)", this.#push, oid, kindNumber(kind), bytes.length, first, chunks);
      }),
    );
    return oid;
  }

  /** An object of this pack or of the repository. */
  find(oid: string): GitObject | undefined {
    const stored = this.#kinds.has(oid) ? this.#stored(oid) : this.#store.objects.stored(oid);
    return stored && { kind: stored.kind, bytes: this.#store.objects.inflate(stored) };
  }

  has(oid: string): boolean {
    return this.#kinds.has(oid) || this.#store.objects.kind(oid) !== undefined;
  }

  /** Fails unless everything that was added points to things that are here or there, and of the right kind. */
  complete(): void {
    this.#references.check((oid) => this.#kinds.get(oid) ?? this.#store.objects.kind(oid));
  }

  /** Inside a transaction, and after `complete`. */
  publish(): void {
    const { sql, objects, history } = this.#store;
    this.#mustBeWhole();
    // Another push may have brought some of the same meanwhile.
    objects.drop(chunkIds("incoming.oid IN (SELECT oid FROM objects)"), this.#push);
    sql.run("DELETE FROM incoming WHERE push = ? AND (oid = '' OR oid IN (SELECT oid FROM objects))", this.#push);
    sql.run("INSERT INTO objects SELECT oid, kind, size, first, chunks FROM incoming WHERE push = ?", this.#push);
    sql.run("DELETE FROM incoming WHERE push = ?", this.#push);
    history.addAll(this.#parentsFirst());
  }

  drop(): void {
    const { sql } = this.#store;
    sql.relaxed(() => dropPush(this.#store, this.#push));
  }

  /** Relaxed rows are lost with their batch where a disk is full for a moment, and nobody was told. */
  #mustBeWhole(): void {
    const rows = this.#store.sql.all("SELECT oid FROM incoming WHERE push = ? AND oid <> ''", this.#push);
    if (rows.length !== this.#kinds.size || !rows.every(({ oid }) => this.#kinds.has(String(oid))))
      throw new StorageError(true, new Error("objects that had arrived were lost"));
  }

  #stored(oid: string): Stored | undefined {
    const row = this.#store.sql.get("SELECT kind, size, first, chunks FROM incoming WHERE push = ? AND oid = ?", this.#push, oid);
    return row && toStored(row);
  }

  /** Packs have them in any order. */
  *#parentsFirst(): Generator<Links & { oid: string }> {
    const done = new Set<string>();
    for (const start of this.#commits.keys()) {
      const stack = [start];
      for (let oid = stack.at(-1); oid !== undefined; oid = stack.at(-1)) {
        const commit = this.#commits.get(oid)!;
        const waiting = commit.parents.filter((parent) => this.#commits.has(parent) && !done.has(parent));
        if (waiting.length > 0) {
          stack.push(...waiting);
          continue;
        }
        stack.pop();
        if (done.has(oid)) continue;
        done.add(oid);
        yield { oid, ...commit };
      }
    }
  }
}

/** Drops what earlier lives have left. */
export function sweep(store: Kept): void {
  for (const row of store.sql.all("SELECT DISTINCT push FROM incoming")) dropPush(store, Number(row.push));
}

function dropPush({ sql, objects }: Kept, push: number): void {
  sql.transaction(() => {
    objects.drop(chunkIds("1"), push);
    sql.run("DELETE FROM incoming WHERE push = ?", push);
  });
}

function chunkIds(condition: string): string {
  return `SELECT chunks.id FROM incoming JOIN chunks ON chunks.id >= incoming.first AND chunks.id < incoming.first + incoming.chunks
          WHERE incoming.push = ? AND ${condition}`;
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
