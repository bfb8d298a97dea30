// The Sockets port over ws. Holds frames back while a batch is open, answers pings without waking the kernel, and
// finds out which peers are gone.

import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import { isGone, PING_EVERY_MS, type Pinged, PingRounds } from "../../lib/pings.ts";
import type { SocketPeer, Sockets } from "../../ports/sockets.ts";
import type { StorageError } from "../../ports/sql.ts";
import { lostAnswer, PING, PONG } from "../../protocol/frames.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { acknowledgesEarly, crashPoint } from "./faults.ts";
import type { NodeSql } from "./sql.ts";

const HANG_UP_MS = 800;
/** A peer that has not read so much is not read from, and nothing new is begun for it, before it has. */
const FULL_BYTES = 4 * 1024 * 1024;
/** What may wait in a socket that its peer does not read: what was begun before it was full, and may be as large as answers get. */
const UNREAD_BYTES_MAX = 4 * LIMITS.frameOutBytes + 16 * 1024 * 1024;
/** The same for a socket without identity, which is answered in short lines. */
const STRANGER_UNREAD_BYTES_MAX = 1024 * 1024;
/** What a frame or a piece of one takes besides its own bytes: millions of pongs are small only on the wire. */
const FRAME_COST_BYTES = 512;
/** A peer that is so far behind gets no pong: what waits for it says as well that we are here. */
const PONG_UNREAD_BYTES_MAX = 64 * 1024;
/** What all messages that have not ended may take together: each may be as large as a frame, and thousands may be open. */
const UNFINISHED_BYTES_MAX = 256 * 1024 * 1024;
/** What Node reads at once. A fragment of one byte keeps all of it in memory. */
const READ_BYTES = 64 * 1024;
/** Strangers' frames are small, and nobody cuts those into many pieces. */
const STRANGER_FRAGMENTS_MAX = 32;

export type SocketEvents = {
  opened(socketId: string): void;
  received(socketId: string, text: string): void;
  receivedBytes(socketId: string, bytes: Uint8Array): void;
  /** The peer of a socket that was full has read. */
  drained(socketId: string): void;
  closed(socketId: string): void;
};

/** A socket with what we know of it. Listeners are shared and find it as `this`: thousands of sockets lie idle. */
class OpenSocket extends WebSocket implements Pinged {
  socketId = "";
  peer: SocketPeer = { address: "", openedAt: 0 };
  heardAt = 0;
  pingedAt = 0;
  unanswered = 0;
  corked = false;
  trusted = false;
  wire: Duplex | null = null;
  /** Frames that were written and have not left. */
  unreadFrames = 0;
  /** It is not read from: because it does not read, or because the kernel wants it so. */
  isFull = false;
  isHeldUp = false;
  /** What had left when it was last looked at: a peer that reads is there, also where it is not read from. */
  leftBytes = 0;
  /** What a message that has not ended takes, since when it arrives, and what was read since then. */
  unfinishedBytes = 0;
  unfinishedSince = 0;
  readBytes = 0;
  /** Of a socket that is full: called when something has left. */
  onSent: (() => void) | null = null;
  readonly sent = (): void => {
    this.unreadFrames--;
    this.onSent?.();
  };
}

type Held =
  | { socketId: string; text: string; answers: string | undefined; stays: boolean }
  | { socketId: string; code: number; reason: string };

export class NodeSockets implements Sockets {
  readonly #sql: NodeSql;
  readonly #events: () => SocketEvents;
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
  readonly #pinging: NodeJS.Timeout;
  readonly #rounds = new PingRounds(Date.now());
  readonly #onMessage: (this: WebSocket, data: Buffer, isBinary: boolean) => void;
  readonly #onClose: (this: WebSocket) => void;
  #held: Held[] = [];
  #unfinishedBytes = 0;

