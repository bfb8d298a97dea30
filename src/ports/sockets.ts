// Open sockets by id. The actor's memory may vanish while sockets live, so the kernel keeps what it knows of a socket in SQL,
// under its id. Frames and closes wait until the batch that was open at the time is durable; if that batch fails, an answer
// leaves as a failure (frames.ts, lostBatchFrame) and everything else is dropped. An answer with `isDurableElsewhere` waits like the
// others and leaves unchanged, even if the batch fails.

export interface Sockets {
  /** `answers` is the id of the request this text answers. */
  send(socketId: string, text: string, answers?: string, isDurableElsewhere?: boolean): void;
  /** A piece of a body. It reveals nothing about the kernel's rows, so it waits for no batch. */
  sendBytes(socketId: string, bytes: Uint8Array): void;
  close(socketId: string, code: number, reason: string): void;
  /** Oldest first. */
  list(): string[];
  /** What the host knew when the socket opened. */
  peer(socketId: string): SocketPeer | undefined;
  /** When the peer's last frame, ping or pong arrived. Zero if the socket is gone. */
  lastHeardAt(socketId: string): number;
  /** From now on the peer may send frames as large as an identified peer's. */
  allowLargeFrames(socketId: string): void;
  /** Whether so much is unread by the peer that it should be sent no more. The host reports when it has drained. */
  isFull(socketId: string): boolean;
  /** Pauses or resumes reading from the peer. If the host cannot do that, its frames arrive nevertheless. */
  setPaused(socketId: string, isPaused: boolean): void;
}

/** `origin` is the gateway's own address that the peer used, such as https://gsv.example. */
export type SocketPeer = { address: string; origin: string; openedAt: number };

/** What a host reports of its sockets. The kernel implements this. */
export type SocketEvents = {
  onSocketOpened(socketId: string): void;
  onFrame(socketId: string, text: string): void;
  /** A binary frame: a piece of a body. */
  onBodyFrame(socketId: string, bytes: Uint8Array): void;
  /** The peer of a full socket has read. A host that cannot tell when a socket is full never calls it. */
  onSocketDrained(socketId: string): void;
  onSocketClosed(socketId: string): void;
};
