// Sets a branch to the commit of a remote's ref, whatever it pointed to before, or to a commit of our own on top of it.

import { fail } from "../lib/sys-error.ts";
import { type ApplyRequest, normalizeCommitMessage, writeCommit } from "./apply.ts";
import { ByteReader } from "./byte-reader.ts";
import { parseCommit } from "./commit.ts";
import { withPublishedPack } from "./receive.ts";
import { toBranchRef, shortRefName } from "./ref-names.ts";
import { fetchPack, findRemoteRef, type HttpFetch } from "./remote.ts";
import type { Store } from "./store.ts";

/** Records in the history who imported something and why. */
type ImportNote = Pick<ApplyRequest, "message" | "author" | "now">;

export type ImportRequest = {
  ref?: string | undefined;
  remoteUrl: string;
  remoteRef?: string | undefined;
  note?: ImportNote | undefined;
  http: HttpFetch;
};
export type ImportResult = { ref: string; head: string | null; changed: boolean; remoteUrl: string; remoteRef: string };

const HAVES_PER_REF = 32;
const HAVES_MAX = 512;

export async function importBranch(store: Store, { ref = "main", remoteUrl, remoteRef, note, http }: ImportRequest): Promise<ImportResult> {
  const { refs, history, limits } = store;
  const checkedNote = note && { ...note, message: normalizeCommitMessage(note.message, limits.messageBytes) };
  const name = toBranchRef(ref);
  const remoteName = remoteRef ?? shortRefName(name);
  const remote = await findRemoteRef(http, remoteUrl, remoteName, limits);
  const move = (): ImportResult => {
    const remoteCommit = refs.peel(remote.ref.oid);
    if (remoteCommit?.kind !== "commit") fail(400, `${remoteName} of ${remoteUrl} does not lead to a commit`);
    const before = refs.get(name) ?? null;
    const head = checkedNote === undefined ? remoteCommit.oid : commitNote(store, remoteCommit.oid, before, checkedNote);
    const fault = before === head ? undefined : refs.move(name, before, head);
    if (fault !== undefined) fail(409, `Cannot write ${shortRefName(name)}: ${fault}`);
    return { ref: shortRefName(name), head, changed: before !== head, remoteUrl, remoteRef: remoteName };
  };
  if (store.objects.kind(remote.ref.oid) !== undefined) return withPublishedPack(store, null, move);

  const haves = refs.list().flatMap(({ oid }) => {
    const peeled = refs.peel(oid);
    return peeled?.kind === "commit" ? history.listFirstParents(peeled.oid, HAVES_PER_REF, 0) : [];
  });
  const pack = new ByteReader(await fetchPack(http, remote, [...new Set(haves)].slice(0, HAVES_MAX)));
  try {
    return await withPublishedPack(store, pack, move);
  } finally {
    await pack.drain(0);
  }
}

/** Writes a commit that changes no file and holds the note. Importing the same commit again returns the existing one. */
function commitNote(store: Store, remoteCommit: string, before: string | null, note: ImportNote): string {
  const { tree } = store.history.requireNode(remoteCommit);
  if (before !== null) {
    const present = parseCommit(store.objects.read(before, "commit"));
    const [parent, ...others] = present.parents;
    if (parent === remoteCommit && others.length === 0 && present.tree === tree && present.message === note.message) return before;
  }
  return writeCommit(store, { tree, parents: [remoteCommit], ...note });
}
