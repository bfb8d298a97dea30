// The Sockets port in virtual time, and the connections behind it. Each keeps order in both directions with any delay. It can be
// cut at any moment, which loses what is in flight and is noticed late. Nothing leaves while a batch is open. What the peer of a
// closing socket still sends reaches the kernel, and what is sent to it is dropped, as with `ws`.

import type { SocketEvents, SocketPeer, Sockets } from "../../../src/ports/sockets.ts";
import type { StorageError } from "../../../src/ports/sql.ts";
import { encodeLostBatchFrame, PING, PONG } from "../../../src/protocol/frames.ts";
import type { Agenda } from "./agenda.ts";
import type { Random } from "./random.ts";
import type { MemorySql } from "./sql.ts";

/** The client's side of a connection. */
export type PeerEnd = { text(text: string): void; closed(code: number): void };

/** What a judge observes: a frame was handed over, a frame left, the gateway closes a socket, a socket is gone. */
export type Watch = {
  sent(socketId: string, text: string): void;
  left(socketId: string, text: string): void;
  closing(socketId: string, code: number, reason: string): void;
  gone(socketId: string): void;
};

type Wire = {
  peer: SocketPeer;
  heardAt: number;
  end: PeerEnd;
  isClosing: boolean;
  isCut: boolean;
  losesInbound: boolean;
  /** When the last frame sent in each direction arrives, so that no frame overtakes another. */
  inboundAt: number;
  outboundAt: number;
};

type Held =
  | { socketId: string; text: string; answers: string | undefined; isDurableElsewhere: boolean }
  | { socketId: string; code: number; reason: string };

/** How long a peer has to answer a close frame before the socket is dropped. */
const CLOSE_TIMEOUT_MS = 30_000;
const STEP_MS = 0.01;

/** How the peer and the network behave. Some peers never answer a close frame. */
export type Latency = { delayMs: () => number; noticeMs: () => number; answersGoodbye: () => boolean };

export class MemorySockets implements Sockets {
  readonly #agenda: Agenda;
  readonly #random: Random;
  readonly #sql: MemorySql;
  readonly #events: () => SocketEvents;
  readonly #watch: Watch;
  readonly #latency: Latency;
  readonly #wires = new Map<string, Wire>();
  #held: Held[] = [];
  #count = 0;

  constructor(parts: { agenda: Agenda; random: Random; sql: MemorySql; events: () => SocketEvents; watch: Watch; latency: Latency }) {
    this.#agenda = parts.agenda;
    this.#random = parts.random;
    this.#sql = parts.sql;
    this.#events = parts.events;
    this.#watch = parts.watch;
    this.#latency = parts.latency;
  }

