// Finds the objects that a client lacks, given the commits it wants and those it has. Every fetch needs this.

import type { CommitNode } from "./history.ts";
import { WorkSlices } from "./work-slices.ts";
import type { Store } from "./store.ts";
import { isTree, parseTree } from "./tree.ts";

export type FetchRequest = {
  /** Commits, trees, blobs or tags. */
  wants: readonly string[];
  /** Commits that the client has, with all their ancestors down to its shallow ones. */
  haves: readonly string[];
  /** Commits whose parents the client does not have. */
  theirShallow?: ReadonlySet<string>;
  /** Commits whose parents the client does not want. */
  newShallow?: ReadonlySet<string>;
};

const OBJECTS_PER_YIELD = 200;

/** Returns the objects in the order in which they go into the pack. */
export async function findMissingObjects(store: Store, wanted: FetchRequest): Promise<Set<string>> {
  const { refs, objects } = store;
  const result = new Set<string>();
  const tips: string[] = [];
  const nonCommits: string[] = [];
  for (const want of wanted.wants) {
    for (let oid = want; objects.kind(oid) === "tag"; oid = refs.tagTarget(oid)) result.add(oid);
    const peeled = refs.peel(want);
    if (peeled?.kind === "commit") tips.push(peeled.oid);
    else if (peeled !== undefined) nonCommits.push(peeled.oid);
  }
  const slices = new WorkSlices(OBJECTS_PER_YIELD);
  const { missing, edge } = await findMissingCommits(store, tips, wanted, slices);
  const known = new Set<string>();
  for (const node of edge) await addTree(store, node.tree, known, new Set(), slices);
  for (const node of missing) result.add(node.oid);
  for (const node of missing) await addTree(store, node.tree, result, known, slices);
  for (const oid of nonCommits) {
    if (objects.kind(oid) === "tree") await addTree(store, oid, result, known, slices);
    else if (!known.has(oid)) result.add(oid);
  }
  return result;
}

/** Visits the highest generation first, so that a commit has all its marks before it is visited. */
async function findMissingCommits(
  store: Store,
  tips: readonly string[],
  wanted: FetchRequest,
  slices: WorkSlices,
): Promise<{ missing: CommitNode[]; edge: CommitNode[] }> {
  const walk = new Walk(store, wanted);
  for (const oid of wanted.haves) walk.mark(oid, "had");
  for (const oid of tips) walk.mark(oid, "wanted");
  const missing: CommitNode[] = [];
  while (walk.isUnfinished) {
    if (slices.addWork()) await slices.pause();
    const { node, had, wanted: isWanted, isTheirEdge } = walk.next();
    if (isWanted && !had) missing.push(node);
    const followsParents = isWanted && wanted.newShallow?.has(node.oid) !== true;
    for (const parent of node.parents) {
      if (had && !isTheirEdge) walk.mark(parent, "had");
      if (followsParents) walk.mark(parent, "wanted");
    }
  }
  return { missing, edge: walk.findEdge(missing) };
}

type Mark = { node: CommitNode; had: boolean; wanted: boolean; isTheirEdge: boolean };

/** A priority queue of commits to visit, by generation. */
class Walk {
  readonly #store: Store;
  readonly #theirShallow: ReadonlySet<string>;
  /** Whether objects may be missing below commits that the client has. */
  readonly #deepens: boolean;
  readonly #marks = new Map<string, Mark>();
  /** Sorted, highest generation last. */
  readonly #queue: Mark[] = [];
  /** How many queued commits can still lead to a missing object. The walk ends when this is 0. */
  #live = 0;

  constructor(store: Store, { theirShallow = new Set(), newShallow }: FetchRequest) {
    this.#store = store;
    this.#theirShallow = theirShallow;
    this.#deepens = theirShallow.size > 0 && theirShallow !== newShallow;
  }

  get isUnfinished(): boolean {
    return this.#live > 0;
  }

  mark(oid: string, as: "had" | "wanted"): void {
    let mark = this.#marks.get(oid);
    if (mark === undefined) {
      mark = { node: this.#store.history.requireNode(oid), had: false, wanted: false, isTheirEdge: this.#theirShallow.has(oid) };
      this.#marks.set(oid, mark);
      this.#insert(mark);
    }
    const before = this.#isLive(mark);
    mark[as] = true;
    this.#live += Number(this.#isLive(mark)) - Number(before);
  }

  next(): Mark {
    const mark = this.#queue.pop()!;
    if (this.#isLive(mark)) this.#live--;
    return mark;
  }

  /** The parents of missing commits that the client has: their trees share most objects with the missing ones. */
  findEdge(missing: readonly CommitNode[]): CommitNode[] {
    const edge = new Set<CommitNode>();
    for (const node of missing) {
      for (const parent of node.parents) {
        const mark = this.#marks.get(parent);
        if (mark?.had === true) edge.add(mark.node);
      }
    }
    return [...edge];
  }

  #isLive({ wanted, had }: Mark): boolean {
    return wanted && (!had || this.#deepens);
  }

  #insert(mark: Mark): void {
    let low = 0;
    let high = this.#queue.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#queue[middle]!.node.generation < mark.node.generation) low = middle + 1;
      else high = middle;
    }
    this.#queue.splice(low, 0, mark);
  }
}

/** Adds the tree and everything below it to `into`, except what is in `known`. */
async function addTree({ objects }: Store, root: string, into: Set<string>, known: ReadonlySet<string>, slices: WorkSlices): Promise<void> {
  const stack = [root];
  for (let tree = stack.pop(); tree !== undefined; tree = stack.pop()) {
    if (into.has(tree) || known.has(tree)) continue;
    into.add(tree);
    if (slices.addWork()) await slices.pause();
    for (const entry of parseTree(objects.read(tree, "tree"))) {
      if (isTree(entry)) stack.push(entry.oid);
      else if (!known.has(entry.oid)) into.add(entry.oid);
    }
  }
}
