// A branch brought to where a remote's ref is, whatever it was before.

import { fail } from "../lib/sys-error.ts";
import { ByteReader } from "./byte-reader.ts";
import { withPack } from "./receive.ts";
import { branchRef, shortName } from "./ref-names.ts";
import { fetchPack, findRemote, type HttpFetch } from "./remote.ts";
import type { Store } from "./store.ts";

export type ImportRequest = { ref?: string | undefined; remoteUrl: string; remoteRef?: string | undefined; http: HttpFetch };
export type Imported = { ref: string; head: string | null; changed: boolean; remoteUrl: string; remoteRef: string };

const HAVES_PER_REF = 32;
const HAVES_MAX = 512;

export async function importBranch(store: Store, { ref = "main", remoteUrl, remoteRef, http }: ImportRequest): Promise<Imported> {
  const { refs, history, limits } = store;
  const name = branchRef(ref);
  const wanted = remoteRef ?? shortName(name);
  const remote = await findRemote(http, remoteUrl, wanted, limits);
  const move = (): Imported => {
    const head = refs.peel(remote.ref.oid);
    if (head?.kind !== "commit") fail(400, `${wanted} of ${remoteUrl} does not lead to a commit`);
    const before = refs.get(name) ?? null;
    const fault = before === head.oid ? undefined : refs.move(name, before, head.oid);
    if (fault !== undefined) fail(409, `Cannot write ${shortName(name)}: ${fault}`);
    return { ref: shortName(name), head: head.oid, changed: before !== head.oid, remoteUrl, remoteRef: wanted };
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