  open(address: string, end: PeerEnd): string {
    const socketId = `socket-${++this.#count}`;
    const now = Math.floor(this.#agenda.now);
    this.#wires.set(socketId, {
      peer: { address, origin: "http://localhost:8787", openedAt: now },
      heardAt: now,
      end,
      isClosing: false,
      isCut: false,
      losesInbound: false,
      inboundAt: this.#agenda.now,
      outboundAt: this.#agenda.now,
    });
    this.#events().onSocketOpened(socketId);
    return socketId;
  }

  // The Sockets port.

  send(socketId: string, text: string, answers?: string, isDurableElsewhere = false): void {
    this.#watch.sent(socketId, text);
    if (this.#sql.holds) this.#hold({ socketId, text, answers, isDurableElsewhere });
    else this.#write(socketId, text);
  }

  /** The simulator's peers keep no bodies. */
  sendBytes(_socketId: string, _bytes: Uint8Array): void {}

  close(socketId: string, code: number, reason: string): void {
    if (this.#sql.holds) this.#hold({ socketId, code, reason });
    else this.#startClose(socketId, code, reason);
  }

  list(): string[] {
    return [...this.#wires.keys()];
  }

  peer(socketId: string): SocketPeer | undefined {
    return this.#wires.get(socketId)?.peer;
  }

  lastHeardAt(socketId: string): number {
    return this.#wires.get(socketId)?.heardAt ?? 0;
  }

  allowLargeFrames(_socketId: string): void {}

  /** The simulator's peers read at once. */
  isFull(_socketId: string): boolean {
    return false;
  }

  setPaused(_socketId: string, _isPaused: boolean): void {}

  // The client's side.

  fromPeer(socketId: string, data: string | Uint8Array): void {
    this.#inbound(socketId, `in ${socketId}`, (wire) => {
      wire.heardAt = Math.floor(this.#agenda.now);
      if (typeof data !== "string") return this.#events().onBodyFrame(socketId, data);
      if (data === PING) return this.#write(socketId, PONG);
      this.#events().onFrame(socketId, data);
    });
  }

  closeFromPeer(socketId: string): void {
    this.#inbound(socketId, `close ${socketId}`, () => this.#remove(socketId));
  }

  /** Breaks the connection. The client knows at once, the gateway only after a while. */
  cut(socketId: string): void {
    const wire = this.#wires.get(socketId);
    if (wire === undefined || wire.isCut) return;
    wire.isCut = true;
    wire.losesInbound = this.#random.chance(0.5);
    this.#agenda.after(this.#latency.noticeMs(), `notice cut ${socketId}`, () => this.#remove(socketId));
    wire.end.closed(1006);
  }

  isOpen(socketId: string): boolean {
    const wire = this.#wires.get(socketId);
    return wire !== undefined && !wire.isClosing;
  }

  /** All sockets end with the gateway's process: peers see a broken connection, and held frames are never sent. */
  crash(): void {
    const wires = [...this.#wires];
    this.#wires.clear();
    this.#held = [];
    for (const [socketId, wire] of wires) {
      this.#watch.gone(socketId);
      if (!wire.isCut) this.#agenda.after(this.#latency.delayMs(), `reset ${socketId}`, () => wire.end.closed(1006));
    }
  }

  #inbound(socketId: string, what: string, arrive: (wire: Wire) => void): void {
    const wire = this.#wires.get(socketId);
    if (wire === undefined || wire.isCut) return;
    wire.inboundAt = Math.max(this.#agenda.now + this.#latency.delayMs(), wire.inboundAt + STEP_MS);
    this.#agenda.at(wire.inboundAt, what, () => {
      if (this.#wires.get(socketId) !== wire || (wire.isCut && wire.losesInbound)) return;
      arrive(wire);
    });
  }

  #hold(frame: Held): void {
    if (this.#held.length === 0) this.#sql.whenBatchEnds((failure) => this.#release(failure));
    this.#held.push(frame);
  }

  #release(failure: StorageError | null): void {
    const held = this.#held;
    this.#held = [];
    for (const frame of held) {
      if (failure === null || ("text" in frame && frame.isDurableElsewhere)) {
        if ("code" in frame) this.#startClose(frame.socketId, frame.code, frame.reason);
        else this.#write(frame.socketId, frame.text);
      } else if ("text" in frame && frame.answers !== undefined) {
        this.#write(frame.socketId, encodeLostBatchFrame(frame.answers, failure.full, failure.message));
      }
    }
  }

  #write(socketId: string, text: string): void {
    const wire = this.#wires.get(socketId);
    if (wire === undefined || wire.isClosing) return;
    this.#watch.left(socketId, text);
    this.#outbound(wire, `out ${socketId}`, () => wire.end.text(text));
  }

  #startClose(socketId: string, code: number, reason: string): void {
    const wire = this.#wires.get(socketId);
    if (wire === undefined || wire.isClosing) return;
    wire.isClosing = true;
    this.#watch.closing(socketId, code, reason);
    this.#agenda.after(CLOSE_TIMEOUT_MS, `hang up ${socketId}`, () => this.#remove(socketId));
    this.#outbound(wire, `goodbye ${socketId}`, () => {
      wire.end.closed(code);
      if (this.#latency.answersGoodbye()) this.closeFromPeer(socketId);
    });
  }

  #outbound(wire: Wire, what: string, arrive: () => void): void {
    wire.outboundAt = Math.max(this.#agenda.now + this.#latency.delayMs(), wire.outboundAt + STEP_MS);
    this.#agenda.at(wire.outboundAt, what, () => {
      if (!wire.isCut) arrive();
    });
  }

  #remove(socketId: string): void {
    if (!this.#wires.delete(socketId)) return;
    this.#watch.gone(socketId);
    this.#events().onSocketClosed(socketId);
  }
}
