// The Sockets port over ws. It holds frames back while a batch is open, answers pings without waking the kernel, and detects dead
// peers.

import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import { updateAndCheckGone, PING_EVERY_MS, type PingState, PingRounds } from "../../lib/pings.ts";
import type { SocketEvents, SocketPeer, Sockets } from "../../ports/sockets.ts";
import type { StorageError } from "../../ports/sql.ts";
import { encodeLostBatchFrame, PING, PONG } from "../../protocol/frames.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { acknowledgesEarly, crashAt } from "./faults.ts";
import type { SqlFile } from "./sql-file.ts";

const TERMINATE_MS = 800;
/** With this much unread, the gateway stops reading from the peer and starts nothing new for it until it has read. */
const FULL_BYTES = 4 * 1024 * 1024;
/**
 * The most that may wait in a socket whose peer does not read: work that started before the socket was full, with answers of the
 * largest size.
 */
const UNREAD_BYTES_MAX = 4 * LIMITS.frameOutBytes + 16 * 1024 * 1024;
/** The same for a socket without identity, which gets only short answers. */
const STRANGER_UNREAD_BYTES_MAX = 1024 * 1024;
/** Overhead of a frame or fragment beyond its own bytes: millions of pongs are small only on the wire. */
const FRAME_COST_BYTES = 512;
/** A peer with this much unread gets no pong: the waiting data shows as well that the gateway is alive. */
const PONG_UNREAD_BYTES_MAX = 64 * 1024;
/** Limit for all incomplete messages together: each may be as large as a frame, and thousands may be open. */
const UNFINISHED_BYTES_MAX = 256 * 1024 * 1024;
/** How much Node reads at once. A fragment of one byte keeps a whole such buffer in memory. */
const READ_BYTES = 64 * 1024;
/** Strangers' frames are small, and no client splits those into many fragments. */
const STRANGER_FRAGMENTS_MAX = 32;

/** A socket and its state. Listeners are shared and get it as `this`, which saves memory with thousands of idle sockets. */
class OpenSocket extends WebSocket implements PingState {
  socketId = "";
  peer: SocketPeer = { address: "", origin: "", openedAt: 0 };
  heardAt = 0;
  pingedAt = 0;
  unanswered = 0;
  isCorked = false;
  isTrusted = false;
  wire: Duplex | null = null;
  /** Frames that were written but not sent yet. */
  unreadFrames = 0;
  /** Reading is paused because the peer does not read (`isFull`) or the kernel asked for it (`isPausedByKernel`). */
  isFull = false;
  isPausedByKernel = false;
  /** Bytes sent at the last check: a peer that reads is alive, even while we do not read from it. */
  sentBytes = 0;
  /** Of an incomplete message: its memory, when it started to arrive, and the bytes read since then. */
  unfinishedBytes = 0;
  unfinishedSince = 0;
  readBytes = 0;
  /** Set while the socket is full: called when a frame has been sent. */
  onSent: (() => void) | null = null;
  readonly onWritten = (): void => {
    this.unreadFrames--;
    this.onSent?.();
  };
}

type HeldFrame =
  | { socketId: string; text: string; answers: string | undefined; isDurableElsewhere: boolean }
  | { socketId: string; code: number; reason: string };

