// The changes of one commit, and the differences between two commits.

import { type DiffWork, type Hunk, newDiffWork, textHunks } from "./hunks.ts";
import { WorkSlices } from "./work-slices.ts";
import type { Store } from "./store.ts";
import { decodeTextLossily } from "./text.ts";
import { type ChangedFile, findChangedFiles } from "./tree-diff.ts";

export type RepoDiffFile = {
  path: string;
  status: "added" | "deleted" | "modified";
  oldHash?: string;
  newHash?: string;
  /** Absent if the caller asked for counts only, and for files that no longer fit into the answer. */
  hunks?: Hunk[];
};

export type DiffStats = { filesChanged: number; additions: number; deletions: number };
/** `truncated`: the answer does not show everything. */
type Difference = { stats: DiffStats; files: RepoDiffFile[]; truncated?: true };

export type DiffResult = Difference & { commitHash: string; parentHash: string | null };
export type CompareResult = Difference & { base: string; head: string; baseHash: string; headHash: string };

const CONTEXT_DEFAULT = 3;
const CONTEXT_MAX = 20;
const FILES_MAX = 5000;
const FILE_BYTES_MAX = 4 * 1024 * 1024;
const HUNKS_CHARS_MAX = 4 * 1024 * 1024;
/** After this many bytes no further file is read. */
const READ_BYTES_MAX = 256 * 1024 * 1024;
const BINARY_TEST_BYTES = 8192;
/** How many bytes are compared before the work yields to the event loop; every file has a fixed cost on top of its size. */
const YIELD_BYTES = 2 * 1024 * 1024;
const FILE_COST_BYTES = 8192;

/** Compares a commit with its first parent, or with an empty tree if it has none. */
export async function diffCommit(store: Store, commit: string, context?: number): Promise<DiffResult> {
  const node = store.history.requireNode(store.refs.resolve(commit));
  const parent = node.parents[0] ?? null;
  const before = parent === null ? null : store.history.requireNode(parent).tree;
  return { commitHash: node.oid, parentHash: parent, ...(await compareTrees(store, before, node.tree, context, true)) };
}

export async function compare(store: Store, base: string, head: string, context?: number, stat?: boolean): Promise<CompareResult> {
  const baseHash = store.refs.resolve(base);
  const headHash = store.refs.resolve(head);
  const [before, after] = [store.history.requireNode(baseHash).tree, store.history.requireNode(headHash).tree];
  return { base, head, baseHash, headHash, ...(await compareTrees(store, before, after, context, stat !== true)) };
}

async function compareTrees(
  store: Store,
  before: string | null,
  after: string,
  requestedContext: number | undefined,
  withHunks: boolean,
): Promise<Difference> {
  const context = Math.min(CONTEXT_MAX, Math.max(0, Math.trunc(requestedContext ?? CONTEXT_DEFAULT)));
  const { files: changed, isCut } = findChangedFiles(store.objects, before, after, FILES_MAX);
  const stats: DiffStats = { filesChanged: changed.length, additions: 0, deletions: 0 };
  let hunkCharsLeft = HUNKS_CHARS_MAX;
  let readBytesLeft = READ_BYTES_MAX;
  let truncated = isCut;
  const budget = newDiffWork();
  const slices = new WorkSlices(YIELD_BYTES);
  const files = changed.map(describeFile);
  for (const [at, change] of changed.entries()) {
    const size = sizeOf(store, change.before) + sizeOf(store, change.after);
    readBytesLeft -= size;
    if (readBytesLeft < 0) {
      truncated = true;
      continue;
    }
    const effortBefore = budget.left;
    const { hunks, additions, deletions } = buildFileHunks(store, change, context, budget);
    stats.additions += additions;
    stats.deletions += deletions;
    if (slices.addWork(size + FILE_COST_BYTES + effortBefore - budget.left)) await slices.pause();
    if (!withHunks) continue;
    hunkCharsLeft -= hunks.reduce((sum, hunk) => sum + hunk.lines.reduce((chars, line) => chars + line.content.length + 1, 0), 0);
    if (hunkCharsLeft < 0) truncated = true;
    else files[at]!.hunks = hunks;
  }
  return truncated ? { stats, files, truncated } : { stats, files };
}

function describeFile({ path, before, after }: ChangedFile): RepoDiffFile {
  const file: RepoDiffFile = { path, status: before === undefined ? "added" : after === undefined ? "deleted" : "modified" };
  if (before !== undefined) file.oldHash = before.oid;
  if (after !== undefined) file.newHash = after.oid;
  return file;
}

function buildFileHunks(
  store: Store,
  { before, after }: ChangedFile,
  context: number,
  budget: DiffWork,
): { hunks: Hunk[]; additions: number; deletions: number } {
  if (before?.oid === after?.oid) return { hunks: [], additions: 0, deletions: 0 };
  if (sizeOf(store, before) > FILE_BYTES_MAX || sizeOf(store, after) > FILE_BYTES_MAX)
    return makePlaceholderHunk("File is too large to show");
  const old = readBlob(store, before);
  const now = readBlob(store, after);
  if (isBinary(old) || isBinary(now)) return makePlaceholderHunk("Binary files differ");
  return textHunks(decodeTextLossily(old), decodeTextLossily(now), context, budget);
}

function makePlaceholderHunk(content: string): { hunks: Hunk[]; additions: number; deletions: number } {
  const hunk: Hunk = { oldStart: 0, oldCount: 0, newStart: 0, newCount: 0, lines: [{ tag: "binary", content }] };
  return { hunks: [hunk], additions: 0, deletions: 0 };
}

function sizeOf({ objects }: Store, side: ChangedFile["before"]): number {
  return side === undefined ? 0 : (objects.findStored(side.oid)?.size ?? 0);
}

function readBlob({ objects }: Store, side: ChangedFile["before"]): Uint8Array {
  return side === undefined ? new Uint8Array(0) : objects.read(side.oid, "blob");
}

function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, BINARY_TEST_BYTES).includes(0);
}
