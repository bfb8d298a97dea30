// The one way out: every outbound HTTP request of GSV passes here. Both hosts judge the target by kernel/egress before
// anything is sent, at every redirect again. Bodies are streams, never decompressed; whoever does not read one to its end
// cancels it, or the total time limit does. Stricter host's rules: GET and HEAD carry no body, and Host, Connection and
// the headers that frame a body are the port's own and dropped where given.

export interface Net {
  /** Any status is an answer. What kept one from coming, before or within the body, is a NetError. */
  fetch(request: NetRequest, options?: NetOptions): Promise<NetResponse>;
}

export type NetRequest = {
  url: string;
  method: string;
  headers: Readonly<Record<string, string>>;
  /** A stream is sent as it comes and cannot be sent twice: a redirect that asks for it again fails. */
  body?: Uint8Array | ReadableStream<Uint8Array> | undefined;
};

export type NetOptions = {
  /** Aborting closes the connection, also while the body is being read. */
  signal?: AbortSignal | undefined;
  /** The largest body; one byte more and reading it fails. 32 MiB unless told. */
  bytesMax?: number | undefined;
  /** From the call to the last byte of the body. 60 s unless told, at most 600 s. */
  timeoutMs?: number | undefined;
  /** The longest silence while the body is being read. 30 s unless told. */
  idleMs?: number | undefined;
  /**
   * For answers that come as they are thought of, as a model's do: only silence, the signal and the size end them, so
   * `timeoutMs` does not count, and they take none of the few turns a host has, since each may last for many minutes.
   */
  isLong?: boolean | undefined;
  /** Hosts that this one request may go to beyond those root listed, for who may list them: `host` as egress spells it. */
  alsoTo?: ((host: string, port: number) => boolean) | undefined;
};

export type NetResponse = {
  status: number;
  /** Names in lower case. Repeated ones are joined with ", ", but Set-Cookie with a newline, since it holds commas. */
  headers: Readonly<Record<string, string>>;
  /** Where the answer came from, after redirects. */
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

/** The message says what to do, and names hosts at most: never a path, a query, a header or a resolved address. */
export class NetError extends Error {
  readonly kind: NetErrorKind;

  constructor(kind: NetErrorKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.name = "NetError";
    this.kind = kind;
  }
}
