// Objects that have arrived but are not visible yet. Owns the table incoming. One transaction publishes all objects of a push,
// or all of them are dropped; the next start drops what a crash leaves behind.
//
// These rows use the relaxed lane: nobody was promised them, and the transaction that publishes them makes them durable.

import { fail } from "../lib/sys-error.ts";
import { StorageError } from "../ports/sql.ts";
import type { Commit } from "./commit.ts";
import { type GitObject, kindNumber, type StoredObject, toStored } from "./objects.ts";
import { type ObjectKind, hashObject } from "./oid.ts";
import { References } from "./references.ts";
import type { Store } from "./store.ts";
import { deflate } from "./zlib.ts";

type CommitLinks = Pick<Commit, "tree" | "parents">;
type Tables = Pick<Store, "sql" | "objects">;

export class Quarantine {
  readonly #store: Store;
  readonly #push: number;
  readonly #kinds = new Map<string, ObjectKind>();
  readonly #commits = new Map<string, CommitLinks>();
  readonly #references: References;

  constructor(store: Store) {
    this.#store = store;
    this.#references = new References(store.limits);
    this.#push = Number(store.sql.get("SELECT coalesce(max(push), 0) + 1 AS push FROM incoming")!.push);
    // Reserves the push number before the first object arrives.
    store.sql.runRelaxed(() => store.sql.run("INSERT INTO incoming VALUES (?, '', 0, 0, 0, 0)", this.#push));
  }

  /** Validates the object itself; `checkComplete` checks what it references. */
  add(kind: ObjectKind, bytes: Uint8Array, deflated?: Uint8Array): string {
    const { sql, objects } = this.#store;
    const oid = hashObject(kind, bytes);
    const known = this.find(oid);
    if (known !== undefined) {
      // Two contents with the same hash: the sender of the second tries to pass it off as the first.
      if (known.kind !== kind || !isSame(known.bytes, bytes)) fail(400, `Bad object: ${oid} collides with another`);
      return oid;
    }
    const commit = this.#references.collect(kind, bytes);
    if (commit !== undefined) this.#commits.set(oid, { tree: commit.tree, parents: commit.parents });
    this.#kinds.set(oid, kind);
    sql.runRelaxed(() =>
      sql.transaction(() => {
        const { first, chunks } = objects.storeDeflated(deflated ?? deflate(bytes));
        sql.run("INSERT INTO incoming VALUES (?, ?, ?, ?, ?, ?)", this.#push, oid, kindNumber(kind), bytes.length, first, chunks);
      }),
    );
    return oid;
  }

  /** An object of this pack or of the repository. */
  find(oid: string): GitObject | undefined {
    const stored = this.#kinds.has(oid) ? this.#findStored(oid) : this.#store.objects.findStored(oid);
    return stored && { kind: stored.kind, bytes: this.#store.objects.inflate(stored) };
  }

  has(oid: string): boolean {
    return this.#kinds.has(oid) || this.#store.objects.kind(oid) !== undefined;
  }

  /** Fails unless everything the added objects reference is in the quarantine or the repository and of the right kind. */
  checkComplete(): void {
    this.#references.check((oid) => this.#kinds.get(oid) ?? this.#store.objects.kind(oid));
  }

  /** Call inside a transaction, after `checkComplete`. */
  publish(): void {
    const { sql, objects, history } = this.#store;
    this.#checkNoneLost();
    // Another push may have published some of the same objects meanwhile.
    objects.dropChunks(chunkIdsQuery("incoming.oid IN (SELECT oid FROM objects)"), this.#push);
    sql.run("DELETE FROM incoming WHERE push = ? AND (oid = '' OR oid IN (SELECT oid FROM objects))", this.#push);
    sql.run("INSERT INTO objects SELECT oid, kind, size, first, chunks FROM incoming WHERE push = ?", this.#push);
    sql.run("DELETE FROM incoming WHERE push = ?", this.#push);
    history.addAll(this.#commitsParentsFirst());
  }

  drop(): void {
    const { sql } = this.#store;
    sql.runRelaxed(() => dropPush(this.#store, this.#push));
  }

  /** If the disk was full for a moment, relaxed rows were lost with their batch, without an error for their writer. */
  #checkNoneLost(): void {
    const rows = this.#store.sql.all("SELECT oid FROM incoming WHERE push = ? AND oid <> ''", this.#push);
    if (rows.length !== this.#kinds.size || !rows.every(({ oid }) => this.#kinds.has(String(oid))))
      throw new StorageError(true, new Error("received objects were lost"));
  }

  #findStored(oid: string): StoredObject | undefined {
    const row = this.#store.sql.get("SELECT kind, size, first, chunks FROM incoming WHERE push = ? AND oid = ?", this.#push, oid);
    return row && toStored(row);
  }

  /** Packs may hold commits in any order. */
  *#commitsParentsFirst(): Generator<CommitLinks & { oid: string }> {
    const visited = new Set<string>();
    for (const start of this.#commits.keys()) {
      const stack = [start];
      for (let oid = stack.at(-1); oid !== undefined; oid = stack.at(-1)) {
        const commit = this.#commits.get(oid)!;
        const pendingParents = commit.parents.filter((parent) => this.#commits.has(parent) && !visited.has(parent));
        if (pendingParents.length > 0) {
          stack.push(...pendingParents);
          continue;
        }
        stack.pop();
        if (visited.has(oid)) continue;
        visited.add(oid);
        yield { oid, ...commit };
      }
    }
  }
}

/** Drops pushes that a crash or restart interrupted. */
export function dropInterruptedPushes(store: Tables): void {
  for (const row of store.sql.all("SELECT DISTINCT push FROM incoming")) dropPush(store, Number(row.push));
}

function dropPush({ sql, objects }: Tables, push: number): void {
  sql.transaction(() => {
    objects.dropChunks(chunkIdsQuery("1"), push);
    sql.run("DELETE FROM incoming WHERE push = ?", push);
  });
}

function chunkIdsQuery(condition: string): string {
  return `SELECT chunks.id FROM incoming JOIN chunks ON chunks.id >= incoming.first AND chunks.id < incoming.first + incoming.chunks
          WHERE incoming.push = ? AND ${condition}`;
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