export class NodeSockets implements Sockets {
  readonly #sql: SqlFile;
  readonly #kernel: () => SocketEvents;
  readonly #open = new Map<string, OpenSocket>();
  readonly #server = new WebSocketServer<typeof OpenSocket>({
    WebSocket: OpenSocket,
    noServer: true,
    autoPong: false,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: LIMITS.strangerFrameBytes,
    maxFragments: STRANGER_FRAGMENTS_MAX,
  });
  readonly #pingTimer: NodeJS.Timeout;
  readonly #rounds = new PingRounds(Date.now());
  readonly #onMessage: (this: WebSocket, data: Buffer, isBinary: boolean) => void;
  readonly #onClose: (this: WebSocket) => void;
  /** In the order of their batches. */
  readonly #held: { frame: HeldFrame; batch: number }[] = [];
  #unfinishedBytes = 0;

  constructor(sql: SqlFile, kernel: () => SocketEvents) {
    this.#sql = sql;
    this.#kernel = kernel;
    const receive = this.#receive.bind(this);
    const forget = this.#forget.bind(this);
    this.#onMessage = function (data, isBinary) {
      receive(this as OpenSocket, data, isBinary);
    };
    this.#onClose = function () {
      forget(this as OpenSocket);
    };
    this.#pingTimer = setInterval(() => this.#ping(), PING_EVERY_MS).unref();
  }

  get size(): number {
    return this.#open.size;
  }

  /** Completes an upgrade that the host has allowed. */
  accept(request: IncomingMessage, wire: Duplex, head: Buffer, peer: Pick<SocketPeer, "address" | "origin">): void {
    this.#server.handleUpgrade(request, wire, head, (socket) => {
      const now = Date.now();
      socket.socketId = randomUUID();
      socket.peer = { ...peer, openedAt: now };
      socket.heardAt = now;
      socket.wire = wire;
      this.#open.set(socket.socketId, socket);
      socket.on("message", this.#onMessage);
      socket.on("pong", onPong);
      socket.on("ping", onPing);
      socket.on("error", onError);
      socket.on("close", this.#onClose);
      this.#kernel().onSocketOpened(socket.socketId);
    });
  }

  send(socketId: string, text: string, answers?: string, isDurableElsewhere = false): void {
    if (this.#sql.isHoldingFrames && !acknowledgesEarly()) this.#hold({ socketId, text, answers, isDurableElsewhere });
    else this.#write(this.#open.get(socketId), text);
  }

  sendBytes(socketId: string, bytes: Uint8Array): void {
    this.#write(this.#open.get(socketId), bytes);
  }

  close(socketId: string, code: number, reason: string): void {
    if (this.#sql.isHoldingFrames) this.#hold({ socketId, code, reason });
    else this.#closeNow(socketId, code, reason);
  }

  list(): string[] {
    return [...this.#open.keys()];
  }

  peer(socketId: string): SocketPeer | undefined {
    return this.#open.get(socketId)?.peer;
  }

  lastHeardAt(socketId: string): number {
    return this.#open.get(socketId)?.heardAt ?? 0;
  }

  allowLargeFrames(socketId: string): void {
    const socket = this.#open.get(socketId);
    if (socket === undefined) return;
    socket.isTrusted = true;
    const receiver = receiverOf(socket);
    receiver._maxPayload = LIMITS.frameInBytes;
    receiver._maxFragments = LIMITS.fragmentsPerMessage;
    // Added after ws's own listener, so that it sees what ws has buffered.
    socket.wire?.on("data", (chunk: Buffer) => this.#countIncomplete(socket, receiver, chunk.length));
  }

  isFull(socketId: string): boolean {
    return this.#open.get(socketId)?.isFull ?? false;
  }

  setPaused(socketId: string, isPaused: boolean): void {
    const socket = this.#open.get(socketId);
    if (socket === undefined) return;
    socket.isPausedByKernel = isPaused;
    pauseOrResume(socket);
  }

  /** Closes all sockets and terminates those whose peers do not answer. Resolves when all are closed. */
  async closeAll(code: number, reason: string, graceMs: number): Promise<void> {
    clearInterval(this.#pingTimer);
    const killTimer = setTimeout(() => this.#open.forEach((socket) => socket.terminate()), graceMs);
    const closed = [...this.#open.values()].map((socket) => new Promise<void>((resolve) => socket.once("close", () => resolve())));
    for (const socket of this.#open.values()) socket.close(code, reason);
    await Promise.all(closed);
    clearTimeout(killTimer);
  }

  #receive(socket: OpenSocket, data: Buffer, isBinary: boolean): void {
    socket.heardAt = Date.now();
    this.#setUnfinishedBytes(socket, 0);
    if (isBinary) return this.#kernel().onBodyFrame(socket.socketId, data);
    const text = data.toString();
    if (text === PING) return mayPong(socket) ? this.#write(socket, PONG) : undefined;
    this.#kernel().onFrame(socket.socketId, text);
  }

  #forget(socket: OpenSocket): void {
    this.#setUnfinishedBytes(socket, 0);
    this.#open.delete(socket.socketId);
    this.#kernel().onSocketClosed(socket.socketId);
  }

  /**
   * Counts the memory of incomplete messages. Above the limit, the sockets whose messages have been arriving longest are
   * terminated.
   */
  #countIncomplete(socket: OpenSocket, receiver: Receiver, bytes: number): void {
    const kept = receiver._bufferedBytes + receiver._messageLength;
    if (kept === 0) return this.#setUnfinishedBytes(socket, 0);
    socket.readBytes += bytes;
    const fragments = receiver._fragments.length;
    const pinned = Math.min(socket.readBytes, kept + fragments * READ_BYTES);
    this.#setUnfinishedBytes(socket, pinned + (receiver._buffers.length + fragments) * FRAME_COST_BYTES);
    if (this.#unfinishedBytes <= UNFINISHED_BYTES_MAX) return;
    const oldest = [...this.#open.values()]
      .filter((other) => other.unfinishedBytes > 0)
      .toSorted((a, b) => a.unfinishedSince - b.unfinishedSince);
    for (const other of oldest) {
      if (this.#unfinishedBytes <= UNFINISHED_BYTES_MAX) return;
      this.#setUnfinishedBytes(other, 0);
      other.terminate();
    }
  }

  #setUnfinishedBytes(socket: OpenSocket, bytes: number): void {
    if (bytes === 0) socket.readBytes = 0;
    else if (socket.unfinishedBytes === 0) socket.unfinishedSince = Date.now();
    this.#unfinishedBytes += bytes - socket.unfinishedBytes;
    socket.unfinishedBytes = bytes;
  }

  #hold(frame: HeldFrame): void {
    const batch = this.#sql.awaitedBatch;
    if (this.#held.at(-1)?.batch !== batch) this.#sql.whenBatchEnds((failure) => this.#releaseHeldFrames(batch, failure));
    this.#held.push({ frame, batch });
  }

  #releaseHeldFrames(batch: number, failure: StorageError | null): void {
    const later = this.#held.findIndex((held) => held.batch > batch);
    for (const { frame } of this.#held.splice(0, later < 0 ? this.#held.length : later)) {
      if (failure === null || ("text" in frame && frame.isDurableElsewhere)) {
        if ("code" in frame) this.#closeNow(frame.socketId, frame.code, frame.reason);
        else this.#write(this.#open.get(frame.socketId), frame.text);
      } else if ("text" in frame && frame.answers !== undefined) {
        this.#write(this.#open.get(frame.socketId), encodeLostBatchFrame(frame.answers, failure.full, failure.message));
      }
      crashAt("mid-flush");
    }
  }

  /** Frames of one turn of the event loop leave in one write. */
  #write(socket: OpenSocket | undefined, data: string | Uint8Array): void {
    const wire = socket?.wire;
    if (socket === undefined || !wire) return;
    // A close frame would wait behind the unread ones.
    if (unreadBytes(socket) > (socket.isTrusted ? UNREAD_BYTES_MAX : STRANGER_UNREAD_BYTES_MAX)) return socket.terminate();
    socket.unreadFrames++;
    if (!socket.isCorked) {
      socket.isCorked = true;
      wire.cork();
      process.nextTick(uncork, socket);
    }
    socket.send(data, socket.onWritten);
    if (!socket.isFull && unreadBytes(socket) > FULL_BYTES) this.#markFull(socket);
  }

  #markFull(socket: OpenSocket): void {
    socket.isFull = true;
    pauseOrResume(socket);
    socket.onSent = () => {
      if (unreadBytes(socket) > FULL_BYTES / 4) return;
      socket.onSent = null;
      socket.isFull = false;
      pauseOrResume(socket);
      this.#kernel().onSocketDrained(socket.socketId);
    };
  }

  /** Terminates a peer that does not answer the close: a connection that lost its identity must be gone within a second. */
  #closeNow(socketId: string, code: number, reason: string): void {
    const socket = this.#open.get(socketId);
    if (socket === undefined) return;
    socket.close(code, reason);
    setTimeout(() => socket.terminate(), TERMINATE_MS).unref();
  }

  #ping(): void {
    const now = Date.now();
    const hasStalled = this.#rounds.startRound(now);
    for (const socket of this.#open.values()) {
      // A full socket waits for its peer even if the kernel paused it too: only reading proves that the peer is alive.
      if (socket.isPaused && ((socket.isPausedByKernel && !socket.isFull) || hasPeerReadMore(socket))) socket.heardAt = now;
      if (updateAndCheckGone(socket, now, LIMITS.silenceMs, hasStalled)) socket.terminate();
      else if (now - socket.heardAt >= PING_EVERY_MS) {
        socket.pingedAt = now;
        socket.ping();
      }
    }
  }
}

function onPong(this: WebSocket): void {
  (this as OpenSocket).heardAt = Date.now();
}

/** ws itself would answer every ping of a flood, into the memory of a socket that its peer does not read. */
function onPing(this: WebSocket, data: Buffer): void {
  const socket = this as OpenSocket;
  socket.heardAt = Date.now();
  if (!mayPong(socket)) return;
  socket.unreadFrames++;
  socket.pong(data, false, socket.onWritten);
}

function mayPong(socket: OpenSocket): boolean {
  return unreadBytes(socket) < PONG_UNREAD_BYTES_MAX;
}

/** Memory of the frames the peer has not read yet. */
function unreadBytes(socket: OpenSocket): number {
  return (socket.wire?.writableLength ?? 0) + socket.unreadFrames * FRAME_COST_BYTES;
}

/** ws reports an invalid frame here and closes with the right code by itself. */
function onError(): void {}

function pauseOrResume(socket: OpenSocket): void {
  if (socket.isFull || socket.isPausedByKernel) socket.pause();
  else socket.resume();
}

/** Whether the peer has read anything since the last check. */
function hasPeerReadMore(socket: OpenSocket): boolean {
  const { bytesWritten = 0, writableLength = 0 } = (socket.wire ?? {}) as { bytesWritten?: number; writableLength?: number };
  const sentBytes = bytesWritten - writableLength;
  const hasMore = sentBytes > socket.sentBytes;
  socket.sentBytes = sentBytes;
  return hasMore;
}

function uncork(socket: OpenSocket): void {
  socket.isCorked = false;
  socket.wire?.uncork();
}

/**
 * Where ws buffers an arriving message: frames, and complete fragments before them. Bytes that a header only announces are not
 * counted.
 */
type Receiver = {
  _maxPayload: number;
  _maxFragments: number;
  _buffers: readonly unknown[];
  _bufferedBytes: number;
  _fragments: readonly unknown[];
  _messageLength: number;
};

/**
 * ws takes one limit for all sockets. A stranger must not make the gateway buffer 32 MiB, so limits start small and are raised
 * per socket in the fields where ws keeps them; the tests fail if those move.
 */
function receiverOf(socket: WebSocket): Receiver {
  const receiver = (socket as WebSocket & { _receiver?: Receiver })._receiver;
  const { _maxPayload, _maxFragments, _buffers, _bufferedBytes, _fragments, _messageLength } = receiver ?? {};
  const numbers = [_maxPayload, _maxFragments, _bufferedBytes, _messageLength];
  if (receiver === undefined || !numbers.every(Number.isInteger) || !Array.isArray(_buffers) || !Array.isArray(_fragments))
    throw new Error("This version of ws keeps its limits elsewhere");
  return receiver;
}
