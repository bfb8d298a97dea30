// A WebSocket that sends anything and keeps everything it receives, for tests of what our client would never send.

import type { Socket } from "node:net";
import { WebSocket, type ClientOptions } from "ws";

export type AnyFrame = Record<string, unknown> & {
  type?: string;
  id?: string;
  ok?: boolean;
  data?: Record<string, unknown>;
  error?: { code: number; message: string; details?: unknown; retryable?: boolean };
};

const CHANGED = '{"type":"sig","signal":"sys.changed"';

export class RawSocket {
  readonly #socket: WebSocket;
  readonly #frames: string[] = [];
  readonly #waiting: ((text: string) => void)[] = [];
  onBytes: (bytes: Uint8Array) => void = () => {};
  readonly closed: Promise<{ code: number; reason: string }>;

  static async open(url: string, options: ClientOptions = {}): Promise<RawSocket> {
    const socket = new WebSocket(`${url.replace(/^http/, "ws")}/ws`, { perMessageDeflate: false, ...options });
    const raw = new RawSocket(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    return raw;
  }

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data: Buffer, isBinary: boolean) => {
      if (isBinary) return this.onBytes(data);
      // sys.changed is for clients that show lists, which no test here does; it may come between any two other frames.
      if (data.toString().startsWith(CHANGED)) return;
      const next = this.#waiting.shift();
      if (next) next(data.toString());
      else this.#frames.push(data.toString());
    });
    socket.on("error", () => {});
    this.closed = new Promise((resolve) => socket.on("close", (code, reason) => resolve({ code, reason: reason.toString() })));
  }

  send(data: string | Uint8Array): void {
    this.#socket.send(data);
  }

  /** Sends the bytes as a text frame, whatever they are. */
  sendText(bytes: Uint8Array): void {
    this.#socket.send(bytes, { binary: false });
  }

  sendFrame(frame: Record<string, unknown>): void {
    this.send(JSON.stringify(frame));
  }

  /** The next text frame, received already or not. */
  async text(waitMs = 60_000): Promise<string> {
    const buffered = this.#frames.shift();
    if (buffered !== undefined) return buffered;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`nothing came within ${waitMs} ms`)), waitMs);
      this.#waiting.push((text) => {
        clearTimeout(timer);
        resolve(text);
      });
    });
  }

  async frame(waitMs?: number): Promise<AnyFrame> {
    return JSON.parse(await this.text(waitMs)) as AnyFrame;
  }

  async call(call: string, args?: Record<string, unknown>, id = "1"): Promise<AnyFrame> {
    this.sendFrame({ type: "req", id, call, ...(args === undefined ? {} : { args }) });
    return this.frame();
  }

  connect(auth: Record<string, unknown>, client: Record<string, unknown> = {}): Promise<AnyFrame> {
    return this.call(
      "sys.connect",
      { protocol: 1, client: { id: "raw", version: "0", platform: "test", role: "user", ...client }, auth },
      "connect",
    );
  }

  /** How many frames were received and not read. */
  get unread(): number {
    return this.#frames.length;
  }

  /** How many frames were received and not read. */
  get waitingFrames(): number {
    return this.#frames.length;
  }

  /** Corks the TCP socket during `send`, so that everything it sends leaves in one write. */
  together(send: () => void): void {
    const { _socket: wire } = this.#socket as WebSocket & { _socket: Socket };
    wire.cork();
    send();
    wire.uncork();
  }

  resume(): void {
    this.#socket.resume();
  }

  pause(): void {
    this.#socket.pause();
  }

  close(): void {
    this.#socket.close();
  }

  terminate(): void {
    this.#socket.terminate();
  }
}
