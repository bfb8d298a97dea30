// A suspended script as bytes: the memory of its engine, compressed, and two numbers that the next engine needs.

import { QuickJS, type Snapshot } from "quickjs-wasi";

/** `token` finds the function that answers calls; `prefix` belongs to the source (source.ts). */
export type SuspendedEngine = { snapshot: Snapshot; token: number; prefix: number };

const HEADER_BYTES = 8;

export async function packSnapshot({ snapshot, token, prefix }: SuspendedEngine): Promise<Uint8Array> {
  const memory = await pipe(QuickJS.serializeSnapshot(snapshot), new CompressionStream("gzip"));
  const packed = new Uint8Array(HEADER_BYTES + memory.length);
  const header = new DataView(packed.buffer);
  header.setUint32(0, token);
  header.setUint32(4, prefix);
  packed.set(memory, HEADER_BYTES);
  return packed;
}

export async function unpackSnapshot(packed: Uint8Array): Promise<SuspendedEngine> {
  const header = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const memory = await pipe(packed.slice(HEADER_BYTES), new DecompressionStream("gzip"));
  return { snapshot: QuickJS.deserializeSnapshot(memory), token: header.getUint32(0), prefix: header.getUint32(4) };
}

async function pipe(bytes: Uint8Array, through: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(through);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
