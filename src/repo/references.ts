// Validates the objects of a pack and collects what they reference. An object itself is checked when it arrives; whether its
// references exist is known only at the end, so each is recorded once.

import { fail } from "../lib/sys-error.ts";
import { checkCommit, type Commit, parseTag } from "./commit.ts";
import type { Limits } from "./limits.ts";
import type { ObjectKind } from "./oid.ts";
import { checkTree, isTree } from "./tree.ts";

export class References {
  readonly #limits: Limits;
  readonly #referenced = new Map<string, ObjectKind>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Fails if the object is not acceptable. Returns a commit parsed. */
  collect(kind: ObjectKind, bytes: Uint8Array): Commit | undefined {
    switch (kind) {
      case "blob":
        return undefined;
      case "tree":
        for (const entry of checkTree(bytes, this.#limits.treeEntries)) this.#addReference(entry.oid, isTree(entry) ? "tree" : "blob");
        return undefined;
      case "commit": {
        const commit = checkCommit(bytes);
        this.#addReference(commit.tree, "tree");
        for (const parent of commit.parents) this.#addReference(parent, "commit");
        return commit;
      }
      case "tag": {
        const tag = parseTag(bytes);
        this.#addReference(tag.target, tag.kind);
        return undefined;
      }
    }
  }

  check(kindOf: (oid: string) => ObjectKind | undefined): void {
    for (const [oid, kind] of this.#referenced) {
      const found = kindOf(oid);
      if (found === undefined) fail(400, `Bad pack: ${kind} ${oid} is missing`);
      if (found !== kind) fail(400, `Bad pack: ${oid} is a ${found} and is used as a ${kind}`);
    }
  }

  #addReference(oid: string, kind: ObjectKind): void {
    const known = this.#referenced.get(oid);
    if (known === kind) return;
    if (known !== undefined) fail(400, `Bad pack: ${oid} is used as a ${known} and as a ${kind}`);
    if (this.#referenced.size >= this.#limits.packReferences)
      fail(413, `Pack too large: it points to more than ${this.#limits.packReferences} objects`);
    this.#referenced.set(oid, kind);
  }
}
