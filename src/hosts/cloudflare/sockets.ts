// The Sockets port over hibernating WebSockets. The platform keeps the sockets while the object's memory is gone, each with its
// tag, which is its id, and its attachment; so this file keeps nothing in memory that a socket depends on. The platform also
// holds frames back until they may leave, and answers pings.

import type { SocketEvents, SocketPeer, Sockets } from "../../ports/sockets.ts";
import { PING, PONG } from "../../protocol/frames.ts";

type Attachment = SocketPeer & { id: string };

export class CloudflareSockets implements Sockets {
  readonly #state: DurableObjectState;
  readonly #kernel: () => SocketEvents;
  /** When the last frame arrived; lost with the object's memory. */
  readonly #heardAt = new Map<string, number>();

  constructor(state: DurableObjectState, kernel: () => SocketEvents) {
    this.#state = state;
    this.#kernel = kernel;
    state.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
  }

  get size(): number {
    return this.#state.getWebSockets().filter(isOpen).length;
  }

  /** Completes an upgrade that the host has allowed. */
  accept(peer: Pick<SocketPeer, "address" | "origin">): Response {
    const { 0: theirs, 1: ours } = new WebSocketPair();
    const attachment: Attachment = { id: crypto.randomUUID(), ...peer, openedAt: Date.now() };
    ours.serializeAttachment(attachment);
    this.#state.acceptWebSocket(ours, [attachment.id]);
    this.#kernel().onSocketOpened(attachment.id);
    return new Response(null, { status: 101, webSocket: theirs });
  }

  handleMessage(socket: WebSocket, data: string | ArrayBuffer): void {
    const { id } = attachmentOf(socket);
    this.#heardAt.set(id, Date.now());
    if (typeof data === "string") this.#kernel().onFrame(id, data);
    else this.#kernel().onBodyFrame(id, new Uint8Array(data));
  }

  /** The socket was closed by either side, or failed. */
  handleClose(socket: WebSocket): void {
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
    // A peer that never answers the close would count as connected forever, so for the kernel the socket ends here, after the
    // kernel has finished its current work.
    queueMicrotask(() => this.#forget(socketId));
  }

  /** Oldest first, because the kernel checks deadlines in this order; the platform lists the newest first. */
  list(): string[] {
    const open = this.#state.getWebSockets().filter(isOpen).map(attachmentOf);
    return open.toSorted((a, b) => a.openedAt - b.openedAt).map(({ id }) => id);
  }

  peer(socketId: string): SocketPeer | undefined {
    const socket = this.#find(socketId);
    return socket && attachmentOf(socket);
  }

  lastHeardAt(socketId: string): number {
    const socket = this.#find(socketId);
    if (socket === undefined) return 0;
    const pinged = this.#state.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? 0;
    return Math.max(pinged, this.#heardAt.get(socketId) ?? attachmentOf(socket).openedAt);
  }

  /** The platform has one size limit for all sockets; the kernel closes strangers that exceed theirs. */
  allowLargeFrames(): void {}

  /** The platform does not report what a peer has read, and cannot pause reading. */
  isFull(): boolean {
    return false;
  }

  setPaused(): void {}

  #find(socketId: string): WebSocket | undefined {
    return this.#state.getWebSockets(socketId).find(isOpen);
  }

  #forget(socketId: string): void {
    this.#heardAt.delete(socketId);
    this.#kernel().onSocketClosed(socketId);
  }
}

/** The platform still lists a socket whose close was sent but not answered. */
function isOpen(socket: WebSocket): boolean {
  return socket.readyState === WebSocket.OPEN;
}

function attachmentOf(socket: WebSocket): Attachment {
  return socket.deserializeAttachment() as Attachment;
}
