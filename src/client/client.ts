// The client: one identity at one gateway, kept connected. Typed from the same declarations that the gateway runs. It reconnects
// by itself; calls that are safe to repeat are sent again (repeat.ts), and other pending calls fail with ConnectionLost, because
// it is unknown whether they ran.

import type { BeginNote, Body, Hash, IncomingBody, OutgoingBody } from "../hardware/body.ts";
import type { Calls } from "./calls.ts";
import {
  type CallResult,
  type Arguments,
  CallError,
  type CallOptions,
  ConnectionLost,
  Connection,
  type GatewayRequest,
  type SignalListener,
  type SocketConstructor,
} from "./connection.ts";
import { follow, type Subscription, type FollowOptions } from "./follow.ts";
import { RepeatState } from "./repeat.ts";
import type { Payload, SignalName } from "../protocol/signals.ts";

export type { CallName, Calls } from "./calls.ts";
export type { LiveAnswer } from "../protocol/proc-records.ts";
export type { AnswerPiece, ChangedKind, Payload, SignalName } from "../protocol/signals.ts";
export type { Activity, ActivityEvent, ScriptCall, ScriptCalls, StreamedAnswer, ToolCall } from "./activity.ts";
export { answerText, findScriptOf, IDLE, reduce, setLiveAnswer } from "./activity.ts";
export { parseScriptReport, type ScriptReport, scriptPurpose } from "./script-text.ts";
export { isMcpTool, isScriptTool, nameOfAction, nameOfTool } from "./tool-names.ts";
export type { FollowedEvent, FollowOptions, Subscription } from "./follow.ts";
export { CallError, ConnectionLost, Connection, socketUrl } from "./connection.ts";
export type { Arguments, CallOptions, CallResult, ReceivedSignal, SignalListener, SocketConstructor, SocketLike } from "./connection.ts";

export type Session = Calls["sys.connect"]["result"];
export type Auth = { username: string; password: string } | { username: string; token: string };
export type ClientInfo = { id?: string; version?: string; platform?: string; role?: "user" | "driver" | "service"; channel?: string };

export type ClientOptions = {
  url: string;
  auth: Auth;
  client?: ClientInfo;
  driver?: { implements: string[]; ledger?: boolean };
  /** Answers the gateway's requests to a device. */
  answer?: (request: GatewayRequest, body: Body | undefined) => Promise<unknown>;
  /** Incremental SHA-256, for calls with a body. */
  newHash?: () => Hash;
  /** Reconnect after a lost connection; true by default. */
  reconnect?: boolean;
  WebSocket?: SocketConstructor;
};

type BodyArgs<N extends "fs.download" | "fs.upload"> = Omit<Arguments<N>, "body">;

export type ClientStatus = "connected" | "reconnecting" | "closed";

const RETRY_MS_MIN = 250;
const RETRY_MS_MAX = 30_000;
/** Closed on purpose: a reconnect would be refused, or would replace the connection that replaced this one. */
const FINAL_CODES = new Set([1000, 1008]);

type WaitingCall = { run(connection: Connection): void; reject(error: Error): void };

/** Resolves when the gateway has accepted the identity. */
export async function connect(options: ClientOptions): Promise<Client> {
  const id = options.client?.id ?? `client-${randomId()}`;
  const fullOptions = { ...options, client: { version: "", platform: "", role: "user" as const, ...options.client, id } };
  const { connection, session, early } = await openSession(fullOptions);
  const client = new Client(fullOptions, connection, session);
  for (const handle of early) handle();
  return client;
}

export class Client {
  readonly #options: ClientOptions;
  #connection: Connection | null;
  #session: Session;
  #closeReason: Error | null = null;
  #mayReconnect: boolean;
  /** Calls to send after the reconnect. */
  #pending: WaitingCall[] = [];
  readonly #keylessDevices = new Set<string>();
  readonly #listeners = new Set<SignalListener>();
  readonly #reconnectListeners = new Set<() => void>();
  #lastBody = 0;
  #endWait: () => void = () => {};
  onStatus: (status: ClientStatus, reason: Error | null) => void = () => {};

