// How fast each peer is served. A frame is handled when it comes, unless its sender has used much of the kernel lately (turns.ts)
// or has not read what it was sent: then it waits, in the order it came. A peer whose frames pile up is not read from.

import type { Sockets } from "../ports/sockets.ts";
import type { Sharer, Turns } from "./turns.ts";

type Means = {
  turns: Turns;
  sockets: Pick<Sockets, "isFull" | "pause">;
  sharer: (socketId: string) => Sharer;
  handle: (socketId: string, text: string) => void;
};

/** The frames of one socket. `isAsked`: its next turn has been asked for. */
type Box = { socketId: string; texts: string[]; chars: number; isAsked: boolean; isPaused: boolean };

/** What may wait of one socket before it is not read from any more, and what is left when it is again. */
const PAUSE_CHARS = 256 * 1024;
const RESUME_CHARS = 64 * 1024;
/** What a frame takes besides its own text. */
const FRAME_CHARS = 64;

export class Flow {
  readonly #means: Means;
  /** Of the few sockets that have something waiting. */
  readonly #boxes = new Map<string, Box>();
  /** Those who wait until a peer has read what it was sent. */
  readonly #readers = new Map<string, (() => void)[]>();

  constructor(means: Means) {
    this.#means = means;
  }

  received(socketId: string, text: string): void {
    const { turns, sockets, sharer, handle } = this.#means;
    const box = this.#boxes.get(socketId);
    if (box !== undefined) return this.#add(box, text);
    if (!sockets.isFull(socketId) && turns.attempt(sharer(socketId), () => handle(socketId, text))) return;
    const opened: Box = { socketId, texts: [], chars: 0, isAsked: false, isPaused: false };
    this.#boxes.set(socketId, opened);
    this.#add(opened, text);
  }

  /** The peer has read most of what it was sent. */
  drained(socketId: string): void {
    const box = this.#boxes.get(socketId);
    if (box !== undefined) this.#ask(box);
    this.#tellReaders(socketId);
  }

  closed(socketId: string): void {
    const box = this.#boxes.get(socketId);
    this.#boxes.delete(socketId);
    if (box !== undefined) box.texts = [];
    this.#tellReaders(socketId);
  }

  /** Calls back when the peer has read what it was sent, or is gone; at once where it has. */
  whenRead(socketId: string, then: () => void): void {
    if (!this.#means.sockets.isFull(socketId)) return then();
    this.#readers.set(socketId, [...(this.#readers.get(socketId) ?? []), then]);
  }

  #add(box: Box, text: string): void {
    box.texts.push(text);
    box.chars += text.length + FRAME_CHARS;
    if (!box.isPaused && box.chars > PAUSE_CHARS) this.#pause(box, true);
    this.#ask(box);
  }

  #ask(box: Box): void {
    if (box.isAsked || box.texts.length === 0 || this.#means.sockets.isFull(box.socketId)) return;
    box.isAsked = true;
    this.#means.turns.queue(this.#means.sharer(box.socketId), () => this.#turn(box));
  }

  #turn(box: Box): void {
    box.isAsked = false;
    // Meanwhile the peer may have gone, or been sent more than it reads.
    if (box.texts.length === 0 || this.#means.sockets.isFull(box.socketId)) return;
    const text = box.texts.shift()!;
    box.chars -= text.length + FRAME_CHARS;
    if (box.isPaused && box.chars < RESUME_CHARS) this.#pause(box, false);
    if (box.texts.length === 0) this.#boxes.delete(box.socketId);
    else this.#ask(box);
    this.#means.handle(box.socketId, text);
  }

  #pause(box: Box, isPaused: boolean): void {
    box.isPaused = isPaused;
    this.#means.sockets.pause(box.socketId, isPaused);
  }

  #tellReaders(socketId: string): void {
    const readers = this.#readers.get(socketId);
    this.#readers.delete(socketId);
    for (const then of readers ?? []) then();
  }
}
