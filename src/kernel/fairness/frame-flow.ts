// Decides when each frame is handled. A frame is handled on arrival, unless its sender has used much of the kernel lately (shares.ts),
// has not read what it was sent, or already holds too much memory with running calls: then it is queued in order. The gateway stops
// reading from a peer whose frames pile up, and from all sockets of a user whose queued frames take too much memory.

import type { Sockets } from "../../ports/sockets.ts";
import type { Sharer, Shares } from "./shares.ts";

/** Maps sockets to sharers, and handles their frames. */
export type FrameFlowDelegate = {
  sharerOf(socketId: string): Sharer;
  /** All sockets of a sharer. */
  socketsOf(sharer: Sharer): readonly string[];
  handleFrame(socketId: string, text: string): void;
};

/** The queued frames of one socket. `isScheduled`: its next frame is queued in the shares. */
type FrameQueue = { socketId: string; sharer: Sharer; texts: string[]; chars: number; isScheduled: boolean; isPaused: boolean };
/** What a sharer holds in memory, in characters: queued frames, and frames of running calls. */
type HeldMemory = { waiting: number; running: number; isPaused: boolean };

/** How much may be queued for one socket before reading from it stops, and how much is left when reading resumes. */
const PAUSE_CHARS = 256 * 1024;
const RESUME_CHARS = 64 * 1024;
/** What a frame takes besides its own text. */
const FRAME_CHARS = 64;
/** How much the running calls of one sharer may hold before large frames wait; a frame has at most 32 Mi characters. */
const RUNNING_CHARS = 64 * 1024 * 1024;
/** Once the running calls of all sharers hold this much, the lower limit applies to each. */
const ALL_CHARS = 512 * 1024 * 1024;
const RUNNING_CHARS_LOW = 4 * 1024 * 1024;
/** How much may be queued for all sockets of a sharer before reading from all of them stops. */
const SHARER_PAUSE_CHARS = 32 * 1024 * 1024;
/** Smaller frames never wait for memory: one may be a request to stop a running call. */
const LARGE_CHARS = 64 * 1024;
/**
 * Receiving and parsing a frame this long blocks the kernel for milliseconds, up to a tenth of a second, whatever the call is. While
 * others use the gateway, the sender's next long frame waits so long that others rarely meet one. Large content belongs in bodies.
 */
const LONG_CHARS = 1024 * 1024;
const LONG_CHARS_PER_MS = 2 * 1024;

export class FrameFlow {
  readonly #shares: Shares;
  readonly #sockets: Pick<Sockets, "isFull" | "setPaused">;
  readonly #peers: FrameFlowDelegate;
  /** Only sockets with queued frames have an entry. */
  readonly #queues = new Map<string, FrameQueue>();
  readonly #held = new Map<Sharer, HeldMemory>();
  /** Sharers whose long frames wait so that others are served. */
  readonly #yielding = new Set<Sharer>();
  #running = 0;

  constructor(shares: Shares, sockets: Pick<Sockets, "isFull" | "setPaused">, peers: FrameFlowDelegate) {
    this.#shares = shares;
    this.#sockets = sockets;
    this.#peers = peers;
  }

