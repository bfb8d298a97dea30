// One socket to a gateway: sends requests, receives answers and signals, and pings to detect a dead peer. It knows nothing of
// identity or retries; client.ts does.

import { Body, type Hash } from "../hardware/body.ts";
import { updateAndCheckGone, PING_EVERY_MS, type PingState, PingRounds } from "../lib/pings.ts";
import { type BodyEnd, encodeBodyFrame, encodeBodySignal, parseBodyFrame, parseBodyNote } from "../protocol/body.ts";
import type { Calls, CallName } from "./calls.ts";
import { BODY } from "../protocol/signal-names.ts";
import type { Payload, SignalName } from "../protocol/signals.ts";

export type CallResult<N extends string> = N extends CallName ? Calls[N]["result"] : unknown;
export type Arguments<N extends string> = N extends CallName ? Calls[N]["args"] : Record<string, unknown>;

/** The part of the WebSocket interface that is used. The WebSockets of browsers, Node and ws all have it. */
export interface SocketLike {
  binaryType: string;
  readonly readyState: number;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  /** Bytes passed to send() that have not left yet. */
  readonly bufferedAmount?: number;
  close(code?: number, reason?: string): void;
  addEventListener(type: "open" | "error", listener: (event: unknown) => void): void;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
  addEventListener(type: "close", listener: (event: { code: number; reason: string }) => void): void;
}
export type SocketConstructor = new (url: string) => SocketLike;

/** The gateway refused the call; carries the error of the frame. */
export class CallError extends Error {
  readonly code: number;
  readonly details: unknown;
  readonly retryable: boolean;

  constructor(error: { code: number; message: string; details?: unknown; retryable?: boolean }) {
    super(error.message);
    this.name = "CallError";
    this.code = error.code;
    this.details = error.details;
    this.retryable = error.retryable ?? false;
  }
}

/** The connection ended before the answer arrived: it is unknown whether the call ran. */
export class ConnectionLost extends Error {
  readonly code: number;

  constructor(code: number, reason: string) {
    super(reason || `Connection lost (${code})`);
    this.name = "ConnectionLost";
    this.code = code;
  }
}

/** `key`: the idempotency key of a call that may be repeated. */
export type GatewayRequest = { id: string; call: string; args: Record<string, unknown>; key?: string };
export type CallOptions = { key?: string; timeoutMs?: number };
/** Testing `signal` narrows `payload`. `seq` numbers the events of a process (follow.ts). */
export type ReceivedSignal = { [N in SignalName]: { signal: N; payload: Payload<N>; seq?: number | undefined } }[SignalName];
export type SignalListener = (sent: ReceivedSignal) => void;

type PendingCall = { resolve(data: unknown): void; reject(error: Error): void; timer: ReturnType<typeof setTimeout> | undefined };

const SILENCE_MS = 15_000;
const OPEN_MS = 8_000;
/** WebSocket.OPEN */
const OPEN = 1;

export class Connection {
  readonly #socket: SocketLike;
  readonly #pendingCalls = new Map<string, PendingCall>();
  readonly #pingTimer: ReturnType<typeof setInterval>;
  readonly #bodies = new Map<number, { local: Body; remote: BodyEnd }>();
  readonly #rounds = new PingRounds(Date.now());
  readonly #peer: PingState = { heardAt: Date.now(), pingedAt: 0, unanswered: 0 };
  #lastId = 0;
  /** Bytes that had not left at the last ping. */
  #unsent = 0;
  #closeReason: ConnectionLost | null = null;
  onSignal: SignalListener = () => {};
  /** Called for the gateway's requests to a device. */
  onRequest: (request: GatewayRequest) => void = () => {};
  onClose: (lost: ConnectionLost) => void = () => {};

  static open(url: string, Socket: SocketConstructor | undefined = globalThis.WebSocket): Promise<Connection> {
    if (Socket === undefined) return Promise.reject(new Error("This platform has no WebSocket: pass one"));
    return new Promise((resolve, reject) => {
      let socket: SocketLike;
      try {
        socket = new Socket(socketUrl(url));
      } catch (error) {
        reject(error);
        return;
      }
      const fail = () => reject(new ConnectionLost(1006, `No gateway answers at ${url}`));
      const timer = setTimeout(() => {
        fail();
        socket.close();
      }, OPEN_MS);
      socket.addEventListener("open", () => {
        clearTimeout(timer);
        resolve(new Connection(socket));
      });
      socket.addEventListener("error", fail);
      socket.addEventListener("close", () => {
        clearTimeout(timer);
        fail();
      });
    });
  }

