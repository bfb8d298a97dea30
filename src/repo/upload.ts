// Serves a clone or a fetch: reads what the client wants and has, and sends what it is missing. Requests are stateless: the
// client repeats the commits found in common.

import { fail, SysError } from "../lib/sys-error.ts";
import type { ByteReader } from "./byte-reader.ts";
import { isOid } from "./oid.ts";
import { writePack } from "./pack-write.ts";
import { WorkSlices } from "./work-slices.ts";
import { FLUSH, pkt, PKT_BYTES_MAX, readPktLine, splitIntoSideband } from "./pkt-line.ts";
import { findMissingObjects } from "./reachable.ts";
import { findClientDepth, computeShallowUpdate } from "./shallow.ts";
import type { Store } from "./store.ts";

type UploadRequest = { wants: string[]; capabilities: Set<string>; shallow: Set<string>; depth: number | null; relative: boolean };

const SMALL_PACKET_BYTES = 1000;
const PIECES_PER_YIELD = 32;

/** Yields the whole answer. An error in the request becomes a packet `ERR`, as git expects. */
export async function* serveUpload(store: Store, reader: ByteReader): AsyncGenerator<Uint8Array> {
  try {
    reader.limit(store.limits.requestBytes, "Request too large");
    const request = await readRequest(reader);
    if (request === null) return;
    checkWants(store, request.wants);

    let newShallow: ReadonlySet<string> = request.shallow;
    if (request.depth !== null) {
      const depth = request.relative ? findClientDepth(store, request.wants, request.shallow) + request.depth : request.depth;
      const update = computeShallowUpdate(store, request.wants, depth, request.shallow);
      newShallow = update.edge;
      for (const oid of update.shallow) yield pkt(`shallow ${oid}`);
      for (const oid of update.unshallow) yield pkt(`unshallow ${oid}`);
      yield FLUSH;
    }

    // A client that only asked where its history would end sends its haves in the next request.
    if (await reader.isAtEnd()) return;
    const common = new Set<string>();
    const negotiation = negotiate(store, reader, request, common);
    for (;;) {
      const next = await negotiation.next();
      if (next.done !== true) yield pkt(next.value);
      else if (next.value) break;
      else return;
    }

    const oids = await findMissingObjects(store, { wants: request.wants, haves: [...common], theirShallow: request.shallow, newShallow });
    if (request.capabilities.has("include-tag")) addTags(store, oids);
    const slices = new WorkSlices(PIECES_PER_YIELD);
    for (const piece of framePack(writePack(store.objects, oids), maxPacketSize(request.capabilities))) {
      yield piece;
      if (slices.addWork()) await slices.pause();
    }
  } catch (error) {
    if (!(error instanceof SysError)) throw error;
    yield pkt(`ERR ${error.message}`);
  }
}

async function readRequest(reader: ByteReader): Promise<UploadRequest | null> {
  const request: UploadRequest = { wants: [], capabilities: new Set(), shallow: new Set(), depth: null, relative: false };
  if (await reader.isAtEnd()) return null;
  for (;;) {
    const line = await readPktLine(reader);
    if (line === null) break;
    const [word, value = "", ...rest] = line.split(" ");
    if (word === "want" && isOid(value)) {
      if (request.wants.length === 0) request.capabilities = new Set(rest);
      request.wants.push(value);
    } else if (word === "shallow" && isOid(value)) request.shallow.add(value);
    else if (word === "deepen" && /^\d{1,10}$/.test(value)) request.depth = Number(value) || null;
    else fail(400, `not supported: ${line.slice(0, 100)}`);
  }
  request.relative = request.capabilities.has("deepen-relative");
  return request.wants.length === 0 ? null : request;
}

/** A want must be a tip or an ancestor of one: a tip may have moved since the client read the list. */
function checkWants({ refs, history }: Store, wants: readonly string[]): void {
  const tips = new Set<string>();
  for (const { oid } of refs.list()) {
    tips.add(oid);
    const peeled = refs.peel(oid);
    if (peeled !== undefined) tips.add(peeled.oid);
  }
  for (const want of wants) {
    if (!tips.has(want) && !(history.get(want) !== undefined && history.anyReaches([...tips], new Set([want]))))
      fail(400, `upload-pack: not our ref ${want}`);
  }
}

/** Yields the lines to send. Returns true if the pack follows now, false if the client has to send another request. */
async function* negotiate(store: Store, reader: ByteReader, request: UploadRequest, common: Set<string>): AsyncGenerator<string, boolean> {
  const { capabilities } = request;
  const isDetailed = capabilities.has("multi_ack_detailed");
  const isMulti = isDetailed || capabilities.has("multi_ack");
  const tips = request.wants.flatMap((want) => {
    const peeled = store.refs.peel(want);
    return peeled?.kind === "commit" ? [peeled.oid] : [];
  });
  const isEnough = () => common.size > 0 && store.history.everyReaches(tips, common);
  let lastCommon = "";
  let isReady = false;
  let hasUnknownHave = false;
  for (;;) {
    const line = (await reader.isAtEnd()) ? null : await readPktLine(reader);
    if (line === null) {
      if (isDetailed && common.size > 0 && !hasUnknownHave && isEnough()) {
        isReady = true;
        yield `ACK ${lastCommon} ready\n`;
      }
      if (common.size === 0 || isMulti) yield "NAK\n";
      if (!capabilities.has("no-done") || !isReady) return false;
      yield `ACK ${lastCommon}\n`;
      return true;
    }
    if (line === "done") {
      if (common.size === 0) yield "NAK\n";
      else if (isMulti) yield `ACK ${lastCommon}\n`;
      return true;
    }
    const oid = /^have ([0-9a-f]{40})$/.exec(line)?.[1] ?? fail(400, `not supported: ${line.slice(0, 100)}`);
    if (store.history.get(oid) !== undefined) {
      common.add(oid);
      lastCommon = oid;
      if (isDetailed) yield `ACK ${oid} common\n`;
      else if (isMulti) yield `ACK ${oid} continue\n`;
      else if (common.size === 1) yield `ACK ${oid}\n`;
    } else {
      hasUnknownHave = true;
      if (!isMulti || !isEnough()) continue;
      if (isDetailed) {
        isReady = true;
        yield `ACK ${oid} ready\n`;
      } else yield `ACK ${oid} continue\n`;
    }
  }
}

/** Adds annotated tags whose commit is sent. */
function addTags({ refs, objects }: Store, oids: Set<string>): void {
  for (const { oid } of refs.list()) {
    if (objects.kind(oid) !== "tag") continue;
    const peeled = refs.peel(oid);
    if (peeled === undefined || !oids.has(peeled.oid)) continue;
    for (let tag = oid; objects.kind(tag) === "tag"; tag = refs.tagTarget(tag)) oids.add(tag);
  }
}

function maxPacketSize(capabilities: ReadonlySet<string>): number | null {
  if (capabilities.has("side-band-64k")) return PKT_BYTES_MAX;
  return capabilities.has("side-band") ? SMALL_PACKET_BYTES : null;
}

function* framePack(pack: Iterable<Uint8Array>, packetMax: number | null): Generator<Uint8Array> {
  if (packetMax === null) return yield* pack;
  for (const piece of pack) yield* splitIntoSideband(1, piece, packetMax);
  yield FLUSH;
}
