// The client: one identity at one gateway, kept connected. Typed from the same declarations the gateway runs. After a
// cut it comes back by itself; what may be sent again is (repeat.ts), and anything else that was under way fails with
// ConnectionLost, because nobody can say whether it was carried out.

import type { Begin, Body, Hash, Incoming, Outgoing } from "../hardware/body.ts";
import type { Calls } from "./calls.ts";
import {
  type Answer,
  type Arguments,
  CallError,
  type CallOptions,
  ConnectionLost,
  Connection,
  type LineRequest,
  type SignalListener,
  type SocketConstructor,
} from "./connection.ts";
import { follow, type Following, type FollowOptions } from "./follow.ts";
import { Repeat } from "./repeat.ts";
import type { Payload, SignalName } from "../protocol/signals.ts";

export type { CallName, Calls } from "./calls.ts";
export type { LiveAnswer } from "../protocol/proc-records.ts";
export type { AnswerPiece, Changed, Payload, SignalName } from "../protocol/signals.ts";
export type { Activity, ActivityEvent, Answer as ArrivingAnswer, ToolCall } from "./activity.ts";
export { answerText, IDLE, reduce, resume } from "./activity.ts";
export type { Followed, Following, FollowOptions } from "./follow.ts";
export { CallError, ConnectionLost, Connection, socketUrl } from "./connection.ts";
export type { CallOptions, SentSignal, SignalListener, SocketConstructor, SocketLike } from "./connection.ts";

export type Session = Calls["sys.connect"]["result"];
export type Auth = { username: string; password: string } | { username: string; token: string };
export type ClientInfo = { id?: string; version?: string; platform?: string; role?: "user" | "driver" | "service"; channel?: string };

export type ClientOptions = {
  url: string;
  auth: Auth;
  client?: ClientInfo;
  driver?: { implements: string[]; ledger?: boolean };
  /** Carries out what the gateway asks of a device. */
  answer?: (request: LineRequest, body: Body | undefined) => Promise<unknown>;
  /** SHA-256 in pieces, for calls that carry a body. */
  newHash?: () => Hash;
  /** Come back after a cut; true unless said otherwise. */
  reconnect?: boolean;
  WebSocket?: SocketConstructor;
};

type BodyArgs<N extends "fs.download" | "fs.upload"> = Omit<Arguments<N>, "body">;

export type ClientStatus = "connected" | "reconnecting" | "closed";

const RETRY_MS_MIN = 250;
const RETRY_MS_MAX = 30_000;
/** Closed on purpose: coming back would only be refused, or push out whoever replaced us. */
const FINAL_CODES = new Set([1000, 1008]);

type Pending = { run(line: Connection): void; reject(error: Error): void };

/** Connects, or says why not. */
export async function connect(options: ClientOptions): Promise<Client> {
  const id = options.client?.id ?? `client-${randomId()}`;
  const settled = { ...options, client: { version: "", platform: "", role: "user" as const, ...options.client, id } };
  const { line, session, early } = await openSession(settled);
  const client = new Client(settled, line, session);
  for (const happen of early) happen();
  return client;
}

export class Client {
  readonly #options: ClientOptions;
  #line: Connection | null;
  #session: Session;
  #closed: Error | null = null;
  #reconnects: boolean;
  /** Calls to be sent when the line is back. */
  #pending: Pending[] = [];
  readonly #keyless = new Set<string>();
  readonly #listeners = new Set<SignalListener>();
  readonly #backListeners = new Set<() => void>();
  #lastBody = 0;
  #endWait: () => void = () => {};
  onStatus: (status: ClientStatus, reason: Error | null) => void = () => {};

  constructor(options: ClientOptions, line: Connection, session: Session) {
    this.#options = options;
    this.#reconnects = options.reconnect !== false;
    this.#session = session;
    this.#line = line;
    this.#attach(line);
  }

  get session(): Session {
    return this.#session;
  }

  /** For good: nothing can be called any more. */
  get isClosed(): boolean {
    return this.#closed !== null;
  }

  /** From now on it comes back after a cut, whatever it was told when it was made. */
  keepConnected(): void {
    this.#reconnects = true;
  }

  /** Where it waits before it tries to come back, it tries now: the network is there again, or somebody looks. */
  hurry(): void {
    this.#endWait();
  }

