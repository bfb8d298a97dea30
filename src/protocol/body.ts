// A body: a file's bytes beside the frames that ask for them. Chunks travel as binary frames, which begin with the body's
// number; what the two ends tell each other of it travels as `body` signals. Whoever made the request chose the number,
// and the body is over when the request is answered. Nothing flows before the receiver has said from where and how far:
// so a slow receiver slows the sender, nobody holds more than a window, and an interrupted body goes on where it stopped.

import { BODY } from "./signal-names.ts";
import type { Payload } from "./signals.ts";

export const BODY_CHUNK_BYTES = 256 * 1024;
/** The most that may be on its way. */
export const BODY_WINDOW_BYTES = 4 * 1024 * 1024;
export const BODY_ID_MAX = 0xffff_ffff;

const ID_BYTES = 4;

type Note<P> = P extends unknown ? Omit<P, "id"> : never;
/**
 * `begin` is of the sender, before anything else; `more` of the receiver: send from there, and not beyond; `end` of the sender, after
 * the last byte, with the hash of all of it; `busy` of either: reading what is there already takes time; `stop` of either: it will
 * not come to an end.
 */
export type BodyNote = Note<Payload<typeof BODY>>;

/** One end of a body, as the other sees it. */
export interface BodyEnd {
  chunk(bytes: Uint8Array): void;
  note(note: BodyNote): void;
}

/** The frame that a chunk lies in already, if it does: it leaves in that one, once, and is not copied. */
const around = new WeakMap<Uint8Array, Uint8Array<ArrayBuffer>>();

/** A chunk to be filled and sent. */
export function newChunk(bytes: number): Uint8Array {
  return chunkIn(new Uint8Array(ID_BYTES + bytes));
}

export function bodyFrame(id: number, chunk: Uint8Array): Uint8Array<ArrayBuffer> {
  const frame = around.get(chunk) ?? new Uint8Array(ID_BYTES + chunk.length);
  // Sent a second time it is copied: the first may still be on its way.
  if (!around.delete(chunk)) frame.set(chunk, ID_BYTES);
  new DataView(frame.buffer, frame.byteOffset).setUint32(0, id, true);
  return frame;
}

/** Null for what is no chunk of a body. The frame is the chunk's from now on. */
export function parseBodyFrame(frame: Uint8Array): { id: number; chunk: Uint8Array } | null {
  if (frame.length <= ID_BYTES || frame.length > ID_BYTES + BODY_CHUNK_BYTES) return null;
  const id = new DataView(frame.buffer, frame.byteOffset).getUint32(0, true);
  return { id, chunk: chunkIn(frame) };
}

function chunkIn(frame: Uint8Array): Uint8Array {
  const chunk = frame.subarray(ID_BYTES);
  if (isPlain(frame)) around.set(chunk, frame);
  return chunk;
}

/** Not on memory that others share. */
function isPlain(frame: Uint8Array): frame is Uint8Array<ArrayBuffer> {
  return frame.buffer instanceof ArrayBuffer;
}

export function bodySignal(id: number, note: BodyNote): string {
  return JSON.stringify({ type: "sig", signal: BODY, payload: { id, ...note } });
}

/** Null for what is no note of a body. */
export function parseBodyNote(payload: unknown): { id: number; note: BodyNote } | null {
  if (typeof payload !== "object" || payload === null) return null;
  const { id, kind, ...rest } = payload as Record<string, unknown>;
  if (!isCount(id) || id > BODY_ID_MAX) return null;
  const { size, version, mode, from, until, sha256, why } = rest;
  switch (kind) {
    case "begin":
      return isCount(size) && isShort(version) && isCount(mode) ? { id, note: { kind, size, version, mode } } : null;
    case "more":
      return isCount(from) && isCount(until) ? { id, note: { kind, from, until } } : null;
    case "end":
      return isShort(sha256) ? { id, note: { kind, sha256 } } : null;
    case "busy":
      return { id, note: { kind } };
    case "stop":
      return isShort(why) ? { id, note: { kind, why } } : null;
    default:
      return null;
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isShort(value: unknown): value is string {
  return typeof value === "string" && value.length <= 1_000;
}
