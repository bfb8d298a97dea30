// The Net port without the transport: follows redirects, checks each, and enforces the limits. A host adds how one request is sent.

import { type Net, NetError, type NetOptions, type NetRequest, type NetResponse } from "../../ports/net.ts";
import type { IsAllowed } from "./allow.ts";
import { type ByteSource, makeLimitedBody, tooLargeError } from "./body.ts";
import { firstHop, type Hop, isRedirect, nextHop } from "./hop.ts";
import { EGRESS } from "./limits.ts";
import { KeyedSemaphore } from "./keyed-semaphore.ts";
import { type Timer, Deadline } from "./watch.ts";

export type EgressResponse = { status: number; headers: Readonly<Record<string, string>>; body: ByteSource };

export type Transport = {
  isAllowed: IsAllowed;
  timer: Timer;
  /**
   * Sends one request to a target whose URL was checked; a host that resolves names must check the addresses. Does not follow
   * redirects. The signal aborts the request until the answer has arrived; after that, closing the body does. `keepAliveFor` is that
   * of NetOptions; a host that keeps a connection checks it again before each use.
   */
  send(hop: Hop, signal: AbortSignal, keepAliveFor?: string): Promise<EgressResponse>;
};

export class Egress implements Net {
  readonly #wire: Transport;
  readonly #turns = new KeyedSemaphore(EGRESS.parallelPerHost);

  constructor(wire: Transport) {
    this.#wire = wire;
  }

  async fetch(request: NetRequest, options: NetOptions = {}): Promise<NetResponse> {
    const ms = Math.min(options.timeoutMs ?? EGRESS.totalMs, EGRESS.totalMsMax);
    const watch = new Deadline(
      options.isLong ? () => () => {} : this.#wire.timer,
      ms,
      () => new NetError("timeout", `No complete answer within ${ms / 1000} s: try again later, or set a longer timeout`),
      options.signal,
    );
    try {
      return await this.#follow(request, options, watch);
    } catch (error) {
      watch.end();
      discard(request.body);
      throw watch.signal.aborted ? watch.signal.reason : error;
    }
  }

  async #follow(request: NetRequest, options: NetOptions, watch: Deadline): Promise<NetResponse> {
    const isAllowed: IsAllowed = (host, port) => this.#wire.isAllowed(host, port) || options.isAlsoAllowed?.(host, port) === true;
    let hop = firstHop(request, isAllowed);
    for (let redirects = 0; ; redirects++) {
      const answer = await this.#send(hop, options, watch.signal);
      const { location } = answer.headers;
      if (options.redirects === "manual" || !isRedirect(answer.status, location)) return this.#makeResponse(hop, answer, options, watch);
      answer.body.close();
      if (redirects === EGRESS.redirects)
        throw new NetError(
          "too_many_redirects",
          `More than ${EGRESS.redirects} redirects, the last from ${hop.target.url.host}: fetch the final URL`,
        );
      hop = nextHop(hop, answer.status, location, isAllowed);
    }
  }

  async #send(hop: Hop, options: NetOptions, signal: AbortSignal): Promise<EgressResponse> {
    const release = options.isLong ? () => {} : await this.#turns.take(hop.target.host, signal);
    try {
      signal.throwIfAborted();
      const answer = await this.#wire.send(hop, signal, options.keepAliveFor);
      const close = () => {
        answer.body.close();
        release();
      };
      // The timeout may have fired at the moment the answer arrived.
      if (signal.aborted) close();
      signal.throwIfAborted();
      return { ...answer, body: { read: () => answer.body.read(), close } };
    } catch (error) {
      release();
      throw error;
    }
  }

  #makeResponse(hop: Hop, answer: EgressResponse, options: NetOptions, watch: Deadline): NetResponse {
    const limits = { bytesMax: options.bytesMax ?? EGRESS.bodyBytes, idleMs: options.idleMs ?? EGRESS.idleMs };
    const head = { status: answer.status, headers: answer.headers, url: hop.target.url.href };
    const length = answer.headers["content-length"];
    if (hop.method === "HEAD" || answer.status === 204 || answer.status === 304 || length === "0") {
      // There is no body, and the caller may never read the stream to its end, so the connection is released here.
      watch.end();
      answer.body.close();
      return { ...head, body: new ReadableStream<Uint8Array>({ start: (controller) => controller.close() }) };
    }
    if (Number(length) > limits.bytesMax) {
      answer.body.close();
      throw tooLargeError(limits.bytesMax);
    }
    return { ...head, body: makeLimitedBody(answer.body, limits, watch, this.#wire.timer) };
  }
}

/** Cancels the stream, so that its producer learns that nobody will read it. */
function discard(body: NetRequest["body"]): void {
  if (body === undefined || body instanceof Uint8Array || body.locked) return;
  body.cancel().catch(() => {});
}
