// The Sockets port over hibernating WebSockets. The platform keeps the sockets while the object's memory is gone, each
// with its tag, which is its id, and its attachment; so nothing is remembered here that a socket could not do without.
// Frames are held back until they may leave, and pings answered, by the platform as well.

import type { SocketPeer, Sockets } from "../../ports/sockets.ts";
import { PING, PONG } from "../../protocol/frames.ts";

export type SocketEvents = {
  opened(socketId: string): void;
  received(socketId: string, text: string): void;
  receivedBytes(socketId: string, bytes: Uint8Array): void;
  closed(socketId: string): void;
};

type Attachment = SocketPeer & { id: string };

export class CloudflareSockets implements Sockets {
  readonly #state: DurableObjectState;
  readonly #events: () => SocketEvents;
  /** When the last frame came, for as long as memory lasts. */
  readonly #heardAt = new Map<string, number>();

  constructor(state: DurableObjectState, events: () => SocketEvents) {
    this.#state = state;
    this.#events = events;
    state.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
  }

  get size(): number {
    return this.#state.getWebSockets().filter(isOpen).length;
  }

  /** Completes an upgrade that the host has let in. */
  accept(address: string): Response {
    const { 0: theirs, 1: ours } = new WebSocketPair();
    const attachment: Attachment = { id: crypto.randomUUID(), address, openedAt: Date.now() };
    ours.serializeAttachment(attachment);
    this.#state.acceptWebSocket(ours, [attachment.id]);
    this.#events().opened(attachment.id);
    return new Response(null, { status: 101, webSocket: theirs });
  }

  message(socket: WebSocket, data: string | ArrayBuffer): void {
    const { id } = attachmentOf(socket);
    this.#heardAt.set(id, Date.now());
    if (typeof data === "string") this.#events().received(id, data);
    else this.#events().receivedBytes(id, new Uint8Array(data));
  }

  /** The socket ended, whoever ended it and however. */
  gone(socket: WebSocket): void {
    this.#forget(attachmentOf(socket).id);
  }

  send(socketId: string, text: string): void {
    this.#find(socketId)?.send(text);
  }

  sendBytes(socketId: string, bytes: Uint8Array): void {
    this.#find(socketId)?.send(bytes);
  }

  close(socketId: string, code: number, reason: string): void {
    const socket = this.#find(socketId);
    if (socket === undefined) return;
    socket.close(code, reason);
    // A peer that never answers the close would keep its place for ever: for the kernel the socket ends here. Not
    // before the kernel is done with what it is doing, though.
    queueMicrotask(() => this.#forget(socketId));
  }

  /** Oldest first, as the kernel counts deadlines; the platform lists the newest first. */
  list(): string[] {
    const open = this.#state.getWebSockets().filter(isOpen).map(attachmentOf);
    return open.toSorted((a, b) => a.openedAt - b.openedAt).map(({ id }) => id);
  }

  peer(socketId: string): SocketPeer | undefined {
    const socket = this.#find(socketId);
    return socket && attachmentOf(socket);
  }

  heardAt(socketId: string): number {
    const socket = this.#find(socketId);
    if (socket === undefined) return 0;
    const pinged = this.#state.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? 0;
    return Math.max(pinged, this.#heardAt.get(socketId) ?? attachmentOf(socket).openedAt);
  }

  /** The platform has one size limit for all; the kernel closes strangers that use it. */
  trust(): void {}

  /** The platform does not tell what a peer has read, and lets nobody stop reading. */
  isFull(): boolean {
    return false;
  }

  pause(): void {}

  #find(socketId: string): WebSocket | undefined {
    return this.#state.getWebSockets(socketId).find(isOpen);
  }

  #forget(socketId: string): void {
    this.#heardAt.delete(socketId);
    this.#events().closed(socketId);
  }
}

/** The platform still lists a socket whose close has been sent and not been answered. */
function isOpen(socket: WebSocket): boolean {
  return socket.readyState === WebSocket.OPEN;
}

function attachmentOf(socket: WebSocket): Attachment {
  return socket.deserializeAttachment() as Attachment;
}
