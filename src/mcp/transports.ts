// The client's two transports, with what they lack: an HTTP request ends when the call it carries has ended, however that was, and a
// call ends when nobody can answer it any more. Otherwise a server could keep every connection that was ever made to it.

import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  SSEClientTransport,
  type SSEClientTransportOptions,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
} from "@modelcontextprotocol/client";
import { withTimeout } from "../lib/with-timeout.ts";
import type { McpFetch } from "./fetch.ts";

/** The data of the error with which a call ends whose answer cannot come any more. No server can send this very object. */
export const UNANSWERED: object = {};

/** How long a server may take to accept what needs no answer. */
const NOTICE_MS = 10_000;

type Id = string | number;
type SendOptions = NonNullable<Parameters<StreamableHTTPClientTransport["send"]>[1]>;

export class Streamable extends StreamableHTTPClientTransport {
  readonly #requests = new Requests();

  constructor(url: URL, options: StreamableHTTPClientTransportOptions) {
    super(url, options);
    // The client adds its own handler to this one. A transport is no EventTarget.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    this.onmessage = (message) => this.#requests.receive(message);
  }

  override async send(message: JSONRPCMessage | JSONRPCMessage[], options: SendOptions = {}): Promise<void> {
    if (Array.isArray(message) || !isJSONRPCRequest(message)) return this.#sendNotice(message, options);
    const { id } = message;
    const { requestSignal: stopped, onRequestStreamEnd } = options;
    const requestSignal = this.#requests.begin(id);
    stopped?.addEventListener("abort", () => this.#requests.end(id), { once: true });
    if (stopped?.aborted === true) this.#requests.end(id);
    const onEnd = () => {
      onRequestStreamEnd?.();
      this.#endUnanswered(id);
    };
    try {
      await super.send(message, { ...options, requestSignal, onRequestStreamEnd: onEnd });
    } catch (error) {
      this.#requests.end(id);
      throw error;
    }
  }

  async #sendNotice(message: JSONRPCMessage | JSONRPCMessage[], options: SendOptions): Promise<void> {
    if (!Array.isArray(message)) this.#requests.cancel(message);
    const never = options.requestSignal ?? new AbortController().signal;
    const send = (requestSignal: AbortSignal) => super.send(message, { ...options, requestSignal });
    await withTimeout(NOTICE_MS, never, send, { value: undefined, reason: undefined });
  }

  /** The stream on which the answer was to come is over. */
  #endUnanswered(id: Id): void {
    if (!this.#requests.has(id)) return;
    const error = { code: 0, message: "the connection ended before the server answered", data: UNANSWERED };
    this.onmessage?.({ jsonrpc: "2.0", id, error });
  }
}

/** The older transport: answers come on one stream, so that the server's answer to a POST says nothing. */
export class Sse extends SSEClientTransport {
  constructor(url: URL, options: SSEClientTransportOptions & { fetch: McpFetch }) {
    const requests = new Requests();
    super(url, { ...options, fetch: (input, init) => post(requests, options.fetch, input, init) });
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    this.onmessage = (message) => requests.receive(message);
  }
}

async function post(requests: Requests, netFetch: McpFetch, input: string | URL, init: RequestInit = {}): Promise<Response> {
  if (typeof init.body !== "string") return netFetch(input, init);
  const message = JSON.parse(init.body) as JSONRPCMessage;
  const { signal } = init;
  if (isJSONRPCRequest(message)) {
    const { id } = message;
    signal?.addEventListener("abort", () => requests.end(id), { once: true });
    return netFetch(input, { ...init, signal: requests.begin(id) });
  }
  requests.cancel(message);
  const response = await withTimeout<Response | null>(
    NOTICE_MS,
    signal ?? new AbortController().signal,
    (stopping) => netFetch(input, { ...init, signal: stopping }),
    { value: null, reason: undefined },
  );
  return response ?? new Response(null, { status: 202 });
}

/** The requests that have not been answered, and what ends each. */
class Requests {
  readonly #open = new Map<Id, AbortController>();

  begin(id: Id): AbortSignal {
    const ending = new AbortController();
    this.#open.set(id, ending);
    return ending.signal;
  }

  has(id: Id): boolean {
    return this.#open.has(id);
  }

  end(id: Id | undefined): void {
    if (id === undefined) return;
    this.#open.get(id)?.abort();
    this.#open.delete(id);
  }

  /** Called before the client gets the message. */
  receive(message: JSONRPCMessage): void {
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) this.end(message.id);
  }

  /** The client sends this when it gives a request up. */
  cancel(message: JSONRPCMessage): void {
    if (!isJSONRPCNotification(message) || message.method !== "notifications/cancelled") return;
    this.end((message.params as { requestId?: Id } | undefined)?.requestId);
  }
}
