// How fast each peer is served. A frame is handled when it comes, unless its sender has used much of the kernel lately (shares.ts),
// has not read what it was sent, or has so much under way that more would be too much to keep: then it waits, in the order it came. A
// peer whose frames pile up is not read from, and neither are the others of a user who keeps too much in memory.

import type { Sockets } from "../../ports/sockets.ts";
import type { Sharer, Shares } from "./shares.ts";

/** Whose frames these are, and who handles them. */
export type Peers = {
  sharerOf(socketId: string): Sharer;
  /** All sockets of a sharer. */
  socketsOf(sharer: Sharer): readonly string[];
  handle(socketId: string, text: string): void;
};

/** The frames of one socket. `isAsked`: its next turn has been asked for. */
type Box = { socketId: string; sharer: Sharer; texts: string[]; chars: number; isAsked: boolean; isPaused: boolean };
/** What a sharer keeps in memory: frames that wait, and those of calls that are under way. */
type Kept = { waiting: number; underWay: number; isPaused: boolean };

/** What may wait of one socket before it is not read from any more, and what is left when it is again. */
const PAUSE_CHARS = 256 * 1024;
const RESUME_CHARS = 64 * 1024;
/** What a frame takes besides its own text. */
const FRAME_CHARS = 64;
/** What calls of one sharer that are under way may take before large frames wait; a frame has 32 Mi at most. */
const UNDER_WAY_CHARS = 64 * 1024 * 1024;
/** The same once all together take this much. */
const ALL_CHARS = 512 * 1024 * 1024;
const UNDER_WAY_CHARS_LITTLE = 4 * 1024 * 1024;
/** What waits of all sockets of a sharer before none of them is read from. */
const SHARER_PAUSE_CHARS = 32 * 1024 * 1024;
/** Smaller ones never wait for that: somebody may want to stop what is under way. */
const LARGE_CHARS = 64 * 1024;
/**
 * To receive and parse a frame this long keeps the kernel for milliseconds, up to a tenth of a second, whatever is asked for. While
 * others are there, the next of its sender waits so long that they hardly meet one. What is large has the binary channel.
 */
const LONG_CHARS = 1024 * 1024;
const LONG_CHARS_PER_MS = 2 * 1024;

export class FrameFlow {
  readonly #shares: Shares;
  readonly #sockets: Pick<Sockets, "isFull" | "pause">;
  readonly #peers: Peers;
  /** Of the few sockets that have something waiting. */
  readonly #boxes = new Map<string, Box>();
  readonly #kept = new Map<Sharer, Kept>();
  /** Those whose long frames wait until others had their time. */
  readonly #givingWay = new Set<Sharer>();
  #underWay = 0;

  constructor(shares: Shares, sockets: Pick<Sockets, "isFull" | "pause">, peers: Peers) {
    this.#shares = shares;
    this.#sockets = sockets;
    this.#peers = peers;
  }

