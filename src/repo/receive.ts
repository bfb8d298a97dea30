// Receives a pack together with its ref updates: no object of the pack becomes visible unless a ref moves.

import { SysError } from "../lib/sys-error.ts";
import { StorageError } from "../ports/sql.ts";
import type { ByteReader } from "./byte-reader.ts";
import { Quarantine } from "./quarantine.ts";
import type { Store } from "./store.ts";
import { unpack } from "./unpack.ts";

/** Null means absent: a ref from null is created, a ref to null is deleted. */
export type RefUpdate = { ref: string; from: string | null; to: string | null };

export type ReceiveOptions = {
  /** All refs move or none. */
  atomic?: boolean;
  /** Whether a branch may move to a commit that does not contain its present one. */
  force?: boolean;
};

/** `unpack` is null if the pack was accepted; the `fault` of a ref is null if the ref moved. */
export type ReceiveResult = { unpack: string | null; refs: { ref: string; fault: string | null }[] };

/** `pack` is null if all updates are deletions. */
export async function receive(
  store: Store,
  pack: ByteReader | null,
  updates: readonly RefUpdate[],
  options: ReceiveOptions = {},
): Promise<ReceiveResult> {
  try {
    const refs = await withPublishedPack(store, pack, () => moveRefs(store, updates, options));
    return { unpack: null, refs };
  } catch (error) {
    if (error instanceof NothingMoved) return { unpack: null, refs: error.refs };
    if (!(error instanceof SysError || error instanceof StorageError)) throw error;
    return { unpack: error.message, refs: updates.map(({ ref }) => ({ ref, fault: "unpacker error" })) };
  }
}

/** `body` runs in the transaction that publishes the pack. If it throws, nothing of the pack is kept. */
export async function withPublishedPack<T>(store: Store, pack: ByteReader | null, body: () => T): Promise<T> {
  if (pack === null) return store.sql.transaction(body);
  const quarantine = new Quarantine(store);
  try {
    await unpack(pack, quarantine, store.limits);
    quarantine.checkComplete();
    return store.sql.transaction(() => {
      quarantine.publish();
      return body();
    });
  } catch (error) {
    dropQuietly(quarantine);
    throw error;
  }
}

/** On a full disk even dropping may fail; then the next start does it. */
function dropQuietly(quarantine: Quarantine): void {
  try {
    quarantine.drop();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  }
}

class NothingMoved extends Error {
  readonly refs: ReceiveResult["refs"];

  constructor(refs: ReceiveResult["refs"]) {
    super("nothing moved");
    this.refs = refs;
  }
}

function moveRefs(store: Store, updates: readonly RefUpdate[], options: ReceiveOptions): ReceiveResult["refs"] {
  const refs = updates.map((update) => ({ ref: update.ref, fault: moveRef(store, update, options) }));
  const failed = refs.filter(({ fault }) => fault !== null).length;
  if (failed > 0 && options.atomic === true)
    throw new NothingMoved(refs.map(({ ref, fault }) => ({ ref, fault: fault ?? "atomic push failure" })));
  if (failed === refs.length) throw new NothingMoved(refs);
  return refs;
}

function moveRef({ refs, history }: Store, { ref, from, to }: RefUpdate, { force = true }: ReceiveOptions): string | null {
  if (to === null) {
    if (ref === refs.head()) return "deletion of the current branch prohibited";
    if (from === null) return refs.get(ref) === undefined ? null : "stale info";
  }
  const isBranch = ref.startsWith("refs/heads/");
  const isRewrite = from !== null && to !== null && isBranch && history.get(to) !== undefined && !history.isAncestor(from, to);
  if (isRewrite && !force && refs.get(ref) === from) return "non-fast-forward";
  return refs.move(ref, from, to) ?? null;
}
