// Branches and tags. Owns the tables refs and head. A change is a compare-and-swap: the caller passes where it believes the
// ref points.

import { fail } from "../lib/sys-error.ts";
import type { Sql } from "../ports/sql.ts";
import { parseTag } from "./commit.ts";
import type { Objects } from "./objects.ts";
import { isOid, type ObjectKind } from "./oid.ts";
import { checkReadRef, isRefName } from "./ref-names.ts";

const PEEL_MAX = 10;
const SHORT_HASH = /^[0-9a-f]{4,39}$/;

export class Refs {
  readonly #sql: Sql;
  readonly #objects: Objects;
  readonly #refsMax: number;

  constructor(sql: Sql, objects: Objects, refsMax: number) {
    this.#sql = sql;
    this.#objects = objects;
    this.#refsMax = refsMax;
  }

  get(name: string): string | undefined {
    const row = this.#sql.get("SELECT oid FROM refs WHERE name = ?", name);
    return row && String(row.oid);
  }

  /** Sorted by name. */
  list(): { name: string; oid: string }[] {
    return this.#sql.all("SELECT name, oid FROM refs ORDER BY name").map((row) => ({ name: String(row.name), oid: String(row.oid) }));
  }

  /** The full name of the default branch, which need not exist. */
  head(): string {
    return String(this.#sql.get("SELECT ref FROM head")!.ref);
  }

  setHead(name: string): void {
    if (!name.startsWith("refs/heads/") || !isRefName(name)) fail(400, `Invalid ref: ${name}`);
    this.#sql.run("UPDATE head SET ref = ?", name);
  }

  /** Moves a ref from `from` to `to` (null is absent). Returns why it could not; undefined if it did. */
  move(name: string, from: string | null, to: string | null): string | undefined {
    if (!isRefName(name)) return "funny refname";
    if ((this.get(name) ?? null) !== from) return "stale info";
    if (to === null) {
      this.#sql.run("DELETE FROM refs WHERE name = ?", name);
      return undefined;
    }
    const kind = this.#objects.kind(to);
    if (kind === undefined) return "missing necessary objects";
    if (name.startsWith("refs/heads/") && kind !== "commit") return "a branch must point to a commit";
    if (from === null) {
      const fault = this.#creationFault(name);
      if (fault !== undefined) return fault;
    }
    this.#sql.run("INSERT INTO refs VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET oid = excluded.oid", name, to);
    // A clone of a repository whose default branch does not exist would check nothing out.
    if (name.startsWith("refs/heads/") && this.get(this.head()) === undefined) this.setHead(name);
    return undefined;
  }

  /** The commit that a caller means by a branch, a tag, a full name or a hash. */
  resolve(ref: string): string {
    checkReadRef(ref);
    const oid = this.#lookup(ref);
    if (oid === undefined) fail(404, `Ref not found: ${ref}`);
    const peeled = this.peel(oid);
    if (peeled?.kind !== "commit") fail(400, `Ref ${ref} does not lead to a commit`);
    return peeled.oid;
  }

  /** The object that an annotated tag finally points to; any other object is returned as it is. */
  peel(oid: string): { oid: string; kind: ObjectKind } | undefined {
    for (let i = 0; i < PEEL_MAX; i++) {
      const kind = this.#objects.kind(oid);
      if (kind === undefined) return undefined;
      if (kind !== "tag") return { oid, kind };
      oid = this.tagTarget(oid);
    }
    return undefined;
  }

  /** The object that a tag object points to, which may be another tag. */
  tagTarget(oid: string): string {
    return parseTag(this.#objects.read(oid, "tag")).target;
  }

  #lookup(ref: string): string | undefined {
    if (isOid(ref)) return ref;
    const name = ref === "HEAD" ? this.head() : ref;
    const named = this.get(name) ?? this.get(`refs/heads/${ref}`) ?? this.get(`refs/tags/${ref}`) ?? this.get(`refs/${ref}`);
    if (named !== undefined || !SHORT_HASH.test(ref)) return named;
    const found = this.#sql.all("SELECT oid FROM commits WHERE oid > ? AND oid < ? LIMIT 2", ref, `${ref}g`);
    if (found.length > 1) fail(400, `Ref ${ref} is ambiguous: more than one commit begins with it`);
    return found[0] && String(found[0].oid);
  }

  /** A name cannot be a branch and a folder of branches at once, because git keeps refs as files. */
  #creationFault(name: string): string | undefined {
    for (let slash = name.lastIndexOf("/"); slash > "refs/heads".length; slash = name.lastIndexOf("/", slash - 1)) {
      const outer = name.slice(0, slash);
      if (this.get(outer) !== undefined) return `'${outer}' exists; cannot create '${name}'`;
    }
    const inner = this.#sql.get("SELECT name FROM refs WHERE name > ? AND name < ? LIMIT 1", `${name}/`, `${name}0`);
    if (inner !== undefined) return `'${String(inner.name)}' exists; cannot create '${name}'`;
    const count = Number(this.#sql.get("SELECT count(*) AS n FROM refs")!.n);
    return count >= this.#refsMax ? `more than ${this.#refsMax} refs` : undefined;
  }
}
