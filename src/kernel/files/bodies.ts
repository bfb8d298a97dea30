// Bodies under way on sockets: which end each chunk and note belongs to. A body that passes through from one socket to
// another is not looked into; only that a sender keeps to what its receiver asked for is watched, because that is all that
// bounds what waits here. What memory forgets is over: whoever sent it is told by the route that times out.

import { fail } from "../../lib/sys-error.ts";
import type { Ports } from "../../ports/ports.ts";
import {
  BODY_ID_MAX,
  BODY_WINDOW_BYTES,
  type BodyEnd,
  type BodyNote,
  bodyFrame,
  bodySignal,
  parseBodyFrame,
  parseBodyNote,
} from "../../protocol/body.ts";
import type { Part } from "../part.ts";

export const BODIES_PER_SOCKET = 64;

type Open = {
  /** Who is told of what comes from the socket. */
  end: BodyEnd;
  /** Something came. */
  heard: () => void;
  /** What the socket has been asked for, and what it has sent. */
  until: number;
  at: number | null;
};

type More = Extract<BodyNote, { kind: "more" }>;

/** However much the receiver wants: no more than a window may be on its way. */
function asked(open: Open, { from, until }: More): More {
  open.at ??= from;
  open.until = Math.max(open.until, Math.min(until, open.at + BODY_WINDOW_BYTES));
  return { kind: "more", from, until: open.until };
}

export class Bodies implements Part {
  readonly #ports: Ports;
  readonly #open = new Map<string, Map<number, Open>>();
  #lastId = 0;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** A number that is free on that socket. */
  newId(socketId: string): number {
    do this.#lastId = this.#lastId === BODY_ID_MAX ? 1 : this.#lastId + 1;
    while (this.#open.get(socketId)?.has(this.#lastId));
    return this.#lastId;
  }

  /** Joins a body of that socket to an end; the socket's own end comes back. */
  join(socketId: string, id: number, end: BodyEnd, heard: () => void): BodyEnd {
    const own = this.#open.get(socketId) ?? new Map<number, Open>();
    if (own.has(id)) fail(409, `A body with the number ${id} is under way: choose another`);
    if (own.size >= BODIES_PER_SOCKET) fail(429, `Too many bodies under way: at most ${BODIES_PER_SOCKET} on one socket`);
    const open: Open = { end, heard, until: 0, at: null };
    this.#open.set(socketId, own.set(id, open));
    return {
      chunk: (bytes) => {
        if (own.get(id) === open) this.#ports.sockets.sendBytes(socketId, bodyFrame(id, bytes));
      },
      note: (note) => {
        if (own.get(id) !== open) return;
        this.#ports.sockets.send(socketId, bodySignal(id, note.kind === "more" ? asked(open, note) : note));
      },
    };
  }

  part(socketId: string, id: number): void {
    const own = this.#open.get(socketId);
    if (own?.delete(id) && own.size === 0) this.#open.delete(socketId);
  }

  receivedBytes(socketId: string, frame: Uint8Array): void {
    const parsed = parseBodyFrame(frame);
    const open = parsed === null ? undefined : this.#open.get(socketId)?.get(parsed.id);
    if (parsed === null || open === undefined) return this.#ports.meter.dropped("binary");
    const { id, chunk } = parsed;
    open.at = (open.at ?? 0) + chunk.length;
    if (open.at > open.until) {
      this.part(socketId, id);
      this.#ports.meter.dropped("binary");
      return open.end.note({ kind: "stop", why: "The sender sent more than it was asked for" });
    }
    open.heard();
    open.end.chunk(chunk);
  }

  /** A `body` signal. */
  signalled(socketId: string, payload: unknown): void {
    const parsed = parseBodyNote(payload);
    const open = parsed === null ? undefined : this.#open.get(socketId)?.get(parsed.id);
    if (parsed === null || open === undefined) return this.#ports.meter.dropped("signal");
    open.heard();
    open.end.note(parsed.note);
  }

  socketClosed(socketId: string): void {
    const own = this.#open.get(socketId);
    this.#open.delete(socketId);
    for (const { end } of own?.values() ?? []) end.note({ kind: "stop", why: "The connection was lost" });
  }
}
