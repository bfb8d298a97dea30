// Takes a pack into quarantine: objects as they are, deltas resolved as soon as their base is known. Memory holds one
// object, its base and its delta, a small cache of bases, and the few deltas whose base has not come yet.

import { fail } from "../lib/sys-error.ts";
import type { ByteReader } from "./byte-reader.ts";
import { applyDelta, deltaSize } from "./delta.ts";
import type { Limits } from "./limits.ts";
import type { GitObject } from "./objects.ts";
import { readPack } from "./pack-read.ts";
import { Stints } from "./stints.ts";
import type { Quarantine } from "./quarantine.ts";

/** How deep an object's chain of deltas is: each base is read before what is made from it. */
type Resolved = { oid: string; depth: number };
type Waiting = { offset: number; delta: Uint8Array };

const CACHE_BYTES_MAX = 16 * 1024 * 1024;
/** What an entry costs beside its bytes. */
const ROW_BYTES = 200;
/** How much is done before others get their turn. */
const TURN_BYTES = 2 * 1024 * 1024;
/** An object takes time by itself, however small: as much as so many bytes. */
const OBJECT_BYTES = 8192;

export async function unpack(reader: ByteReader, quarantine: Quarantine, limits: Limits): Promise<void> {
  const unpacking = new Unpacking(quarantine, limits);
  const stints = new Stints(TURN_BYTES);
  for await (const { offset, content, bytes: inflated, deflated } of readPack(reader, limits)) {
    if ("kind" in content) unpacking.object(offset, { kind: content.kind, bytes: inflated }, 0, deflated);
    else if ("baseOid" in content) unpacking.deltaByOid(offset, content.baseOid, inflated);
    else unpacking.deltaByOffset(offset, content.baseOffset, inflated);
    if (stints.isOver(inflated.length + OBJECT_BYTES + unpacking.takeMade())) await stints.pause();
  }
  unpacking.end();
}

class Unpacking {
  readonly #quarantine: Quarantine;
  readonly #limits: Limits;
  readonly #byOffset = new Map<number, Resolved>();
  readonly #depths = new Map<string, number>();
  readonly #cache = new Map<string, GitObject>();
  #cached = 0;
  readonly #waitingForOid = new Map<string, Waiting[]>();
  readonly #waitingForOffset = new Map<number, Waiting[]>();
  /** Entries that wait themselves; others may still be made from them. */
  readonly #waitingOffsets = new Set<number>();
  #waiting = 0;
  #made = 0;
  #taken = 0;

  constructor(quarantine: Quarantine, limits: Limits) {
    this.#quarantine = quarantine;
    this.#limits = limits;
  }

  object(offset: number, object: GitObject, depth: number, deflated?: Uint8Array): void {
    const oid = this.#quarantine.add(object.kind, object.bytes, deflated);
    this.#byOffset.set(offset, { oid, depth });
    // The same object may come more than once: the shorter chain counts.
    this.#depths.set(oid, Math.min(depth, this.#depths.get(oid) ?? depth));
    this.#remember(oid, object);
    const waiting = [...(this.#waitingForOid.get(oid) ?? []), ...(this.#waitingForOffset.get(offset) ?? [])];
    this.#waitingForOid.delete(oid);
    this.#waitingForOffset.delete(offset);
    for (const { offset: next, delta } of waiting) {
      this.#waiting -= delta.length + ROW_BYTES;
      this.#delta(next, { oid, depth }, delta);
    }
  }

  deltaByOffset(offset: number, baseOffset: number, delta: Uint8Array): void {
    const base = this.#byOffset.get(baseOffset);
    if (base !== undefined) this.#delta(offset, base, delta);
    else if (this.#waitingOffsets.has(baseOffset)) this.#wait(this.#waitingForOffset, baseOffset, offset, delta);
    else fail(400, "Bad pack: a delta whose base is no entry");
  }

  deltaByOid(offset: number, baseOid: string, delta: Uint8Array): void {
    const depth = this.#depths.get(baseOid);
    // Without a depth here it can still be one that the repository had before: a thin pack.
    if (depth !== undefined || this.#quarantine.has(baseOid)) this.#delta(offset, { oid: baseOid, depth: depth ?? 0 }, delta);
    else this.#wait(this.#waitingForOid, baseOid, offset, delta);
  }

  /** Bytes made from deltas since this was last asked. */
  takeMade(): number {
    const made = this.#made - this.#taken;
    this.#taken = this.#made;
    return made;
  }

  /** Deltas that still wait have a base that never came. */
  end(): void {
    if (this.#waitingForOid.size > 0 || this.#waitingForOffset.size > 0) fail(400, "Bad pack: a delta whose base is missing");
  }

  #wait<K>(queue: Map<K, Waiting[]>, key: K, offset: number, delta: Uint8Array): void {
    this.#waiting += delta.length + ROW_BYTES;
    if (this.#waiting > this.#limits.waitingBytes) fail(413, "Pack too large: too many deltas before their base");
    this.#waitingOffsets.add(offset);
    const waiting = queue.get(key);
    if (waiting === undefined) queue.set(key, [{ offset, delta }]);
    else waiting.push({ offset, delta });
  }

  #delta(offset: number, base: Resolved, delta: Uint8Array): void {
    const depth = base.depth + 1;
    if (depth > this.#limits.deltaChain) fail(413, `Bad pack: a chain of more than ${this.#limits.deltaChain} deltas`);
    const size = deltaSize(delta);
    if (size > this.#limits.objectBytes) fail(413, `Object too large: ${size} bytes (at most ${this.#limits.objectBytes})`);
    this.#made += size;
    if (this.#made > this.#limits.inflatedBytes) fail(413, `Pack too large: it unpacks to more than ${this.#limits.inflatedBytes} bytes`);
    const from = this.#recall(base.oid);
    this.object(offset, { kind: from.kind, bytes: applyDelta(from.bytes, delta) }, depth);
  }

  #recall(oid: string): GitObject {
    const cached = this.#cache.get(oid);
    if (cached === undefined) return this.#quarantine.find(oid) ?? fail(400, "Bad pack: a delta whose base is missing");
    // To the end of the line of those that go.
    this.#cache.delete(oid);
    this.#cache.set(oid, cached);
    return cached;
  }

  #remember(oid: string, object: GitObject): void {
    if (object.bytes.length > CACHE_BYTES_MAX / 4 || this.#cache.has(oid)) return;
    this.#cache.set(oid, object);
    this.#cached += object.bytes.length + ROW_BYTES;
    for (const [old, { bytes }] of this.#cache) {
      if (this.#cached <= CACHE_BYTES_MAX) return;
      this.#cache.delete(old);
      this.#cached -= bytes.length + ROW_BYTES;
    }
  }
}
