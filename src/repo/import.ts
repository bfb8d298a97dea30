// A branch brought to where a remote's ref is, whatever it was before, or to a commit of one's own on top of that.

import { fail } from "../lib/sys-error.ts";
import { type ApplyRequest, checkMessage, writeCommit } from "./apply.ts";
import { ByteReader } from "./byte-reader.ts";
import { parseCommit } from "./commit.ts";
import { withPack } from "./receive.ts";
import { branchRef, shortName } from "./ref-names.ts";
import { fetchPack, findRemote, type HttpFetch } from "./remote.ts";
import type { Store } from "./store.ts";

/** Says in the history who imported something and why. */
type Note = Pick<ApplyRequest, "message" | "author" | "now">;

export type ImportRequest = {
  ref?: string | undefined;
  remoteUrl: string;
  remoteRef?: string | undefined;
  note?: Note | undefined;
  http: HttpFetch;
};
export type Imported = { ref: string; head: string | null; changed: boolean; remoteUrl: string; remoteRef: string };

const HAVES_PER_REF = 32;
const HAVES_MAX = 512;

export async function importBranch(store: Store, { ref = "main", remoteUrl, remoteRef, note, http }: ImportRequest): Promise<Imported> {
  const { refs, history, limits } = store;
  const checked = note && { ...note, message: checkMessage(note.message, limits.messageBytes) };
  const name = branchRef(ref);
  const wanted = remoteRef ?? shortName(name);
  const remote = await findRemote(http, remoteUrl, wanted, limits);
  const move = (): Imported => {
    const theirs = refs.peel(remote.ref.oid);
    if (theirs?.kind !== "commit") fail(400, `${wanted} of ${remoteUrl} does not lead to a commit`);
    const before = refs.get(name) ?? null;
    const head = checked === undefined ? theirs.oid : commitNote(store, theirs.oid, before, checked);
    const fault = before === head ? undefined : refs.move(name, before, head);
    if (fault !== undefined) fail(409, `Cannot write ${shortName(name)}: ${fault}`);
    return { ref: shortName(name), head, changed: before !== head, remoteUrl, remoteRef: wanted };
  };
  if (store.objects.kind(remote.ref.oid) !== undefined) return withPack(store, null, move);

  const haves = refs.list().flatMap(({ oid }) => {
    const peeled = refs.peel(oid);
    return peeled?.kind === "commit" ? history.line(peeled.oid, HAVES_PER_REF, 0) : [];
  });
  const pack = new ByteReader(await fetchPack(http, remote, [...new Set(haves)].slice(0, HAVES_MAX)));
  try {
    return await withPack(store, pack, move);
  } finally {
    await pack.drain(0);
  }
}

/** A commit that changes no file and holds the note, or the one that is there: importing the same twice is importing it once. */
function commitNote(store: Store, theirs: string, before: string | null, note: Note): string {
  const { tree } = store.history.node(theirs);
  if (before !== null) {
    const present = parseCommit(store.objects.read(before, "commit"));
    const [parent, ...others] = present.parents;
    if (parent === theirs && others.length === 0 && present.tree === tree && present.message === note.message) return before;
  }
  return writeCommit(store, { tree, parents: [theirs], ...note });
}
