// What the objects of a pack are and point to. Each object is judged when it comes; whether what it points to exists
// is known only at the end, so the names are collected once each.

import { fail } from "../lib/sys-error.ts";
import { checkCommit, type Commit, parseTag } from "./commit.ts";
import type { Limits } from "./limits.ts";
import type { ObjectKind } from "./oid.ts";
import { checkTree, isTree } from "./tree.ts";

export class References {
  readonly #limits: Limits;
  readonly #wanted = new Map<string, ObjectKind>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Fails where the object is not acceptable; a commit comes back read. */
  collect(kind: ObjectKind, bytes: Uint8Array): Commit | undefined {
    switch (kind) {
      case "blob":
        return undefined;
      case "tree":
        for (const entry of checkTree(bytes, this.#limits.treeEntries)) this.#want(entry.oid, isTree(entry) ? "tree" : "blob");
        return undefined;
      case "commit": {
        const commit = checkCommit(bytes);
        this.#want(commit.tree, "tree");
        for (const parent of commit.parents) this.#want(parent, "commit");
        return commit;
      }
      case "tag": {
        const tag = parseTag(bytes);
        this.#want(tag.target, tag.kind);
        return undefined;
      }
    }
  }

  check(kindOf: (oid: string) => ObjectKind | undefined): void {
    for (const [oid, kind] of this.#wanted) {
      const found = kindOf(oid);
      if (found === undefined) fail(400, `Bad pack: ${kind} ${oid} is missing`);
      if (found !== kind) fail(400, `Bad pack: ${oid} is a ${found} and is used as a ${kind}`);
    }
  }

  #want(oid: string, kind: ObjectKind): void {
    const wanted = this.#wanted.get(oid);
    if (wanted === kind) return;
    if (wanted !== undefined) fail(400, `Bad pack: ${oid} is used as a ${wanted} and as a ${kind}`);
    if (this.#wanted.size >= this.#limits.packReferences)
      fail(413, `Pack too large: it points to more than ${this.#limits.packReferences} objects`);
    this.#wanted.set(oid, kind);
  }
}
