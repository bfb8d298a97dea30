// Open sockets by id. The actor's memory may vanish while sockets live, so the kernel keeps what it knows of one in
// SQL, under that id. Nothing sent or closed here leaves before the batch that was open at the time is durable; where
// that batch fails, an answer leaves as a failure (frames.ts, lostAnswer) and everything else is dropped. An answer that
// `stays` tells of what is durable elsewhere: it waits its turn like the others and leaves as it is, whatever the batch did.

export interface Sockets {
  /** `answers` is the id of the request this text answers. */
  send(socketId: string, text: string, answers?: string, stays?: boolean): void;
  /** A piece of a body. Tells nothing of the kernel's rows, so it waits for no batch. */
  sendBytes(socketId: string, bytes: Uint8Array): void;
  close(socketId: string, code: number, reason: string): void;
  /** Oldest first. */
  list(): string[];
  /** What the host saw when the socket opened. */
  peer(socketId: string): SocketPeer | undefined;
  /** When the peer was last heard of: a frame, a ping or a pong. Zero where the socket is gone. */
  heardAt(socketId: string): number;
  /** From now on the peer may send frames of an identified peer's size. */
  trust(socketId: string): void;
  /** Whether the peer has not read so much of what it was sent that it should be sent no more. The host tells when it has. */
  isFull(socketId: string): boolean;
  /** Whether the peer is not read from for now. Where the host cannot do that, its frames come nevertheless. */
  pause(socketId: string, isPaused: boolean): void;
}

export type SocketPeer = { address: string; openedAt: number };
