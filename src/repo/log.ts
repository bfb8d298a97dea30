// A page of first-parent history.

import { parseCommit } from "./commit.ts";
import type { Store } from "./store.ts";

export type LogEntry = {
  hash: string;
  treeHash: string;
  author: string;
  authorEmail: string;
  /** Seconds, as in git. */
  authorTime: number;
  committer: string;
  committerEmail: string;
  commitTime: number;
  message: string;
  parents: string[];
};

export type LogResult = { ref: string; limit: number; offset: number; entries: LogEntry[] };

const LIMIT_DEFAULT = 30;
const LIMIT_MAX = 100;

export function log(store: Store, ref: string, limit: number = LIMIT_DEFAULT, offset: number = 0): LogResult {
  const rows = Math.min(LIMIT_MAX, Math.max(1, Math.trunc(limit)));
  const from = Math.max(0, Math.trunc(offset));
  const oids = store.history.listFirstParents(store.refs.resolve(ref), rows, from);
  const entries = store.objects.readCommits(oids).map((bytes, at) => toLogEntry(oids[at]!, bytes));
  return { ref, limit: rows, offset: from, entries };
}

function toLogEntry(oid: string, bytes: Uint8Array): LogEntry {
  const { tree, parents, author, committer, message } = parseCommit(bytes);
  return {
    hash: oid,
    treeHash: tree,
    author: author.name,
    authorEmail: author.email,
    authorTime: author.time,
    committer: committer.name,
    committerEmail: committer.email,
    commitTime: committer.time,
    message: message.trimEnd(),
    parents,
  };
}