  receive(socketId: string, text: string): void {
    const queue = this.#queues.get(socketId);
    if (queue !== undefined) return this.#enqueue(queue, text);
    if (this.#mayHandle(socketId, text) && this.#shares.tryRun(this.#peers.sharerOf(socketId), () => this.#handle(socketId, text))) return;
    const created: FrameQueue = {
      socketId,
      sharer: this.#peers.sharerOf(socketId),
      texts: [],
      chars: 0,
      isScheduled: false,
      isPaused: false,
    };
    this.#queues.set(socketId, created);
    this.#enqueue(created, text);
  }

  /** A socket has authenticated. */
  onIdentified(socketId: string): void {
    if (this.#isPaused(this.#peers.sharerOf(socketId))) this.#sockets.setPaused(socketId, true);
  }

  /** A call is still running, so its frame stays in memory until the returned function is called. */
  holdFrame(socketId: string, chars: number): () => void {
    const sharer = this.#peers.sharerOf(socketId);
    this.#addHeld(sharer, 0, chars);
    return () => this.#addHeld(sharer, 0, -chars);
  }

  /** The peer has read most of what it was sent. */
  onSocketDrained(socketId: string): void {
    const queue = this.#queues.get(socketId);
    if (queue !== undefined) this.#schedule(queue);
  }

  onSocketClosed(socketId: string): void {
    const queue = this.#queues.get(socketId);
    this.#queues.delete(socketId);
    if (queue !== undefined) {
      this.#addHeld(queue.sharer, -queue.chars, 0);
      queue.texts = [];
    }
  }

  /** Whether the peer's unread answers and the memory in use permit handling the frame. */
  #mayHandle(socketId: string, text: string): boolean {
    if (this.#sockets.isFull(socketId)) return false;
    if (text.length < LARGE_CHARS) return true;
    const sharer = this.#peers.sharerOf(socketId);
    if (text.length >= LONG_CHARS && this.#yielding.has(sharer)) return false;
    const running = this.#held.get(sharer)?.running ?? 0;
    return running + text.length <= (this.#running > ALL_CHARS ? RUNNING_CHARS_LOW : RUNNING_CHARS) || running === 0;
  }

  #enqueue(queue: FrameQueue, text: string): void {
    const chars = text.length + FRAME_CHARS;
    queue.texts.push(text);
    queue.chars += chars;
    this.#addHeld(queue.sharer, chars, 0);
    if (!queue.isPaused && queue.chars > PAUSE_CHARS) this.#setPaused(queue, true);
    this.#schedule(queue);
  }

  #schedule(queue: FrameQueue): void {
    const [first] = queue.texts;
    if (queue.isScheduled || first === undefined || !this.#mayHandle(queue.socketId, first)) return;
    queue.isScheduled = true;
    this.#shares.queue(queue.sharer, () => this.#handleNext(queue));
  }

  #handleNext(queue: FrameQueue): void {
    queue.isScheduled = false;
    const [text] = queue.texts;
    // Meanwhile the peer may have disconnected, or have unread answers again.
    if (text === undefined || !this.#mayHandle(queue.socketId, text)) return;
    const chars = text.length + FRAME_CHARS;
    queue.texts.shift();
    queue.chars -= chars;
    this.#addHeld(queue.sharer, -chars, 0);
    if (queue.isPaused && queue.chars < RESUME_CHARS) this.#setPaused(queue, false);
    if (queue.texts.length === 0) this.#queues.delete(queue.socketId);
    else this.#schedule(queue);
    this.#handle(queue.socketId, text);
  }

  #handle(socketId: string, text: string): void {
    if (text.length >= LONG_CHARS) this.#pauseForOthers(this.#peers.sharerOf(socketId), text.length / LONG_CHARS_PER_MS);
    this.#peers.handleFrame(socketId, text);
  }

  #pauseForOthers(sharer: Sharer, ms: number): void {
    const pause = this.#shares.yieldToOthers(sharer, ms);
    if (pause === undefined) return;
    this.#yielding.add(sharer);
    void pause.then(() => {
      this.#yielding.delete(sharer);
      this.#scheduleAll(sharer);
    });
  }

  #addHeld(sharer: Sharer, waiting: number, running: number): void {
    const held = this.#held.get(sharer) ?? { waiting: 0, running: 0, isPaused: false };
    held.waiting = Math.max(0, held.waiting + waiting);
    held.running = Math.max(0, held.running + running);
    this.#running += running;
    if (held.waiting + held.running === 0 && !held.isPaused) this.#held.delete(sharer);
    else this.#held.set(sharer, held);
    const isTooMuch = held.waiting > (held.isPaused ? SHARER_PAUSE_CHARS / 2 : SHARER_PAUSE_CHARS);
    if (isTooMuch !== held.isPaused) this.#setAllPaused(sharer, held, isTooMuch);
    if (running < 0) this.#scheduleAll(sharer);
  }

  /** Some queued frames may be handled now. */
  #scheduleAll(sharer: Sharer): void {
    if ((this.#held.get(sharer)?.waiting ?? 0) === 0) return;
    for (const socketId of this.#peers.socketsOf(sharer)) {
      const queue = this.#queues.get(socketId);
      if (queue !== undefined) this.#schedule(queue);
    }
  }

  #setAllPaused(sharer: Sharer, held: HeldMemory, isPaused: boolean): void {
    held.isPaused = isPaused;
    for (const socketId of this.#peers.socketsOf(sharer))
      this.#sockets.setPaused(socketId, isPaused || (this.#queues.get(socketId)?.isPaused ?? false));
  }

  #setPaused(queue: FrameQueue, isPaused: boolean): void {
    queue.isPaused = isPaused;
    this.#sockets.setPaused(queue.socketId, isPaused || this.#isPaused(queue.sharer));
  }

  #isPaused(sharer: Sharer): boolean {
    return this.#held.get(sharer)?.isPaused ?? false;
  }
}