  constructor(options: ClientOptions, connection: Connection, session: Session) {
    this.#options = options;
    this.#mayReconnect = options.reconnect !== false;
    this.#session = session;
    this.#connection = connection;
    this.#attach(connection);
  }

  get session(): Session {
    return this.#session;
  }

  /** Permanently closed: every call fails. */
  get isClosed(): boolean {
    return this.#closeReason !== null;
  }

  /** Turns reconnecting on, whatever the options said. */
  keepConnected(): void {
    this.#mayReconnect = true;
  }

  /** Skips the wait before the next reconnect attempt, because the network is back or the user is looking. */
  reconnectNow(): void {
    this.#endWait();
  }

  call<N extends string>(name: N, args: Arguments<N>, options: CallOptions = {}): Promise<CallResult<N>> {
    const repeat = new RepeatState(name, args, { key: options.key, newKey: randomId, keyless: this.#keylessDevices });
    return new Promise((resolve, reject) => {
      const run = (connection: Connection) => {
        const refusal = repeat.startAttempt(Date.now());
        if (refusal !== null) return reject(refusal);
        const { key } = repeat;
        connection.call(name, args, key === undefined ? options : { ...options, key }).then(resolve, (error: unknown) => {
          const verdict = this.#closeReason === null ? repeat.planRetry(error, Date.now()) : (error as Error);
          if (verdict instanceof Error) reject(verdict);
          else if (verdict === 0) this.#sendOrQueue({ run, reject });
          else setTimeout(() => this.#sendOrQueue({ run, reject }), verdict);
        });
      };
      this.#sendOrQueue({ run, reject });
    });
  }

  /** Downloads a file; `to` is called for its destination once its size is known. */
  download(args: BodyArgs<"fs.download">, to: (begin: BeginNote) => Promise<IncomingBody>): Promise<CallResult<"fs.download">> {
    return this.#callWithBody("fs.download", args, async (body) => {
      const begin = await body.waitForBegin();
      await body.receive(begin.size, await to(begin));
    });
  }

  upload(args: BodyArgs<"fs.upload">, from: OutgoingBody): Promise<CallResult<"fs.upload">> {
    return this.#callWithBody("fs.upload", args, (body) => body.send(from));
  }

  /** Subscribes to every signal; returns the function that unsubscribes. */
  onSignal(listener: SignalListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Subscribes to reconnects; returns the function that unsubscribes. */
  onReconnect(listener: () => void): () => void {
    this.#reconnectListeners.add(listener);
    return () => this.#reconnectListeners.delete(listener);
  }

  /** Follows a process: all its events, in order and once, across disconnects. */
  follow(options: FollowOptions): Subscription {
    return follow(this, options);
  }

  /** Returns false if there is no connection now: the signal is dropped. */
  signal<N extends SignalName>(signal: N, payload: Payload<N>): boolean {
    this.#connection?.signal(signal, payload);
    return this.#connection !== null;
  }

  close(): void {
    this.#closePermanently(new ConnectionLost(1000, "Closed by this client"));
    this.#connection?.close();
  }

  /** Not repeated after a disconnect: the caller calls again, and bytes that have arrived are not sent twice. */
  async #callWithBody<N extends "fs.download" | "fs.upload">(
    name: N,
    args: BodyArgs<N>,
    work: (body: Body) => Promise<unknown>,
  ): Promise<CallResult<N>> {
    const connection = await this.#waitForConnection();
    const id = ++this.#lastBody;
    const body = connection.openBody(id, this.#requireNewHash());
    let localError: Error | null = null;
    let isAnswered = false;
    const response = connection.call(name, { ...args, body: id } as Arguments<N>);
    const transfer = work(body).catch((error: Error) => {
      // A failure after the answer is only a consequence of it.
      if (isAnswered) return;
      localError = error;
      connection.closeBody(id, `The caller could not continue: ${error.message}`);
    });
    try {
      const answer = (await response) as { ok: boolean; error?: string };
      if (!answer.ok) {
        isAnswered = true;
        body.fail(new Error(answer.error));
      }
      await transfer;
      if (localError !== null) throw localError as Error;
      return answer as CallResult<N>;
    } catch (error) {
      isAnswered = true;
      body.fail(error as Error);
      throw localError ?? error;
    } finally {
      connection.closeBody(id);
    }
  }

  #requireNewHash(): () => Hash {
    if (this.#options.newHash === undefined) throw new Error("This client was created without newHash, which bodies need");
    return this.#options.newHash;
  }

  #waitForConnection(): Promise<Connection> {
    return new Promise((run, reject) => this.#sendOrQueue({ run, reject }));
  }

  #sendOrQueue(call: WaitingCall): void {
    if (this.#closeReason !== null) call.reject(this.#closeReason);
    else if (this.#connection === null) this.#pending.push(call);
    else call.run(this.#connection);
  }

  #attach(connection: Connection): void {
    connection.onRequest = (request) => void this.#answerRequest(connection, request);
    connection.onSignal = (sent) => this.#listeners.forEach((listener) => listener(sent));
    connection.onClose = (lost) => {
      this.#connection = null;
      if (this.#closeReason !== null) return;
      if (!this.#mayReconnect || FINAL_CODES.has(lost.code)) return this.#closePermanently(lost);
      this.onStatus("reconnecting", lost);
      void this.#reconnect(RETRY_MS_MIN);
    };
  }

  /** Answers only on the connection that the request came by. */
  async #answerRequest(connection: Connection, request: GatewayRequest): Promise<void> {
    const { answer } = this.#options;
    const id = request.args.body;
    try {
      if (answer === undefined) throw new CallError({ code: 404, message: `Unknown syscall: ${request.call}` });
      const body = typeof id === "number" ? connection.openBody(id, this.#requireNewHash()) : undefined;
      connection.answer(request.id, { ok: true, data: await answer(request, body) });
    } catch (error) {
      const { code, message, details } = error as Error & { code?: unknown; details?: unknown };
      const shape = { code: typeof code === "number" ? code : 500, message, ...(details === undefined ? {} : { details }) };
      connection.answer(request.id, { ok: false, error: shape });
    } finally {
      if (typeof id === "number") connection.closeBody(id);
    }
  }

  async #reconnect(waitMs: number): Promise<void> {
    // Full jitter, so that the clients of a restarted gateway do not all reconnect at once.
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.random() * waitMs);
      this.#endWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    if (this.#closeReason !== null) return;
    try {
      const { connection, session, early } = await openSession(this.#options);
      // The client was closed during the reconnect.
      if (this.#closeReason !== null) return connection.close();
      this.#session = session;
      this.#connection = connection;
      this.#attach(connection);
      this.onStatus("connected", null);
      for (const listener of this.#reconnectListeners) listener();
      for (const call of this.#pending.splice(0)) call.run(connection);
      for (const handle of early) handle();
    } catch (error) {
      if (error instanceof CallError && !error.retryable) return this.#closePermanently(error);
      void this.#reconnect(Math.min(waitMs * 2, RETRY_MS_MAX));
    }
  }

  #closePermanently(reason: Error): void {
    if (this.#closeReason !== null) return;
    this.#closeReason = reason;
    for (const call of this.#pending.splice(0)) call.reject(reason);
    this.onStatus("closed", reason);
  }
}

/**
 * `early` holds events of the connection that arrive after the welcome and before there are listeners: a request to a device may
 * arrive in the same packet as its welcome.
 */
async function openSession(options: ClientOptions): Promise<{ connection: Connection; session: Session; early: (() => void)[] }> {
  const { url, auth, client, driver } = options;
  const connection = await Connection.open(url, options.WebSocket);
  const early: (() => void)[] = [];
  connection.onRequest = (request) => early.push(() => connection.onRequest(request));
  connection.onSignal = (sent) => early.push(() => connection.onSignal(sent));
  connection.onClose = (lost) => early.push(() => connection.onClose(lost));
  try {
    const args = { protocol: 1, client: { id: "", ...client }, auth, ...(driver === undefined ? {} : { driver }) };
    return { connection, session: await connection.call("sys.connect", args, { timeoutMs: 20_000 }), early };
  } catch (error) {
    connection.close();
    throw error;
  }
}

function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