  constructor(socket: SocketLike) {
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", (event) => this.#handleMessage(event.data));
    socket.addEventListener("close", (event) => this.#close(event.code, event.reason));
    this.#pingTimer = setInterval(() => this.#ping(), PING_EVERY_MS);
    // Under Node an idle connection must not keep a finished program alive.
    if (typeof this.#pingTimer === "object") (this.#pingTimer as { unref?(): void }).unref?.();
  }

  call<N extends string>(name: N, args: Arguments<N>, options: CallOptions = {}): Promise<CallResult<N>> {
    if (this.#closeReason !== null) return Promise.reject(this.#closeReason);
    const id = String(++this.#lastId);
    const frame = { type: "req", id, call: name, args, ...(options.key === undefined ? {} : { key: options.key }) };
    return new Promise((resolve, reject) => {
      const { timeoutMs } = options;
      const timer =
        timeoutMs === undefined
          ? undefined
          : setTimeout(
              () => this.#takePending(id)?.reject(new ConnectionLost(0, `No answer to ${name} within ${timeoutMs} ms`)),
              timeoutMs,
            );
      this.#pendingCalls.set(id, { resolve: resolve, reject, timer });
      this.#send(JSON.stringify(frame));
    });
  }

  /** Answers a request. Dropped if the connection has ended. */
  answer(
    id: string,
    outcome: { ok: true; data: unknown } | { ok: false; error: { code: number; message: string; details?: unknown } },
  ): void {
    this.#send(JSON.stringify({ type: "res", id, ...outcome }));
  }

  /** Opens the local end of the body with this number; `closeBody` ends it. */
  openBody(id: number, newHash: () => Hash): Body {
    const remote: BodyEnd = {
      acceptChunk: (bytes) => this.#send(encodeBodyFrame(id, bytes)),
      acceptNote: (note) => this.#send(encodeBodySignal(id, note)),
    };
    const local = new Body(remote, newHash);
    this.#bodies.set(id, { local, remote });
    if (this.#closeReason !== null) local.fail(this.#closeReason);
    return local;
  }

  /** `why` is sent to the peer if the body has not ended. */
  closeBody(id: number, why?: string): void {
    if (why !== undefined) this.#bodies.get(id)?.remote.acceptNote({ kind: "stop", why });
    this.#bodies.delete(id);
  }

  signal<N extends SignalName>(signal: N, payload: Payload<N>): void {
    this.#send(JSON.stringify({ type: "sig", signal, payload }));
  }

  close(): void {
    this.#socket.close(1000, "");
    this.#close(1000, "Closed by this client");
  }

  #handleMessage(data: unknown): void {
    this.#peer.heardAt = Date.now();
    if (data === "pong") return;
    if (typeof data !== "string") return this.#handleChunk(data);
    const frame = parseFrame(data);
    // An error thrown in an event handler would end the program and print what the peer sent.
    if (frame === null) return this.#socket.close(4002, "Not a frame");
    if (frame.type === "sig" && frame.signal === BODY) return this.#handleNote(frame.payload);
    if (frame.type === "sig" && frame.signal !== undefined)
      return this.onSignal({ signal: frame.signal, payload: frame.payload, seq: frame.seq } as ReceivedSignal);
    if (frame.type === "req" && typeof frame.id === "string" && typeof frame.call === "string")
      return this.onRequest({
        id: frame.id,
        call: frame.call,
        args: frame.args ?? {},
        ...(typeof frame.key === "string" ? { key: frame.key } : {}),
      });
    if (frame.type !== "res" || frame.id === undefined) return;
    const pending = this.#takePending(frame.id);
    if (frame.ok === true) pending?.resolve(frame.data);
    else pending?.reject(new CallError(frame.error ?? { code: 500, message: "An answer without data or error" }));
  }

  #handleChunk(data: unknown): void {
    const parsed = data instanceof ArrayBuffer ? parseBodyFrame(new Uint8Array(data)) : null;
    if (parsed !== null) this.#bodies.get(parsed.id)?.local.acceptChunk(parsed.chunk);
  }

  #handleNote(payload: unknown): void {
    const parsed = parseBodyNote(payload);
    if (parsed !== null) this.#bodies.get(parsed.id)?.local.acceptNote(parsed.note);
  }

  /** While the socket is closing, nothing leaves any more: what was called then is rejected with the rest when it has closed. */
  #send(data: string | Uint8Array<ArrayBuffer>): void {
    if (this.#closeReason === null && this.#socket.readyState === OPEN) this.#socket.send(data);
  }

  #takePending(id: string): PendingCall | undefined {
    const pending = this.#pendingCalls.get(id);
    this.#pendingCalls.delete(id);
    clearTimeout(pending?.timer);
    return pending;
  }

  #ping(): void {
    const now = Date.now();
    // On a slow network a large frame delays the ping behind it. While the unsent bytes shrink, the connection is alive.
    const unsent = this.#socket.bufferedAmount ?? 0;
    const isSending = unsent > 0 && unsent < this.#unsent;
    this.#unsent = unsent;
    if (updateAndCheckGone(this.#peer, now, SILENCE_MS, this.#rounds.startRound(now) || isSending)) {
      this.#socket.close();
      this.#close(1006, "The gateway stopped responding");
    } else {
      this.#peer.pingedAt = now;
      this.#send("ping");
    }
  }

  #close(code: number, reason: string): void {
    if (this.#closeReason !== null) return;
    this.#closeReason = new ConnectionLost(code, reason);
    clearInterval(this.#pingTimer);
    for (const id of this.#pendingCalls.keys()) this.#takePending(id)?.reject(this.#closeReason);
    for (const { local } of this.#bodies.values()) local.fail(this.#closeReason);
    this.onClose(this.#closeReason);
  }
}

type IncomingFrame = {
  type?: unknown;
  id?: string;
  ok?: boolean;
  data?: unknown;
  error?: ConstructorParameters<typeof CallError>[0];
  signal?: string;
  seq?: number;
  payload?: unknown;
  call?: string;
  args?: Record<string, unknown>;
  key?: unknown;
};

/** Null for text that is not a frame. */
function parseFrame(text: string): IncomingFrame | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : null;
  } catch {
    return null;
  }
}

/** Accepts what people type: http://host:8787, ws://host:8787/ws. */
export function socketUrl(url: string): string {
  const parsed = new URL(url);
  parsed.protocol = parsed.protocol.replace("http", "ws");
  if (parsed.pathname === "/") parsed.pathname = "/ws";
  return parsed.href;
}
