// One git repository in one database. It knows commits, trees and refs, but no accounts: callers are authorized before they
// get here. There is one instance per database, because the constructor drops pushes that were interrupted.

import { fail } from "../lib/sys-error.ts";
import type { Sql } from "../ports/sql.ts";
import { type ApplyResult, apply, type ApplyRequest } from "./apply.ts";
import { ByteReader, type ByteStream } from "./byte-reader.ts";
import type { Person } from "./commit.ts";
import { compare, type CompareResult, diffCommit, type DiffResult } from "./diff.ts";
import { History } from "./history.ts";
import { importBranch, type ImportResult, type ImportRequest } from "./import.ts";
import { LIMITS, type Limits } from "./limits.ts";
import { log, type LogResult } from "./log.ts";
import { Objects } from "./objects.ts";
import { dropInterruptedPushes } from "./quarantine.ts";
import { type PathEntry, lookup, read, type ReadResult } from "./read.ts";
import { receive, type ReceiveResult, type ReceiveOptions, type RefUpdate } from "./receive.ts";
import { toBranchRef, shortRefName } from "./ref-names.ts";
import { Refs } from "./refs.ts";
import { migrate } from "./schema/migrate.ts";
import { search, type SearchResult } from "./search.ts";
import type { Store } from "./store.ts";

const DEFAULT_REF = "main";

export class Repository {
  readonly store: Store;

  constructor(sql: Sql, limits: Partial<Limits> = {}) {
    migrate(sql);
    const all = { ...LIMITS, ...limits };
    const objects = new Objects(sql);
    this.store = { sql, objects, refs: new Refs(sql, objects, all.refs), history: new History(sql), limits: all };
    dropInterruptedPushes(this.store);
    // Git assumes that the empty tree exists and does not always send it.
    objects.write("tree", new Uint8Array(0));
  }

  refs(): { heads: Record<string, string>; tags: Record<string, string> } {
    const heads: Record<string, string> = {};
    const tags: Record<string, string> = {};
    for (const { name, oid } of this.store.refs.list()) {
      if (name.startsWith("refs/heads/")) heads[shortRefName(name)] = oid;
      else if (name.startsWith("refs/tags/")) tags[shortRefName(name)] = oid;
    }
    return { heads, tags };
  }

  get defaultBranch(): string {
    return shortRefName(this.store.refs.head());
  }

  set defaultBranch(ref: string) {
    this.store.refs.setHead(toBranchRef(ref));
  }

  /** The commit of a branch; null if the branch does not exist. */
  head(ref: string = DEFAULT_REF): string | null {
    return this.store.refs.get(toBranchRef(ref)) ?? null;
  }

  read(ref: string = DEFAULT_REF, path: string = ""): ReadResult {
    return read(this.store, ref, path);
  }

  /** The entry at a path, without its content. */
  lookup(ref: string, path: string): PathEntry | undefined {
    return lookup(this.store, ref, path);
  }

  /** The bytes of a file, or the target of a link. */
  readBytes(ref: string, path: string): Uint8Array {
    const found = lookup(this.store, ref, path);
    if (found === undefined) fail(404, `Path not found: ${path} at ${ref}`);
    if (found.type === "tree") fail(409, `Is a directory: ${path}`);
    return this.store.objects.read(found.hash, "blob");
  }

  log(ref: string = DEFAULT_REF, limit?: number, offset?: number): LogResult {
    return log(this.store, ref, limit, offset);
  }

  diff(commit: string, context?: number): Promise<DiffResult> {
    return diffCommit(this.store, commit, context);
  }

  compare(base: string, head: string, context?: number, stat?: boolean): Promise<CompareResult> {
    return compare(this.store, base, head, context, stat);
  }

  search(ref: string, query: string, prefix?: string): Promise<SearchResult> {
    return search(this.store, ref, query, prefix);
  }

  apply(request: ApplyRequest): ApplyResult {
    return this.store.sql.transaction(() => apply(this.store, request));
  }

  /** Receives a pack and its ref updates. `pack` is null if all updates are deletions. */
  receive(pack: ByteStream | null, updates: readonly RefUpdate[], options?: ReceiveOptions): Promise<ReceiveResult> {
    return receive(this.store, pack === null ? null : new ByteReader(pack), updates, options);
  }

  /** Sets a branch to the commit of a remote's ref. */
  import(request: ImportRequest): Promise<ImportResult> {
    return importBranch(this.store, request);
  }

  /** Writes an empty first commit on a branch unless the branch exists. */
  create(slug: string, author: Person, now: number, ref: string = DEFAULT_REF): { ref: string; head: string | null; created: boolean } {
    const head = this.head(ref);
    if (head !== null) return { ref: shortRefName(toBranchRef(ref)), head, created: false };
    const applied = this.apply({ ref, message: `repo: create ${slug}`, allowEmpty: true, ops: [], author, now });
    return { ref: applied.ref, head: applied.head, created: true };
  }
}