  constructor(sql: NodeSql, events: () => SocketEvents) {
    this.#sql = sql;
    this.#events = events;
    const message = this.#message.bind(this);
    const gone = this.#gone.bind(this);
    this.#onMessage = function (data, isBinary) {
      message(this as OpenSocket, data, isBinary);
    };
    this.#onClose = function () {
      gone(this as OpenSocket);
    };
    this.#pinging = setInterval(() => this.#ping(), PING_EVERY_MS).unref();
  }

  get size(): number {
    return this.#open.size;
  }

  /** Completes an upgrade that the host has let in. */
  accept(request: IncomingMessage, wire: Duplex, head: Buffer, address: string): void {
    this.#server.handleUpgrade(request, wire, head, (socket) => {
      const now = Date.now();
      socket.socketId = randomUUID();
      socket.peer = { address, openedAt: now };
      socket.heardAt = now;
      socket.wire = wire;
      this.#open.set(socket.socketId, socket);
      socket.on("message", this.#onMessage);
      socket.on("pong", onSign);
      socket.on("ping", onPing);
      socket.on("error", onError);
      socket.on("close", this.#onClose);
      this.#events().opened(socket.socketId);
    });
  }

  send(socketId: string, text: string, answers?: string, stays = false): void {
    if (this.#sql.holds && !acknowledgesEarly()) this.#hold({ socketId, text, answers, stays });
    else this.#write(this.#open.get(socketId), text);
  }

  sendBytes(socketId: string, bytes: Uint8Array): void {
    this.#write(this.#open.get(socketId), bytes);
  }

  close(socketId: string, code: number, reason: string): void {
    if (this.#sql.holds) this.#hold({ socketId, code, reason });
    else this.#hangUp(socketId, code, reason);
  }

  list(): string[] {
    return [...this.#open.keys()];
  }

  peer(socketId: string): SocketPeer | undefined {
    return this.#open.get(socketId)?.peer;
  }

  heardAt(socketId: string): number {
    return this.#open.get(socketId)?.heardAt ?? 0;
  }

  trust(socketId: string): void {
    const socket = this.#open.get(socketId);
    if (socket === undefined) return;
    socket.trusted = true;
    const receiver = receiverOf(socket);
    receiver._maxPayload = LIMITS.frameInBytes;
    receiver._maxFragments = LIMITS.fragmentsPerMessage;
    // After ws's own listener, so that it sees what ws has kept.
    socket.wire?.on("data", (chunk: Buffer) => this.#arriving(socket, receiver, chunk.length));
  }

  isFull(socketId: string): boolean {
    return this.#open.get(socketId)?.isFull ?? false;
  }

  pause(socketId: string, isPaused: boolean): void {
    const socket = this.#open.get(socketId);
    if (socket === undefined) return;
    socket.isHeldUp = isPaused;
    readOrPause(socket);
  }

  /** Says goodbye to everybody, and hangs up on those who do not answer. Resolves when all are gone. */
  async closeAll(code: number, reason: string, patienceMs: number): Promise<void> {
    clearInterval(this.#pinging);
    const impatient = setTimeout(() => this.#open.forEach((socket) => socket.terminate()), patienceMs);
    const gone = [...this.#open.values()].map((socket) => new Promise<void>((resolve) => socket.once("close", () => resolve())));
    for (const socket of this.#open.values()) socket.close(code, reason);
    await Promise.all(gone);
    clearTimeout(impatient);
  }

  #message(socket: OpenSocket, data: Buffer, isBinary: boolean): void {
    socket.heardAt = Date.now();
    this.#arrived(socket, 0);
    if (isBinary) return this.#events().receivedBytes(socket.socketId, data);
    const text = data.toString();
    if (text === PING) return mayPong(socket) ? this.#write(socket, PONG) : undefined;
    this.#events().received(socket.socketId, text);
  }

  #gone(socket: OpenSocket): void {
    this.#arrived(socket, 0);
    this.#open.delete(socket.socketId);
    this.#events().closed(socket.socketId);
  }

  /** Of all that has not ended, what has been arriving longest has to go when it is too much. */
  #arriving(socket: OpenSocket, receiver: Receiver, bytes: number): void {
    const kept = receiver._bufferedBytes + receiver._messageLength;
    if (kept === 0) return this.#arrived(socket, 0);
    socket.readBytes += bytes;
    const fragments = receiver._fragments.length;
    const pinned = Math.min(socket.readBytes, kept + fragments * READ_BYTES);
    this.#arrived(socket, pinned + (receiver._buffers.length + fragments) * FRAME_COST_BYTES);
    if (this.#unfinishedBytes <= UNFINISHED_BYTES_MAX) return;
    const oldest = [...this.#open.values()]
      .filter((other) => other.unfinishedBytes > 0)
      .toSorted((a, b) => a.unfinishedSince - b.unfinishedSince);
    for (const other of oldest) {
      if (this.#unfinishedBytes <= UNFINISHED_BYTES_MAX) return;
      this.#arrived(other, 0);
      other.terminate();
    }
  }

  #arrived(socket: OpenSocket, bytes: number): void {
    if (bytes === 0) socket.readBytes = 0;
    else if (socket.unfinishedBytes === 0) socket.unfinishedSince = Date.now();
    this.#unfinishedBytes += bytes - socket.unfinishedBytes;
    socket.unfinishedBytes = bytes;
  }

  #hold(frame: Held): void {
    if (this.#held.length === 0) this.#sql.whenBatchEnds((failure) => this.#release(failure));
    this.#held.push(frame);
  }

  #release(failure: StorageError | null): void {
    const held = this.#held;
    this.#held = [];
    for (const frame of held) {
      if (failure === null || ("text" in frame && frame.stays)) {
        if ("code" in frame) this.#hangUp(frame.socketId, frame.code, frame.reason);
        else this.#write(this.#open.get(frame.socketId), frame.text);
      } else if ("text" in frame && frame.answers !== undefined) {
        this.#write(this.#open.get(frame.socketId), lostAnswer(frame.answers, failure.full, failure.message));
      }
      crashPoint("mid-flush");
    }
  }

  /** Frames of one turn leave in one write. */
  #write(socket: OpenSocket | undefined, data: string | Uint8Array): void {
    const wire = socket?.wire;
    if (socket === undefined || !wire) return;
    // A close frame would wait unread behind the others.
    if (unread(socket) > (socket.trusted ? UNREAD_BYTES_MAX : STRANGER_UNREAD_BYTES_MAX)) return socket.terminate();
    socket.unreadFrames++;
    if (!socket.corked) {
      socket.corked = true;
      wire.cork();
      process.nextTick(uncork, socket);
    }
    socket.send(data, socket.sent);
    if (!socket.isFull && unread(socket) > FULL_BYTES) this.#full(socket);
  }

  #full(socket: OpenSocket): void {
    socket.isFull = true;
    readOrPause(socket);
    socket.onSent = () => {
      if (unread(socket) > FULL_BYTES / 4) return;
      socket.onSent = null;
      socket.isFull = false;
      readOrPause(socket);
      this.#events().drained(socket.socketId);
    };
  }

  /** A peer that does not answer the close is cut off: whoever lost its identity must be gone within a second. */
  #hangUp(socketId: string, code: number, reason: string): void {
    const socket = this.#open.get(socketId);
    if (socket === undefined) return;
    socket.close(code, reason);
    setTimeout(() => socket.terminate(), HANG_UP_MS).unref();
  }

  #ping(): void {
    const now = Date.now();
    const stoodStill = this.#rounds.next(now);
    for (const socket of this.#open.values()) {
      // One that is full waits for its peer, whatever the kernel wants: only reading shows that somebody is there.
      if (socket.isPaused && ((socket.isHeldUp && !socket.isFull) || hasRead(socket))) socket.heardAt = now;
      if (isGone(socket, now, LIMITS.silenceMs, stoodStill)) socket.terminate();
      else if (now - socket.heardAt >= PING_EVERY_MS) {
        socket.pingedAt = now;
        socket.ping();
      }
    }
  }
}

function onSign(this: WebSocket): void {
  (this as OpenSocket).heardAt = Date.now();
}

/** ws itself would answer each of a flood of pings into the memory of a socket that its peer does not read. */
function onPing(this: WebSocket, data: Buffer): void {
  const socket = this as OpenSocket;
  socket.heardAt = Date.now();
  if (!mayPong(socket)) return;
  socket.unreadFrames++;
  socket.pong(data, false, socket.sent);
}

function mayPong(socket: OpenSocket): boolean {
  return unread(socket) < PONG_UNREAD_BYTES_MAX;
}

/** What the frames take that the peer has not taken yet. */
function unread(socket: OpenSocket): number {
  return (socket.wire?.writableLength ?? 0) + socket.unreadFrames * FRAME_COST_BYTES;
}

/** ws reports a broken frame here and closes with the fitting code by itself. */
function onError(): void {}

function readOrPause(socket: OpenSocket): void {
  if (socket.isFull || socket.isHeldUp) socket.pause();
  else socket.resume();
}

/** Since the last time this was asked. */
function hasRead(socket: OpenSocket): boolean {
  const { bytesWritten = 0, writableLength = 0 } = (socket.wire ?? {}) as { bytesWritten?: number; writableLength?: number };
  const leftBytes = bytesWritten - writableLength;
  const isMore = leftBytes > socket.leftBytes;
  socket.leftBytes = leftBytes;
  return isMore;
}

function uncork(socket: OpenSocket): void {
  socket.corked = false;
  socket.wire?.uncork();
}

/** Where ws keeps a message that is arriving: frames, and fragments before them. What a header announces is not there yet. */
type Receiver = {
  _maxPayload: number;
  _maxFragments: number;
  _buffers: readonly unknown[];
  _bufferedBytes: number;
  _fragments: readonly unknown[];
  _messageLength: number;
};

/**
 * ws takes its limits once, for all sockets. A stranger must not make us buffer 32 MiB, so they start small and are
 * raised per socket, in the fields where ws keeps them; the tests fail if those move.
 */
function receiverOf(socket: WebSocket): Receiver {
  const receiver = (socket as WebSocket & { _receiver?: Receiver })._receiver;
  const { _maxPayload, _maxFragments, _buffers, _bufferedBytes, _fragments, _messageLength } = receiver ?? {};
  const numbers = [_maxPayload, _maxFragments, _bufferedBytes, _messageLength];
  if (receiver === undefined || !numbers.every(Number.isInteger) || !Array.isArray(_buffers) || !Array.isArray(_fragments))
    throw new Error("This version of ws keeps its limits elsewhere");
  return receiver;
}