  received(socketId: string, text: string): void {
    const box = this.#boxes.get(socketId);
    if (box !== undefined) return this.#add(box, text);
    if (this.#mayGo(socketId, text) && this.#shares.attempt(this.#peers.sharerOf(socketId), () => this.#handle(socketId, text))) return;
    const opened: Box = { socketId, sharer: this.#peers.sharerOf(socketId), texts: [], chars: 0, isAsked: false, isPaused: false };
    this.#boxes.set(socketId, opened);
    this.#add(opened, text);
  }

  /** A socket has said who it is. */
  identified(socketId: string): void {
    if (this.#isPaused(this.#peers.sharerOf(socketId))) this.#sockets.pause(socketId, true);
  }

  /** Its call goes on, and what it was given stays in memory until the function that is returned was called. */
  begun(socketId: string, chars: number): () => void {
    const sharer = this.#peers.sharerOf(socketId);
    this.#keep(sharer, 0, chars);
    return () => this.#keep(sharer, 0, -chars);
  }

  /** The peer has read most of what it was sent. */
  drained(socketId: string): void {
    const box = this.#boxes.get(socketId);
    if (box !== undefined) this.#ask(box);
  }

  closed(socketId: string): void {
    const box = this.#boxes.get(socketId);
    this.#boxes.delete(socketId);
    if (box !== undefined) {
      this.#keep(box.sharer, -box.chars, 0);
      box.texts = [];
    }
  }

  /** As far as the peer and memory go. */
  #mayGo(socketId: string, text: string): boolean {
    if (this.#sockets.isFull(socketId)) return false;
    if (text.length < LARGE_CHARS) return true;
    const sharer = this.#peers.sharerOf(socketId);
    if (text.length >= LONG_CHARS && this.#givingWay.has(sharer)) return false;
    const underWay = this.#kept.get(sharer)?.underWay ?? 0;
    return underWay + text.length <= (this.#underWay > ALL_CHARS ? UNDER_WAY_CHARS_LITTLE : UNDER_WAY_CHARS) || underWay === 0;
  }

  #add(box: Box, text: string): void {
    const chars = text.length + FRAME_CHARS;
    box.texts.push(text);
    box.chars += chars;
    this.#keep(box.sharer, chars, 0);
    if (!box.isPaused && box.chars > PAUSE_CHARS) this.#pause(box, true);
    this.#ask(box);
  }

  #ask(box: Box): void {
    const [first] = box.texts;
    if (box.isAsked || first === undefined || !this.#mayGo(box.socketId, first)) return;
    box.isAsked = true;
    this.#shares.queue(box.sharer, () => this.#turn(box));
  }

  #turn(box: Box): void {
    box.isAsked = false;
    const [text] = box.texts;
    // Meanwhile the peer may have gone, or been sent more than it reads.
    if (text === undefined || !this.#mayGo(box.socketId, text)) return;
    const chars = text.length + FRAME_CHARS;
    box.texts.shift();
    box.chars -= chars;
    this.#keep(box.sharer, -chars, 0);
    if (box.isPaused && box.chars < RESUME_CHARS) this.#pause(box, false);
    if (box.texts.length === 0) this.#boxes.delete(box.socketId);
    else this.#ask(box);
    this.#handle(box.socketId, text);
  }

  #handle(socketId: string, text: string): void {
    if (text.length >= LONG_CHARS) this.#giveWay(this.#peers.sharerOf(socketId), text.length / LONG_CHARS_PER_MS);
    this.#peers.handle(socketId, text);
  }

  #giveWay(sharer: Sharer, ms: number): void {
    const given = this.#shares.giveWay(sharer, ms);
    if (given === undefined) return;
    this.#givingWay.add(sharer);
    void given.then(() => {
      this.#givingWay.delete(sharer);
      this.#askAll(sharer);
    });
  }

  #keep(sharer: Sharer, waiting: number, underWay: number): void {
    const kept = this.#kept.get(sharer) ?? { waiting: 0, underWay: 0, isPaused: false };
    kept.waiting = Math.max(0, kept.waiting + waiting);
    kept.underWay = Math.max(0, kept.underWay + underWay);
    this.#underWay += underWay;
    if (kept.waiting + kept.underWay === 0 && !kept.isPaused) this.#kept.delete(sharer);
    else this.#kept.set(sharer, kept);
    const isTooMuch = kept.waiting > (kept.isPaused ? SHARER_PAUSE_CHARS / 2 : SHARER_PAUSE_CHARS);
    if (isTooMuch !== kept.isPaused) this.#pauseAll(sharer, kept, isTooMuch);
    if (underWay < 0) this.#askAll(sharer);
  }

  /** Of what has waited, something may go now. */
  #askAll(sharer: Sharer): void {
    if ((this.#kept.get(sharer)?.waiting ?? 0) === 0) return;
    for (const socketId of this.#peers.socketsOf(sharer)) {
      const box = this.#boxes.get(socketId);
      if (box !== undefined) this.#ask(box);
    }
  }

  #pauseAll(sharer: Sharer, kept: Kept, isPaused: boolean): void {
    kept.isPaused = isPaused;
    for (const socketId of this.#peers.socketsOf(sharer))
      this.#sockets.pause(socketId, isPaused || (this.#boxes.get(socketId)?.isPaused ?? false));
  }

  #pause(box: Box, isPaused: boolean): void {
    box.isPaused = isPaused;
    this.#sockets.pause(box.socketId, isPaused || this.#isPaused(box.sharer));
  }

  #isPaused(sharer: Sharer): boolean {
    return this.#kept.get(sharer)?.isPaused ?? false;
  }
}
