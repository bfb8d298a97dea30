// Bodies in transit on sockets: maps each chunk and note to its end. The content of a body is not inspected; only the window that
// the receiver asked for is enforced, because nothing else bounds how much is buffered here. A body does not survive the loss of
// the kernel's memory: its route times out, which informs the sender.

import { fail } from "../../lib/sys-error.ts";
import type { Ports } from "../../ports/ports.ts";
import {
  BODY_ID_MAX,
  BODY_WINDOW_BYTES,
  type BodyEnd,
  type BodyNote,
  encodeBodyFrame,
  encodeBodySignal,
  parseBodyFrame,
  parseBodyNote,
} from "../../protocol/body.ts";
import type { Part } from "../part.ts";

export const BODIES_PER_SOCKET = 64;

type OpenBody = {
  /** Receives what arrives from the socket. */
  end: BodyEnd;
  /** Called whenever something arrives. */
  onActivity: () => void;
  /** The offset up to which the socket may send, and the offset up to which it has sent. */
  until: number;
  at: number | null;
};

type MoreNote = Extract<BodyNote, { kind: "more" }>;

/** However much the receiver asks for, at most one window may be in transit. */
function limitToWindow(open: OpenBody, { from, until }: MoreNote): MoreNote {
  open.at ??= from;
  open.until = Math.max(open.until, Math.min(until, open.at + BODY_WINDOW_BYTES));
  return { kind: "more", from, until: open.until };
}

export class Bodies implements Part {
  readonly #ports: Ports;
  readonly #open = new Map<string, Map<number, OpenBody>>();
  #lastId = 0;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** A body number that is free on this socket. */
  newId(socketId: string): number {
    do this.#lastId = this.#lastId === BODY_ID_MAX ? 1 : this.#lastId + 1;
    while (this.#open.get(socketId)?.has(this.#lastId));
    return this.#lastId;
  }

  /** Connects a body of the socket to `end`, and returns the socket's own end. */
  connect(socketId: string, id: number, end: BodyEnd, onActivity: () => void): BodyEnd {
    const bodies = this.#open.get(socketId) ?? new Map<number, OpenBody>();
    if (bodies.has(id)) fail(409, `A body with the number ${id} is in progress: choose another`);
    if (bodies.size >= BODIES_PER_SOCKET) fail(429, `Too many bodies in progress: at most ${BODIES_PER_SOCKET} per socket`);
    const open: OpenBody = { end, onActivity, until: 0, at: null };
    this.#open.set(socketId, bodies.set(id, open));
    return {
      acceptChunk: (bytes) => {
        if (bodies.get(id) === open) this.#ports.sockets.sendBytes(socketId, encodeBodyFrame(id, bytes));
      },
      acceptNote: (note) => {
        if (bodies.get(id) !== open) return;
        this.#ports.sockets.send(socketId, encodeBodySignal(id, note.kind === "more" ? limitToWindow(open, note) : note));
      },
    };
  }

  disconnect(socketId: string, id: number): void {
    const bodies = this.#open.get(socketId);
    if (bodies?.delete(id) && bodies.size === 0) this.#open.delete(socketId);
  }

  onBodyFrame(socketId: string, frame: Uint8Array): void {
    const parsed = parseBodyFrame(frame);
    const open = parsed === null ? undefined : this.#open.get(socketId)?.get(parsed.id);
    if (parsed === null || open === undefined) return this.#ports.meter.countDropped("binary");
    const { id, chunk } = parsed;
    open.at = (open.at ?? 0) + chunk.length;
    if (open.at > open.until) {
      this.disconnect(socketId, id);
      this.#ports.meter.countDropped("binary");
      return open.end.acceptNote({ kind: "stop", why: "The sender sent more than was requested" });
    }
    open.onActivity();
    open.end.acceptChunk(chunk);
  }

  /** A `body` signal arrived. */
  handleSignal(socketId: string, payload: unknown): void {
    const parsed = parseBodyNote(payload);
    const open = parsed === null ? undefined : this.#open.get(socketId)?.get(parsed.id);
    if (parsed === null || open === undefined) return this.#ports.meter.countDropped("signal");
    open.onActivity();
    open.end.acceptNote(parsed.note);
  }

  onSocketClosed(socketId: string): void {
    const bodies = this.#open.get(socketId);
    this.#open.delete(socketId);
    for (const { end } of bodies?.values() ?? []) end.acceptNote({ kind: "stop", why: "The connection was lost" });
  }
}
