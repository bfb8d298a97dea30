// Unpacks a pack into quarantine: whole objects directly, deltas as soon as their base is known. Memory holds one object, its
// base and its delta, a small cache of bases, and the few deltas whose base has not arrived yet.

import { fail } from "../lib/sys-error.ts";
import type { ByteReader } from "./byte-reader.ts";
import { applyDelta, deltaSize } from "./delta.ts";
import type { Limits } from "./limits.ts";
import type { GitObject } from "./objects.ts";
import { readPack } from "./pack-read.ts";
import { WorkSlices } from "./work-slices.ts";
import type { Quarantine } from "./quarantine.ts";

/** `depth` is the length of the delta chain below the object. */
type ResolvedObject = { oid: string; depth: number };
type WaitingDelta = { offset: number; delta: Uint8Array };

const CACHE_BYTES_MAX = 16 * 1024 * 1024;
/** The memory an entry takes in addition to its bytes. */
const ROW_BYTES = 200;
/** How many bytes are unpacked before the work yields to the event loop. */
const YIELD_BYTES = 2 * 1024 * 1024;
/** The fixed cost of an object, in bytes. */
const OBJECT_COST_BYTES = 8192;

export async function unpack(reader: ByteReader, quarantine: Quarantine, limits: Limits): Promise<void> {
  const unpacker = new Unpacker(quarantine, limits);
  const slices = new WorkSlices(YIELD_BYTES);
  for await (const { offset, content, bytes: inflated, deflated } of readPack(reader, limits)) {
    if ("kind" in content) unpacker.addObject(offset, { kind: content.kind, bytes: inflated }, 0, deflated);
    else if ("baseOid" in content) unpacker.addDeltaByOid(offset, content.baseOid, inflated);
    else unpacker.addDeltaByOffset(offset, content.baseOffset, inflated);
    if (slices.addWork(inflated.length + OBJECT_COST_BYTES + unpacker.takeProducedBytes())) await slices.pause();
  }
  unpacker.finish();
}

class Unpacker {
  readonly #quarantine: Quarantine;
  readonly #limits: Limits;
  readonly #byOffset = new Map<number, ResolvedObject>();
  readonly #depths = new Map<string, number>();
  readonly #cache = new Map<string, GitObject>();
  #cachedBytes = 0;
  readonly #waitingForOid = new Map<string, WaitingDelta[]>();
  readonly #waitingForOffset = new Map<number, WaitingDelta[]>();
  /** Offsets of waiting deltas, which may be the bases of other deltas. */
  readonly #waitingOffsets = new Set<number>();
  #waitingBytes = 0;
  #producedBytes = 0;
  #reportedBytes = 0;

  constructor(quarantine: Quarantine, limits: Limits) {
    this.#quarantine = quarantine;
    this.#limits = limits;
  }

  addObject(offset: number, object: GitObject, depth: number, deflated?: Uint8Array): void {
    const oid = this.#quarantine.add(object.kind, object.bytes, deflated);
    this.#byOffset.set(offset, { oid, depth });
    // A pack may contain the same object more than once: the shorter chain counts.
    this.#depths.set(oid, Math.min(depth, this.#depths.get(oid) ?? depth));
    this.#cacheObject(oid, object);
    const waiting = [...(this.#waitingForOid.get(oid) ?? []), ...(this.#waitingForOffset.get(offset) ?? [])];
    this.#waitingForOid.delete(oid);
    this.#waitingForOffset.delete(offset);
    for (const { offset: next, delta } of waiting) {
      this.#waitingBytes -= delta.length + ROW_BYTES;
      this.#resolveDelta(next, { oid, depth }, delta);
    }
  }

  addDeltaByOffset(offset: number, baseOffset: number, delta: Uint8Array): void {
    const base = this.#byOffset.get(baseOffset);
    if (base !== undefined) this.#resolveDelta(offset, base, delta);
    else if (this.#waitingOffsets.has(baseOffset)) this.#addWaiting(this.#waitingForOffset, baseOffset, offset, delta);
    else fail(400, "Bad pack: a delta whose base is not an entry");
  }

  addDeltaByOid(offset: number, baseOid: string, delta: Uint8Array): void {
    const depth = this.#depths.get(baseOid);
    // In a thin pack the base may be an object that the repository has already.
    if (depth !== undefined || this.#quarantine.has(baseOid)) this.#resolveDelta(offset, { oid: baseOid, depth: depth ?? 0 }, delta);
    else this.#addWaiting(this.#waitingForOid, baseOid, offset, delta);
  }

  /** Bytes produced from deltas since the last call. */
  takeProducedBytes(): number {
    const produced = this.#producedBytes - this.#reportedBytes;
    this.#reportedBytes = this.#producedBytes;
    return produced;
  }

  /** Fails if a delta still waits, because its base is not in the pack. */
  finish(): void {
    if (this.#waitingForOid.size > 0 || this.#waitingForOffset.size > 0) fail(400, "Bad pack: a delta whose base is missing");
  }

  #addWaiting<K>(queue: Map<K, WaitingDelta[]>, key: K, offset: number, delta: Uint8Array): void {
    this.#waitingBytes += delta.length + ROW_BYTES;
    if (this.#waitingBytes > this.#limits.waitingBytes) fail(413, "Pack too large: too many deltas before their base");
    this.#waitingOffsets.add(offset);
    const waiting = queue.get(key);
    if (waiting === undefined) queue.set(key, [{ offset, delta }]);
    else waiting.push({ offset, delta });
  }

  #resolveDelta(offset: number, base: ResolvedObject, delta: Uint8Array): void {
    const depth = base.depth + 1;
    if (depth > this.#limits.deltaChain) fail(413, `Bad pack: a chain of more than ${this.#limits.deltaChain} deltas`);
    const size = deltaSize(delta);
    if (size > this.#limits.objectBytes) fail(413, `Object too large: ${size} bytes (at most ${this.#limits.objectBytes})`);
    this.#producedBytes += size;
    if (this.#producedBytes > this.#limits.inflatedBytes)
      fail(413, `Pack too large: it unpacks to more than ${this.#limits.inflatedBytes} bytes`);
    const from = this.#requireBase(base.oid);
    this.addObject(offset, { kind: from.kind, bytes: applyDelta(from.bytes, delta) }, depth);
  }

  #requireBase(oid: string): GitObject {
    const cached = this.#cache.get(oid);
    if (cached === undefined) return this.#quarantine.find(oid) ?? fail(400, "Bad pack: a delta whose base is missing");
    // Moves the entry to the end, so that it is evicted last.
    this.#cache.delete(oid);
    this.#cache.set(oid, cached);
    return cached;
  }

  #cacheObject(oid: string, object: GitObject): void {
    if (object.bytes.length > CACHE_BYTES_MAX / 4 || this.#cache.has(oid)) return;
    this.#cache.set(oid, object);
    this.#cachedBytes += object.bytes.length + ROW_BYTES;
    for (const [old, { bytes }] of this.#cache) {
      if (this.#cachedBytes <= CACHE_BYTES_MAX) return;
      this.#cache.delete(old);
      this.#cachedBytes -= bytes.length + ROW_BYTES;
    }
  }
}