  call<N extends string>(name: N, args: Arguments<N>, options: CallOptions = {}): Promise<Answer<N>> {
    const repeat = new Repeat(name, args, { key: options.key, newKey: randomId, keyless: this.#keyless });
    return new Promise((resolve, reject) => {
      const run = (line: Connection) => {
        const late = repeat.refusal(Date.now());
        if (late !== null) return reject(late);
        const { key } = repeat;
        line.call(name, args, key === undefined ? options : { ...options, key }).then(resolve, (error: unknown) => {
          const verdict = this.#closed === null ? repeat.after(error, Date.now()) : (error as Error);
          if (verdict instanceof Error) reject(verdict);
          else if (verdict === 0) this.#send({ run, reject });
          else setTimeout(() => this.#send({ run, reject }), verdict);
        });
      };
      this.#send({ run, reject });
    });
  }

  /** Fetches a file; `to` is asked where to put it once its size is known. */
  download(args: BodyArgs<"fs.download">, to: (begin: Begin) => Promise<Incoming>): Promise<Answer<"fs.download">> {
    return this.#withBody("fs.download", args, async (body) => {
      const begin = await body.begun();
      await body.receive(begin.size, await to(begin));
    });
  }

  upload(args: BodyArgs<"fs.upload">, from: Outgoing): Promise<Answer<"fs.upload">> {
    return this.#withBody("fs.upload", args, (body) => body.send(from));
  }

  /** Every signal; returns the way to stop listening. */
  onSignal(listener: SignalListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Whenever it is back after a cut; returns the way to stop listening. */
  onBack(listener: () => void): () => void {
    this.#backListeners.add(listener);
    return () => this.#backListeners.delete(listener);
  }

  /** Follows a process: everything it does, in order and once, across cuts. */
  follow(options: FollowOptions): Following {
    return follow(this, options);
  }

  /** False where there is no line now: then it goes nowhere. */
  signal<N extends SignalName>(signal: N, payload: Payload<N>): boolean {
    this.#line?.signal(signal, payload);
    return this.#line !== null;
  }

  close(): void {
    this.#end(new ConnectionLost(1000, "Closed by this client"));
    this.#line?.close();
  }

  /** Not sent again after a cut: whoever wants it calls again, and what is there already is not sent twice. */
  async #withBody<N extends "fs.download" | "fs.upload">(
    name: N,
    args: BodyArgs<N>,
    work: (body: Body) => Promise<unknown>,
  ): Promise<Answer<N>> {
    const line = await this.#lineNow();
    const id = ++this.#lastBody;
    const body = line.join(id, this.#newHash());
    let local: Error | null = null;
    let isAnswered = false;
    const answering = line.call(name, { ...args, body: id } as Arguments<N>);
    const near = work(body).catch((error: Error) => {
      // What comes after the answer only follows from it.
      if (isAnswered) return;
      local = error;
      line.part(id, `The caller could not go on: ${error.message}`);
    });
    try {
      const answer = (await answering) as { ok: boolean; error?: string };
      if (!answer.ok) {
        isAnswered = true;
        body.fail(new Error(answer.error));
      }
      await near;
      if (local !== null) throw local as Error;
      return answer as Answer<N>;
    } catch (error) {
      isAnswered = true;
      body.fail(error as Error);
      throw local ?? error;
    } finally {
      line.part(id);
    }
  }

  #newHash(): () => Hash {
    if (this.#options.newHash === undefined) throw new Error("This client was made without newHash, which bodies need");
    return this.#options.newHash;
  }

  #lineNow(): Promise<Connection> {
    return new Promise((run, reject) => this.#send({ run, reject }));
  }

  #send(call: Pending): void {
    if (this.#closed !== null) call.reject(this.#closed);
    else if (this.#line === null) this.#pending.push(call);
    else call.run(this.#line);
  }

  #attach(line: Connection): void {
    line.onRequest = (request) => void this.#carryOut(line, request);
    line.onSignal = (sent) => this.#listeners.forEach((listener) => listener(sent));
    line.onClose = (lost) => {
      this.#line = null;
      if (this.#closed !== null) return;
      if (!this.#reconnects || FINAL_CODES.has(lost.code)) return this.#end(lost);
      this.onStatus("reconnecting", lost);
      void this.#return(RETRY_MS_MIN);
    };
  }

  /** The line it came by is the only one it may be answered on. */
  async #carryOut(line: Connection, request: LineRequest): Promise<void> {
    const { answer } = this.#options;
    const id = request.args.body;
    try {
      if (answer === undefined) throw new CallError({ code: 404, message: `Unknown syscall: ${request.call}` });
      const body = typeof id === "number" ? line.join(id, this.#newHash()) : undefined;
      line.answer(request.id, { ok: true, data: await answer(request, body) });
    } catch (error) {
      const { code, message, details } = error as Error & { code?: unknown; details?: unknown };
      const shape = { code: typeof code === "number" ? code : 500, message, ...(details === undefined ? {} : { details }) };
      line.answer(request.id, { ok: false, error: shape });
    } finally {
      if (typeof id === "number") line.part(id);
    }
  }

  async #return(waitMs: number): Promise<void> {
    // Full jitter: a restarted gateway is not met by all of its clients at once.
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.random() * waitMs);
      this.#endWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    if (this.#closed !== null) return;
    try {
      const { line, session, early } = await openSession(this.#options);
      // Closed while it was coming back: nobody waits for this one any more.
      if (this.#closed !== null) return line.close();
      this.#session = session;
      this.#line = line;
      this.#attach(line);
      this.onStatus("connected", null);
      for (const back of this.#backListeners) back();
      for (const call of this.#pending.splice(0)) call.run(line);
      for (const happen of early) happen();
    } catch (error) {
      if (error instanceof CallError && !error.retryable) return this.#end(error);
      void this.#return(Math.min(waitMs * 2, RETRY_MS_MAX));
    }
  }

  #end(reason: Error): void {
    if (this.#closed !== null) return;
    this.#closed = reason;
    for (const call of this.#pending.splice(0)) call.reject(reason);
    this.onStatus("closed", reason);
  }
}

/**
 * `early` is what happened on the line after the gateway let us in and before anybody could listen: a device may be asked
 * something in the same piece of the network as it is welcomed.
 */
async function openSession(options: ClientOptions): Promise<{ line: Connection; session: Session; early: (() => void)[] }> {
  const { url, auth, client, driver } = options;
  const line = await Connection.open(url, options.WebSocket);
  const early: (() => void)[] = [];
  line.onRequest = (request) => early.push(() => line.onRequest(request));
  line.onSignal = (sent) => early.push(() => line.onSignal(sent));
  line.onClose = (lost) => early.push(() => line.onClose(lost));
  try {
    const args = { protocol: 1, client: { id: "", ...client }, auth, ...(driver === undefined ? {} : { driver }) };
    return { line, session: await line.call("sys.connect", args, { timeoutMs: 20_000 }), early };
  } catch (error) {
    line.close();
    throw error;
  }
}

function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
