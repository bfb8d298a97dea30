// One connection to an MCP server, over streamable HTTP or SSE. Everything that a server sends is data: schemas are never compiled, and it
// can ask nothing of us. Failures are McpErrors, which say whether the server may have received the request.

import {
  Client,
  extractWWWAuthenticateParams,
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { SysError } from "../lib/sys-error.ts";
import { withTimeout } from "../lib/with-timeout.ts";
import { NetError, type NetErrorKind } from "../ports/net.ts";
import type { McpToolSummary, McpTransportType } from "../protocol/mcp-records.ts";
import { VERSION } from "../protocol/version.ts";
import type { McpFetch } from "./fetch.ts";
import { toToolSummaries } from "./definition.ts";
import { Sse, Streamable, UNANSWERED } from "./transports.ts";

export const CONNECT_MS = 10_000;
const DISCOVERY_MS = 15_000;
/** Without progress; a tool that reports progress may take up to the maximum. */
const CALL_MS = 60_000;
const CALL_MS_MAX = 600_000;
const END_SESSION_MS = 2_000;
const PAGES_MAX = 50;
const ERROR_CHARS_MAX = 500;

/** `sign-in`: the server wants one. `session`: the server has forgotten the session, so the request was not handled. */
export type McpErrorKind = "unreachable" | "session" | "sign-in" | "refused" | "protocol" | "timeout" | "aborted";

export class McpError extends Error {
  readonly kind: McpErrorKind;
  /** Whether the server may have done what was asked. */
  readonly mayHaveRun: boolean;

  constructor(kind: McpErrorKind, message: string, mayHaveRun = false) {
    super(message);
    this.name = "McpError";
    this.kind = kind;
    this.mayHaveRun = mayHaveRun;
  }
}

/** What a 401 of a server says, or a 403 that asks for more scope. */
export type Challenge = { resourceMetadataUrl: string | null; scope: string | null; isMoreScope: boolean };

/** The token for a server, and how to get another one. */
export type Bearer = {
  token(): Promise<string | undefined>;
  /** The server refuses the token, or wants one. Resolves if the request may be sent again; otherwise it throws. */
  renew(refused: string | undefined, challenge: Challenge): Promise<void>;
};

export type McpConnectionOptions = {
  url: string;
  transport: McpTransportType;
  headers: Readonly<Record<string, string>>;
  fetch: McpFetch;
  bearer: Bearer;
  onToolsChanged: () => void;
  onClosed: () => void;
};

type Transport = Streamable | Sse;
export type CallableTool = Pick<McpToolSummary, "name" | "inputSchema">;
export type ToolResult = { content?: unknown; structuredContent?: unknown; isError?: boolean };

export class McpConnection {
  readonly #client: Client;
  readonly #transport: Transport;
  readonly #bearer: Bearer;
  #isOpen = true;

  private constructor(client: Client, transport: Transport, { bearer, onClosed }: McpConnectionOptions) {
    this.#client = client;
    this.#transport = transport;
    this.#bearer = bearer;
    // The client is no EventTarget.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    client.onclose = () => {
      if (!this.#isOpen) return;
      this.#isOpen = false;
      onClosed();
    };
  }

  /** With the transport `auto`, SSE is tried if the server does not know streamable HTTP. */
  static async open(options: McpConnectionOptions, signal: AbortSignal): Promise<McpConnection> {
    try {
      if (options.transport === "sse") return await connect(options, makeSse, "legacy", signal);
      return await connect(options, makeStreamable, "legacy", signal);
    } catch (error) {
      if (options.transport === "sse" || !isUnknownToServer(error)) throw toMcpError(error, false);
      for (const next of options.transport === "auto" ? ALTERNATIVES : ALTERNATIVES.slice(0, 1)) {
        const connection = await connect(options, next.make, next.era, signal).catch((reason: unknown) => rethrowSignIn(reason));
        if (connection !== null) return connection;
      }
      if (error instanceof SdkHttpError) throw new McpError("protocol", `there is no MCP server at this address (HTTP ${error.status})`);
      throw toMcpError(error, false);
    }
  }

  /** Used by `connect` below. */
  static wrap(client: Client, transport: Transport, options: McpConnectionOptions): McpConnection {
    return new McpConnection(client, transport, options);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get instructions(): string | null {
    return this.#client.getInstructions() ?? null;
  }

  get capabilities(): Record<string, unknown> | null {
    const capabilities = this.#client.getServerCapabilities();
    return capabilities === undefined ? null : { ...capabilities };
  }

  async listTools(signal: AbortSignal) {
    if (this.#client.getServerCapabilities()?.tools === undefined) return { tools: [], leftOut: 0 };
    const { tools } = await this.#request(() => this.#client.listTools(undefined, listOptions(signal)), true, signal);
    return toToolSummaries(tools);
  }

  async listResources(signal: AbortSignal) {
    if (this.#client.getServerCapabilities()?.resources === undefined) return [];
    return (await this.#request(() => this.#client.listResources(undefined, listOptions(signal)), true, signal)).resources;
  }

  async listResourceTemplates(signal: AbortSignal) {
    if (this.#client.getServerCapabilities()?.resources === undefined) return [];
    const listed = await this.#request(() => this.#client.listResourceTemplates(undefined, listOptions(signal)), true, signal);
    return listed.resourceTemplates;
  }

  async listPrompts(signal: AbortSignal) {
    if (this.#client.getServerCapabilities()?.prompts === undefined) return [];
    return (await this.#request(() => this.#client.listPrompts(undefined, listOptions(signal)), true, signal)).prompts;
  }

  readResource(uri: string, signal: AbortSignal) {
    return this.#request(() => this.#client.readResource({ uri }, { signal, timeout: CALL_MS, ...UNCACHED }), true, signal);
  }

  getPrompt(name: string, args: Record<string, string>, signal: AbortSignal) {
    return this.#request(() => this.#client.getPrompt({ name, arguments: args }, { signal, timeout: CALL_MS }), true, signal);
  }

  /** `timeoutMs` is the longest time; without it, the call may go on while the tool reports progress. */
  async callTool(
    { name, inputSchema }: CallableTool,
    args: Record<string, unknown>,
    timeoutMs: number | undefined,
    signal: AbortSignal,
  ): Promise<ToolResult> {
    const limits =
      timeoutMs === undefined
        ? { timeout: CALL_MS, onprogress: () => {}, resetTimeoutOnProgress: true, maxTotalTimeout: CALL_MS_MAX }
        : { timeout: timeoutMs };
    const { content, structuredContent, isError } = await this.#request(
      () => this.#client.callTool({ name, arguments: args }, { signal, ...limits, toolDefinition: toClientTool(name, inputSchema) }),
      false,
      signal,
    );
    return {
      ...(content === undefined ? {} : { content }),
      ...(structuredContent === undefined ? {} : { structuredContent }),
      ...(isError === undefined ? {} : { isError }),
    };
  }

  /** Tells the server that the session has ended, and closes the connection. Never rejects. */
  async close(): Promise<void> {
    this.#isOpen = false;
    const transport = this.#transport;
    if (transport instanceof Streamable && transport.sessionId !== undefined) {
      const end = () => transport.terminateSession().catch(() => {});
      await withTimeout(END_SESSION_MS, new AbortController().signal, end, { value: undefined, reason: undefined });
    }
    await this.#client.close().catch(() => {});
  }

  async #askForScope({ requiredScope, resourceMetadataUrl }: InsufficientScopeError): Promise<void> {
    const token = await this.#bearer.token();
    const challenge = { resourceMetadataUrl: resourceMetadataUrl?.href ?? null, scope: requiredScope ?? null, isMoreScope: true };
    await this.#bearer.renew(token, challenge);
  }

  /** `isRead`: the request changes nothing. */
  async #request<T>(send: () => Promise<T>, isRead: boolean, signal: AbortSignal): Promise<T> {
    if (!this.#isOpen) throw new McpError("session", "the connection is closed");
    const hasSession = this.#transport instanceof Sse || this.#transport.sessionId !== undefined;
    try {
      return await send();
    } catch (error) {
      if (error instanceof InsufficientScopeError) await this.#askForScope(error);
      // The client calls this a timeout, which would be the server's fault.
      if (signal.aborted) throw new McpError("aborted", "the call was stopped", !isRead);
      // Without a session, a 404 does not say that the request was not handled.
      if (!hasSession && isNotFound(error)) throw new McpError("refused", "the server answered with HTTP 404", !isRead);
      throw toMcpError(error, !isRead);
    }
  }
}

/** The client would answer from its cache for as long as the server likes, and keep all that was ever read. */
const UNCACHED = { cacheMode: "bypass" } as const;

function listOptions(signal: AbortSignal) {
  return { signal, timeout: DISCOVERY_MS, ...UNCACHED };
}

/**
 * What the client reads of a tool that it calls: which arguments it sends as headers, too. Without an output schema it passes on whatever
 * comes; else it throws results away that do not fit the schema, though the tool has run.
 */
function toClientTool(name: string, inputSchema: CallableTool["inputSchema"]) {
  return { name, inputSchema: { ...inputSchema, type: "object" as const } };
}

function isNotFound(error: unknown): boolean {
  return error instanceof SdkHttpError && error.status === 404;
}

type Era = "legacy" | "auto";
type MakeTransport = (options: McpConnectionOptions) => Transport;

function makeStreamable({ url, headers, fetch: netFetch, bearer }: McpConnectionOptions): Transport {
  const requestInit = { headers: { ...headers } };
  return new Streamable(new URL(url), { ...authorize(netFetch, bearer), requestInit, onInsufficientScope: "throw" });
}

function makeSse({ url, headers, fetch: netFetch, bearer }: McpConnectionOptions): Transport {
  return new Sse(new URL(url), { ...authorize(netFetch, bearer), requestInit: { headers: { ...headers } } });
}

/** Servers of the newest protocol do not know the handshake of earlier ones, and SSE is the oldest. */
const ALTERNATIVES: readonly { make: MakeTransport; era: Era }[] = [
  { make: makeStreamable, era: "auto" },
  { make: makeSse, era: "legacy" },
];

async function connect(options: McpConnectionOptions, make: MakeTransport, era: Era, signal: AbortSignal): Promise<McpConnection> {
  const transport = make(options);
  const client = new Client(
    { name: "gsv", version: VERSION },
    {
      capabilities: {},
      // A schema is text of a stranger: compiling it, or matching its patterns, could take forever.
      jsonSchemaValidator: { getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }) },
      listMaxPages: PAGES_MAX,
      // A server that asks for input could have a call sent again and again.
      inputRequired: { autoFulfill: false },
      ...(era === "auto" ? { versionNegotiation: { mode: "auto" as const } } : {}),
    },
  );
  client.setNotificationHandler("notifications/tools/list_changed", () => options.onToolsChanged());
  const connection = McpConnection.wrap(client, transport, options);
  const late = new McpError("timeout", `the server did not answer within ${CONNECT_MS / 1000} s`);
  const open = async (stopping: AbortSignal): Promise<McpError | null> => {
    await client.connect(transport, { signal: stopping, timeout: CONNECT_MS });
    return null;
  };
  try {
    const failure = await withTimeout(CONNECT_MS, signal, open, { value: late, reason: late });
    if (failure !== null) throw failure;
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Of parallel requests, each must say with which token it was refused: another may already have been renewed. */
function authorize(netFetch: McpFetch, bearer: Bearer) {
  const sentWith = new WeakMap<Response, string>();
  return {
    fetch: async (url: string | URL, init?: RequestInit) => {
      const response = await netFetch(url, init);
      const token = /^Bearer (.+)$/i.exec(new Headers(init?.headers).get("authorization") ?? "")?.[1];
      if (token !== undefined) sentWith.set(response, token);
      return response;
    },
    authProvider: {
      token: () => bearer.token(),
      onUnauthorized: ({ response }: { response: Response }) => {
        const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
        const challenge = { resourceMetadataUrl: resourceMetadataUrl?.href ?? null, scope: scope ?? null, isMoreScope: false };
        return bearer.renew(sentWith.get(response), challenge);
      },
    },
  };
}

/** A server that refuses the handshake knows another one, or another transport, or none. */
function isUnknownToServer(error: unknown): boolean {
  // What servers of the newest protocol say, whatever the HTTP status is.
  if (error instanceof ProtocolError) return true;
  if (error instanceof SdkHttpError) return error.status >= 400 && error.status < 500 && error.status !== 401 && error.status !== 403;
  return error instanceof SdkError && [SdkErrorCode.ClientHttpUnexpectedContent, SdkErrorCode.EraNegotiationFailed].includes(error.code);
}

function rethrowSignIn(error: unknown): null {
  if (error instanceof McpError && error.kind === "sign-in") throw error;
  return null;
}

/** Problems of the network in which nothing was sent. */
const UNSENT: ReadonlySet<NetErrorKind> = new Set(["blocked", "dns", "connect", "tls", "bad_url"]);

/** `mayRun`: the request does something if the server has received it. A failure of ours to get a token is passed on. */
function toMcpError(error: unknown, mayRun: boolean): McpError | SysError {
  const inner = findCause(error);
  if (inner !== undefined) return inner instanceof NetError ? fromNetError(inner, mayRun) : inner;
  if (error instanceof UnauthorizedError) return new McpError("sign-in", "the server wants a sign-in");
  if (error instanceof InsufficientScopeError) return new McpError("sign-in", "the server wants a sign-in with more rights");
  if (error instanceof SdkHttpError) return fromHttpError(error, mayRun);
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.UnsupportedResultType)
      return new McpError("refused", "the server asks for more input in the middle of the call, which GSV does not offer", mayRun);
    if (error.code === SdkErrorCode.RequestTimeout) return new McpError("timeout", "the server did not answer in time", mayRun);
    if (error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.NotConnected)
      return new McpError("unreachable", "the connection was closed", mayRun);
  }
  if (error instanceof Error && error.name === "AbortError") return new McpError("aborted", "the call was stopped", mayRun);
  const text = shorten(error instanceof Error ? error.message : String(error));
  if (error instanceof ProtocolError && error.data === UNANSWERED) return new McpError("unreachable", error.message, mayRun);
  if (error instanceof ProtocolError) return new McpError("refused", `the server refused it: ${text}`);
  return new McpError("protocol", `the server does not answer as an MCP server does: ${text}`, mayRun);
}

function fromNetError(error: NetError, mayRun: boolean): McpError {
  if (error.kind === "aborted") return new McpError("aborted", "the call was stopped", mayRun);
  const kind = error.kind === "timeout" ? "timeout" : error.kind === "too_large" ? "protocol" : "unreachable";
  return new McpError(kind, error.message, mayRun && !UNSENT.has(error.kind));
}

function fromHttpError({ status, message }: SdkHttpError, mayRun: boolean): McpError {
  if (status === 404) return new McpError("session", "the server has no such address, or has forgotten the session (404)");
  if (status === 401) return new McpError("sign-in", "the server refuses the sign-in (401)");
  if (status === 403) return new McpError("refused", "the server refuses access (403)");
  if (status >= 300 && status < 400) return new McpError("refused", shorten(message));
  const isBroken = status >= 500;
  return new McpError(isBroken ? "unreachable" : "refused", `the server answered with HTTP ${status}`, isBroken && mayRun);
}

/** The client wraps some errors of ours. */
function findCause(error: unknown): McpError | NetError | SysError | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++)
    if (at instanceof McpError || at instanceof NetError || at instanceof SysError) return at;
  return undefined;
}

/** Text of a server, for people: one line, without control characters. */
function shorten(text: string): string {
  const line = text
    .slice(0, 2 * ERROR_CHARS_MAX)
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .trim();
  return line.length > ERROR_CHARS_MAX ? `${line.slice(0, ERROR_CHARS_MAX)}...` : line;
}
