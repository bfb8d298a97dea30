// Shallow clones: where the history of a clone with a given depth ends.

import type { Store } from "./store.ts";

export type ShallowUpdate = {
  /** Commits of the new history whose parents are not sent. */
  edge: Set<string>;
  /** The commits of `edge` that are not shallow on the client yet. */
  shallow: string[];
  /** The client's shallow commits that get their parents now. */
  unshallow: string[];
};

/** For a history that ends `depth` commits below the wants on every path. */
export function computeShallowUpdate(store: Store, wants: readonly string[], depth: number, theirs: ReadonlySet<string>): ShallowUpdate {
  const edge = new Set<string>();
  const inside = new Set<string>();
  walk(store, wants, depth, (oid, level, parents) => {
    if (level === depth && parents.length > 0) edge.add(oid);
    else inside.add(oid);
    return true;
  });
  return {
    edge,
    shallow: [...edge].filter((oid) => !theirs.has(oid)),
    unshallow: [...theirs].filter((oid) => inside.has(oid)),
  };
}

/** How many levels below the wants the client's history ends now. */
export function findClientDepth(store: Store, wants: readonly string[], theirs: ReadonlySet<string>): number {
  let deepest = 0;
  walk(store, wants, Number.POSITIVE_INFINITY, (oid, level) => {
    if (theirs.has(oid)) deepest = Math.max(deepest, level);
    return !theirs.has(oid);
  });
  return deepest;
}

/** Breadth first, so that each commit is visited at its smallest depth. */
function walk(
  { refs, history }: Store,
  wants: readonly string[],
  depth: number,
  visit: (oid: string, level: number, parents: readonly string[]) => boolean,
): void {
  const seen = new Set<string>();
  let level: string[] = [];
  for (const want of wants) {
    const peeled = refs.peel(want);
    if (peeled?.kind === "commit" && !seen.has(peeled.oid)) {
      seen.add(peeled.oid);
      level.push(peeled.oid);
    }
  }
  for (let n = 1; n <= depth && level.length > 0; n++) {
    const next: string[] = [];
    for (const oid of level) {
      const { parents } = history.requireNode(oid);
      if (!visit(oid, n, parents)) continue;
      for (const parent of parents) {
        if (seen.has(parent)) continue;
        seen.add(parent);
        next.push(parent);
      }
    }
    level = next;
  }
}
