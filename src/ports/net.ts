// The only way out: every outbound HTTP request of GSV passes through this port. Both hosts check the target with kernel/egress
// before they send anything, and again at every redirect. Bodies are streams and never decompressed. A reader that stops early
// cancels the stream, or the total time limit ends it. Rules of the stricter host: GET and HEAD carry no body, and the port sets
// Host, Connection and the headers that frame a body itself and drops those it is given.

export interface Net {
  /** Resolves with any status. Throws a NetError for anything that prevents an answer, including while the body is read. */
  fetch(request: NetRequest, options?: NetOptions): Promise<NetResponse>;
}

export type NetRequest = {
  url: string;
  method: string;
  headers: Readonly<Record<string, string>>;
  /** A stream is sent as it arrives and cannot be sent twice, so a redirect that needs it again fails. */
  body?: Uint8Array | ReadableStream<Uint8Array> | undefined;
};

export type NetOptions = {
  /** Aborting closes the connection, even while the body is being read. */
  signal?: AbortSignal | undefined;
  /** The largest body; reading one byte more fails. Default 32 MiB. */
  bytesMax?: number | undefined;
  /** From the call to the last byte of the body. Default 60 s, at most 600 s. */
  timeoutMs?: number | undefined;
  /** The longest silence while the body is being read. Default 30 s. */
  idleMs?: number | undefined;
  /**
   * For answers that are generated while they are sent, such as a model's. Only silence, the signal and the size limit end them,
   * so `timeoutMs` does not apply. They take none of the host's few request slots, because each may last for many minutes.
   */
  isLong?: boolean | undefined;
  /**
   * Allows a host to keep the connection for later requests to the same origin with the same text here: the credential that the
   * request carries, because a connection is never used for two credentials. If a kept connection turns out to be closed, the request
   * is sent again on a new one; so it is only for requests that may be sent twice.
   */
  keepAliveFor?: string | undefined;
  /** With "manual", a redirect is the answer, and the caller decides whether to follow it. */
  redirects?: "follow" | "manual" | undefined;
  /** Hosts this one request may reach beyond those root listed, for callers who may edit that list; `host` as egress spells it. */
  isAlsoAllowed?: ((host: string, port: number) => boolean) | undefined;
};

export type NetResponse = {
  status: number;
  /** Names in lower case. Repeated headers are joined with ", ", but Set-Cookie with a newline, because it contains commas. */
  headers: Readonly<Record<string, string>>;
  /** The final URL, after redirects. */
  url: string;
  body: ReadableStream<Uint8Array>;
};

export type NetErrorKind =
  | "blocked"
  | "dns"
  | "connect"
  | "tls"
  | "timeout"
  | "too_large"
  | "too_many_redirects"
  | "aborted"
  | "bad_url"
  | "protocol";

/** The message says what to do. It may name hosts, but never a path, a query, a header or a resolved address. */
export class NetError extends Error {
  readonly kind: NetErrorKind;

  constructor(kind: NetErrorKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.name = "NetError";
    this.kind = kind;
  }
}
