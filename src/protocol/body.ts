// A body: a file's bytes beside the frames that request them. Chunks travel as binary frames that start with the body's number;
// control notes between the two ends travel as `body` signals. The peer that made the request chose the number, and the body ends
// when the request is answered. Nothing flows before the receiver requests a range: so a slow receiver slows the sender, nobody
// buffers more than a window, and an interrupted body resumes where it stopped.

import { BODY } from "./signal-names.ts";
import type { Payload } from "./signals.ts";

export const BODY_CHUNK_BYTES = 256 * 1024;
/** The most bytes that may be in flight. */
export const BODY_WINDOW_BYTES = 4 * 1024 * 1024;
export const BODY_ID_MAX = 0xffff_ffff;

const ID_BYTES = 4;

type WithoutId<P> = P extends unknown ? Omit<P, "id"> : never;
/**
 * The sender sends `begin` first and `end`, with the hash of everything, after the last byte. The receiver sends `more`: a range
 * to send. Either may send `busy`, while it reads data it already has, and `stop`, if the body will not be completed.
 */
export type BodyNote = WithoutId<Payload<typeof BODY>>;

/** One end of a body, as the other end sees it. */
export interface BodyEnd {
  acceptChunk(bytes: Uint8Array): void;
  acceptNote(note: BodyNote): void;
}

/** The frame that already contains a chunk: the chunk is sent in it once, without a copy. */
const frames = new WeakMap<Uint8Array, Uint8Array<ArrayBuffer>>();

/** Allocates a chunk to be filled and sent. */
export function newChunk(bytes: number): Uint8Array {
  return chunkIn(new Uint8Array(ID_BYTES + bytes));
}

export function encodeBodyFrame(id: number, chunk: Uint8Array): Uint8Array<ArrayBuffer> {
  const frame = frames.get(chunk) ?? new Uint8Array(ID_BYTES + chunk.length);
  // A second send copies: the first may still be in flight.
  if (!frames.delete(chunk)) frame.set(chunk, ID_BYTES);
  new DataView(frame.buffer, frame.byteOffset).setUint32(0, id, true);
  return frame;
}

/** Null for a frame that is no chunk. The chunk owns the frame's memory afterwards. */
export function parseBodyFrame(frame: Uint8Array): { id: number; chunk: Uint8Array } | null {
  if (frame.length <= ID_BYTES || frame.length > ID_BYTES + BODY_CHUNK_BYTES) return null;
  const id = new DataView(frame.buffer, frame.byteOffset).getUint32(0, true);
  return { id, chunk: chunkIn(frame) };
}

function chunkIn(frame: Uint8Array): Uint8Array {
  const chunk = frame.subarray(ID_BYTES);
  if (isUnshared(frame)) frames.set(chunk, frame);
  return chunk;
}

/** Whether the memory is not shared. */
function isUnshared(frame: Uint8Array): frame is Uint8Array<ArrayBuffer> {
  return frame.buffer instanceof ArrayBuffer;
}

export function encodeBodySignal(id: number, note: BodyNote): string {
  return JSON.stringify({ type: "sig", signal: BODY, payload: { id, ...note } });
}

/** Null for a payload that is no note of a body. */
export function parseBodyNote(payload: unknown): { id: number; note: BodyNote } | null {
  if (typeof payload !== "object" || payload === null) return null;
  const { id, kind, ...rest } = payload as Record<string, unknown>;
  if (!isCount(id) || id > BODY_ID_MAX) return null;
  const { size, version, mode, from, until, sha256, why } = rest;
  switch (kind) {
    case "begin":
      return isCount(size) && isShortText(version) && isCount(mode) ? { id, note: { kind, size, version, mode } } : null;
    case "more":
      return isCount(from) && isCount(until) ? { id, note: { kind, from, until } } : null;
    case "end":
      return isShortText(sha256) ? { id, note: { kind, sha256 } } : null;
    case "busy":
      return { id, note: { kind } };
    case "stop":
      return isShortText(why) ? { id, note: { kind, why } } : null;
    default:
      return null;
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isShortText(value: unknown): value is string {
  return typeof value === "string" && value.length <= 1_000;
}
