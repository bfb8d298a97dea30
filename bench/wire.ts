// The load tool's own WebSocket client: it encodes frames once and sends them as bytes, and reads answers without decoding them.
// A general client costs more per frame than the servers measured here and would hide what they can do.

import { connect, type Socket } from "node:net";

/** Receives the payload of a text frame: bytes `start` to `end` of `buffer`. */
export type TextListener = (buffer: Buffer, start: number, end: number) => void;

const MASK = [0x5a, 0x13, 0xc7, 0x2e] as const;
const TEXT = 1;
const CLOSE = 8;
const PING = 9;
const PONG = 10;
const NOTHING = Buffer.alloc(0);
const OPEN_MS = 10_000;

/** A masked frame, as clients must send. The mask is constant, since no proxy is involved. */
export function encode(payload: Buffer | string, opcode = TEXT): Buffer {
  const body = Buffer.from(payload as string);
  const head = body.length > 0xffff ? 14 : body.length > 125 ? 8 : 6;
  const frame = Buffer.alloc(head + body.length);
  frame[0] = 0x80 | opcode;
  frame[1] = 0x80 | (head === 14 ? 127 : head === 8 ? 126 : body.length);
  if (head === 14) frame.writeBigUInt64BE(BigInt(body.length), 2);
  if (head === 8) frame.writeUInt16BE(body.length, 2);
  MASK.forEach((byte, at) => (frame[head - 4 + at] = byte));
  for (let at = 0; at < body.length; at++) frame[head + at] = body[at]! ^ MASK[at & 3]!;
  return frame;
}

export class Wire {
  readonly #socket: Socket;
  /** Pieces of an incomplete frame, and how many bytes are missing: joined once, however many pieces. */
  #pieces: Buffer[] = [];
  #missing = 0;
  onText: TextListener = () => {};
  onClose: () => void = () => {};
  /** Called after all frames of one chunk were handled: the moment to send the frames they caused. */
  onDrained: () => void = () => {};

  /** `from` is the local address. */
  static open(port: number, from?: string): Promise<Wire> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: "127.0.0.1", noDelay: true, ...(from === undefined ? {} : { localAddress: from }) });
      const rejectWith = (why: string) => {
        socket.destroy();
        reject(new Error(`No WebSocket at port ${port}: ${why}`));
      };
      const timer = setTimeout(() => rejectWith("no answer in time"), OPEN_MS);
      const rejectEnded = () => rejectWith("the connection ended");
      socket.once("error", (error) => rejectWith(error.message));
      socket.once("close", rejectEnded);
      socket.once("connect", () => socket.write(upgradeRequest(port)));
      let head: Buffer = NOTHING;
      socket.on("data", function answer(chunk: Buffer) {
        head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
        const end = head.indexOf("\r\n\r\n");
        if (end === -1) return;
        const text = head.toString("latin1");
        if (!text.startsWith("HTTP/1.1 101")) return rejectWith(text.replaceAll("\r\n", " "));
        clearTimeout(timer);
        socket.off("data", answer).off("close", rejectEnded);
        resolve(new Wire(socket, head.subarray(end + 4)));
      });
    });
  }

  constructor(socket: Socket, early: Buffer) {
    this.#socket = socket;
    socket.on("data", (chunk) => this.#read(chunk));
    socket.on("error", () => {});
    socket.on("close", () => this.onClose());
    if (early.length > 0) queueMicrotask(() => this.#read(early));
  }

  /** `frames` come from `encode`. */
  send(...frames: Buffer[]): void {
    this.#socket.write(frames.length === 1 ? frames[0]! : Buffer.concat(frames));
  }

  /** Sends a close frame; the server closes the connection. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.onClose = () => resolve();
      if (this.#socket.destroyed) return resolve();
      this.send(encode(Buffer.from([0x03, 0xe8]), CLOSE));
    });
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    this.#missing -= chunk.length;
    this.#pieces.push(chunk);
    if (this.#missing > 0) return;
    const bytes = this.#pieces.length === 1 ? chunk : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#missing = 0;
    let at = 0;
    while (bytes.length - at >= 2) {
      let length = bytes[at + 1]! & 0x7f;
      let start = at + 2;
      if (length >= 126) {
        const size = length === 127 ? 8 : 2;
        if (bytes.length < start + size) break;
        length = size === 8 ? Number(bytes.readBigUInt64BE(start)) : bytes.readUInt16BE(start);
        start += size;
      }
      if (bytes.length < start + length) {
        this.#missing = start + length - bytes.length;
        break;
      }
      const first = bytes[at]!;
      at = start + length;
      this.#frame(first, bytes, start, at);
    }
    if (at < bytes.length) this.#pieces = [bytes.subarray(at)];
    this.onDrained();
  }

  #frame(first: number, bytes: Buffer, start: number, end: number): void {
    switch (first & 0x0f) {
      case TEXT:
        return this.onText(bytes, start, end);
      case PING:
        return this.send(encode(bytes.subarray(start, end), PONG));
      case CLOSE:
        this.#socket.end(encode(bytes.subarray(start, Math.min(end, start + 2)), CLOSE));
        return;
      default:
    }
  }
}

function upgradeRequest(port: number): string {
  return [
    "GET /ws HTTP/1.1",
    `Host: 127.0.0.1:${port}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "\r\n",
  ].join("\r\n");
}
