// A small MCP server written by hand on node:http, for tests of our MCP client: streamable HTTP, on request also the older SSE transport.
// It shows everything that came to it. It must never use our code nor an SDK: it is the other side. The real server that others
// publish is everything.ts beside it; servers that misbehave are hostile.ts.

import { randomUUID } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";

export type Route = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

export type ToolResult = {
  content: { type: string; text?: string; [more: string]: unknown }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
};

export type TestTool = {
  name: string;
  title?: string;
  description: string;
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown>;
  annotations?: Record<string, unknown>;
  /** Without it the answer is the text "ok". The signal fires when the client cancels the call or goes, and when the server closes. */
  run?: (args: Record<string, unknown>, signal: AbortSignal) => ToolResult | Promise<ToolResult>;
};

export type TestResource = { uri: string; name: string; mimeType: string; text: string };
export type TestPrompt = { name: string; description: string; arguments: { name: string; required?: boolean }[]; text: string };

export type Refusal = { status: 401 | 403; wwwAuthenticate: string };
export type Authorize = (bearer: string | null, request: IncomingMessage) => Refusal | null | Promise<Refusal | null>;

export type TestMcpServerOptions = {
  tools?: TestTool[];
  /** Is asked before everything but the extra routes. */
  authorize?: Authorize;
  /** Extra documents by path, such as /.well-known/oauth-protected-resource. */
  routes?: Record<string, Route>;
  /** Also serves the older transport, at `sseUrl`. */
  legacySse?: boolean;
  /** How POSTs are answered. */
  answers?: "json" | "sse";
  /** Tools per page of tools/list; without it there is one page. */
  pageSize?: number;
  instructions?: string;
};

export type ReceivedRequest = { method: string; path: string; headers: IncomingHttpHeaders; body: string };
export type ReceivedCall = { name: string; arguments: Record<string, unknown>; authorization: string | null };

type RpcId = string | number;
type RpcMessage = { jsonrpc: "2.0"; id?: RpcId; method?: string; params?: Record<string, unknown> };
type Session = { id: string; streams: Set<ServerResponse>; running: Map<RpcId, AbortController> };

const VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

export async function startMcpServer(options: TestMcpServerOptions = {}): Promise<TestMcpServer> {
  let server: TestMcpServer | undefined;
  const http = await startLocalServer((request, response) => server?.handle(request, response));
  server = new TestMcpServer(http, options);
  return server;
}

export class TestMcpServer {
  readonly origin: string;
  readonly url: string;
  readonly sseUrl: string;
  /** What the server offers; tests change the three. */
  tools: TestTool[];
  resources: TestResource[] = [{ uri: "test://greeting", name: "greeting", mimeType: "text/plain", text: "hello from the test server" }];
  prompts: TestPrompt[] = [
    { name: "greet", description: "Greets somebody", arguments: [{ name: "name", required: true }], text: "Greet {name}." },
  ];
  authorize: Authorize | null;
  answers: "json" | "sse";
  readonly routes: Map<string, Route>;
  readonly calls: ReceivedCall[] = [];
  readonly requests: ReceivedRequest[] = [];
  /** The methods of all notifications that clients sent. */
  readonly notifications: string[] = [];
  readonly #http: LocalServer;
  readonly #options: TestMcpServerOptions;
  readonly #sessions = new Map<string, Session>();

  constructor(http: LocalServer, options: TestMcpServerOptions) {
    this.#http = http;
    this.#options = options;
    this.origin = http.origin;
    this.url = `${http.origin}/mcp`;
    this.sseUrl = `${http.origin}/sse`;
    this.tools = options.tools ?? defaultTools();
    this.authorize = options.authorize ?? null;
    this.answers = options.answers ?? "json";
    this.routes = new Map(Object.entries(options.routes ?? {}));
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  /** The streams that notifications of the server can go out on now. */
  get streams(): number {
    return [...this.#sessions.values()].reduce((sum, { streams }) => sum + streams.size, 0);
  }

  /** The tool calls that run now. */
  get running(): number {
    return [...this.#sessions.values()].reduce((sum, { running }) => sum + running.size, 0);
  }

  get openSockets(): number {
    return this.#http.openSockets;
  }

  /** Returns how many streams it went out on. */
  announceToolsChanged(): number {
    for (const { streams } of this.#sessions.values())
      for (const stream of streams) writeEvent(stream, { jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    return this.streams;
  }

  /** Forgets all sessions: the next request with the id of one gets 404. */
  endSessions(): void {
    for (const session of this.#sessions.values()) this.#end(session);
  }

  async close(): Promise<void> {
    this.endSessions();
    await this.#http.close();
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.origin);
    const received = { method: request.method ?? "", path: `${url.pathname}${url.search}`, headers: request.headers, body: "" };
    this.requests.push(received);
    const route = this.routes.get(url.pathname);
    if (route) return route(request, response);
    const refusal = await this.authorize?.(bearerOf(request), request);
    received.body = await readBody(request);
    if (refusal) return sendJson(response, refusal.status, { error: "refused" }, { "www-authenticate": refusal.wwwAuthenticate });
    if (url.pathname === "/mcp") return this.#handleStreamable(request, response, received.body);
    if (this.#options.legacySse && url.pathname === "/sse" && request.method === "GET") return this.#openLegacy(response);
    if (this.#options.legacySse && url.pathname === "/messages" && request.method === "POST")
      return this.#handleLegacy(request, response, url.searchParams.get("sessionId"), received.body);
    sendJson(response, 404, { error: "there is nothing at this path" });
  }

  async #handleStreamable(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    if (!["GET", "POST", "DELETE"].includes(request.method ?? "")) return sendJson(response, 405, {}, { allow: "GET, POST, DELETE" });
    const message = request.method === "POST" ? parseRpc(body) : undefined;
    if (message === null) return sendError(response, 400, null, -32700, "the body is not a JSON-RPC message");
    const version = headerOf(request, "mcp-protocol-version");
    if (version !== null && !VERSIONS.includes(version)) return sendError(response, 400, message?.id, -32000, `no version ${version}`);
    if (message?.method === "initialize") return this.#initialize(response, message);
    const id = headerOf(request, "mcp-session-id");
    if (id === null) return sendError(response, 400, message?.id, -32000, "Mcp-Session-Id is missing");
    const session = this.#sessions.get(id);
    if (!session) return sendError(response, 404, message?.id, -32001, "there is no such session");
    if (request.method === "DELETE") {
      this.#end(session);
      response.writeHead(204).end();
    } else if (message === undefined) this.#openStream(session, response);
    else await this.#answerPost(session, request, response, message);
  }

  #initialize(response: ServerResponse, message: RpcMessage): void {
    const session = this.#begin();
    const answer = { jsonrpc: "2.0", id: message.id, result: this.#initializeResult(message) };
    sendJson(response, 200, answer, { "mcp-session-id": session.id });
  }

  async #answerPost(session: Session, request: IncomingMessage, response: ServerResponse, message: RpcMessage): Promise<void> {
    if (message.id === undefined || message.method === undefined) {
      this.#notice(session, message);
      response.writeHead(202).end();
      return;
    }
    const { id } = message;
    response.once("close", () => session.running.get(id)?.abort());
    const answer = await this.#answer(session, message, headerOf(request, "authorization"));
    if (answer === null) response.destroy();
    else if (this.answers === "json") sendJson(response, 200, answer);
    else {
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
      writeEvent(response, answer);
      response.end();
    }
  }

  #openStream(session: Session, response: ServerResponse): void {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    response.flushHeaders();
    session.streams.add(response);
    response.once("close", () => session.streams.delete(response));
  }

  #openLegacy(response: ServerResponse): void {
    const session = this.#begin();
    this.#openStream(session, response);
    response.write(`event: endpoint\ndata: /messages?sessionId=${session.id}\n\n`);
    response.once("close", () => this.#end(session));
  }

  async #handleLegacy(request: IncomingMessage, response: ServerResponse, id: string | null, body: string): Promise<void> {
    const session = this.#sessions.get(id ?? "");
    const message = parseRpc(body);
    if (!session) return sendError(response, 404, message?.id, -32001, "there is no such session");
    if (!message) return sendError(response, 400, null, -32700, "the body is not a JSON-RPC message");
    response.writeHead(202).end();
    if (message.id === undefined || message.method === undefined) return this.#notice(session, message);
    const answer =
      message.method === "initialize"
        ? { jsonrpc: "2.0", id: message.id, result: this.#initializeResult(message) }
        : await this.#answer(session, message, headerOf(request, "authorization"));
    if (answer !== null) for (const stream of session.streams) writeEvent(stream, answer);
  }

  #notice(session: Session, message: RpcMessage): void {
    if (message.method === undefined) return;
    this.notifications.push(message.method);
    const id = message.params?.["requestId"];
    if (message.method === "notifications/cancelled" && (typeof id === "string" || typeof id === "number"))
      session.running.get(id)?.abort();
  }

  /** Null when the call was cancelled: it has no answer then. */
  async #answer(session: Session, message: RpcMessage, authorization: string | null): Promise<Record<string, unknown> | null> {
    const id = message.id ?? 0;
    const stop = new AbortController();
    session.running.set(id, stop);
    try {
      const result = await this.#result(message, authorization, stop.signal);
      return stop.signal.aborted ? null : { jsonrpc: "2.0", id, result };
    } catch (error) {
      if (stop.signal.aborted) return null;
      const code = error instanceof RpcError ? error.code : -32603;
      return { jsonrpc: "2.0", id, error: { code, message: error instanceof Error ? error.message : "failed" } };
    } finally {
      session.running.delete(id);
    }
  }

  #initializeResult({ params }: RpcMessage): Record<string, unknown> {
    const asked = params?.["protocolVersion"];
    return {
      protocolVersion: typeof asked === "string" && VERSIONS.includes(asked) ? asked : VERSIONS[0],
      capabilities: { tools: { listChanged: true }, resources: {}, prompts: {} },
      serverInfo: { name: "test-server", version: "1.0.0" },
      ...(this.#options.instructions === undefined ? {} : { instructions: this.#options.instructions }),
    };
  }

  async #result(message: RpcMessage, authorization: string | null, signal: AbortSignal): Promise<Record<string, unknown>> {
    const params = message.params ?? {};
    switch (message.method) {
      case "ping":
        return {};
      case "tools/list":
        return this.#listTools(params["cursor"]);
      case "tools/call":
        return this.#callTool(params, authorization, signal);
      case "resources/list":
        return { resources: this.resources.map(({ text: _, ...resource }) => resource) };
      case "resources/templates/list":
        return { resourceTemplates: [] };
      case "resources/read": {
        const found = this.resources.find(({ uri }) => uri === params["uri"]);
        if (!found) throw new RpcError(-32002, "there is no such resource");
        return { contents: [{ uri: found.uri, mimeType: found.mimeType, text: found.text }] };
      }
      case "prompts/list":
        return { prompts: this.prompts.map(({ text: _, ...prompt }) => prompt) };
      case "prompts/get": {
        const found = this.prompts.find(({ name }) => name === params["name"]);
        if (!found) throw new RpcError(-32602, "there is no such prompt");
        const values = objectOf(params["arguments"]);
        const text = found.text.replaceAll(/\{(\w+)\}/g, (_, name: string) => textOf(values[name]));
        return { description: found.description, messages: [{ role: "user", content: { type: "text", text } }] };
      }
      default:
        throw new RpcError(-32601, `there is no method ${message.method}`);
    }
  }

  #listTools(cursor: unknown): Record<string, unknown> {
    const from = cursor === undefined ? 0 : Number(cursor);
    if (!Number.isSafeInteger(from) || from < 0) throw new RpcError(-32602, "the cursor is not one of ours");
    const to = from + (this.#options.pageSize ?? this.tools.length);
    const tools = this.tools.slice(from, to).map(({ run: _, ...tool }) => tool);
    return { tools, ...(to < this.tools.length ? { nextCursor: String(to) } : {}) };
  }

  async #callTool(params: Record<string, unknown>, authorization: string | null, signal: AbortSignal): Promise<Record<string, unknown>> {
    const name = textOf(params["name"]);
    const args = objectOf(params["arguments"]);
    this.calls.push({ name, arguments: args, authorization });
    const tool = this.tools.find((tool) => tool.name === name);
    if (!tool) throw new RpcError(-32602, `there is no tool ${name}`);
    return (await tool.run?.(args, signal)) ?? { content: [{ type: "text", text: "ok" }] };
  }

  #begin(): Session {
    const session: Session = { id: randomUUID(), streams: new Set(), running: new Map() };
    this.#sessions.set(session.id, session);
    return session;
  }

  #end(session: Session): void {
    this.#sessions.delete(session.id);
    for (const stop of session.running.values()) stop.abort();
    for (const stream of session.streams) stream.end();
  }
}

class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

function defaultTools(): TestTool[] {
  const object = (properties: Record<string, unknown>) => ({ type: "object", properties, required: Object.keys(properties) });
  const text = (text: string) => ({ content: [{ type: "text", text }] });
  return [
    {
      name: "add",
      description: "Adds two numbers",
      inputSchema: object({ a: { type: "number" }, b: { type: "number" } }),
      outputSchema: object({ sum: { type: "number" } }),
      run({ a, b }) {
        const sum = Number(a) + Number(b);
        return { ...text(`${sum}`), structuredContent: { sum } };
      },
    },
    {
      name: "echo",
      description: "Returns the text",
      inputSchema: object({ text: { type: "string" } }),
      run: ({ text: words }) => text(textOf(words)),
    },
    {
      name: "fail",
      description: "Fails always",
      inputSchema: object({}),
      run: () => ({ ...text("this tool fails always"), isError: true }),
    },
    {
      name: "slow",
      description: "Answers after so many milliseconds",
      inputSchema: object({ ms: { type: "number" } }),
      run: ({ ms }, signal) =>
        new Promise((resolve) => {
          const finish = () => {
            clearTimeout(timer);
            signal.removeEventListener("abort", finish);
            resolve(text(`waited ${Number(ms)} ms`));
          };
          const timer = setTimeout(finish, Number(ms));
          signal.addEventListener("abort", finish);
        }),
    },
  ];
}

function parseRpc(body: string): RpcMessage | null {
  try {
    const message: unknown = JSON.parse(body);
    return isRpc(message) ? message : null;
  } catch {
    return null;
  }
}

function isRpc(value: unknown): value is RpcMessage {
  return typeof value === "object" && value !== null && "jsonrpc" in value && value.jsonrpc === "2.0";
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function bearerOf(request: IncomingMessage): string | null {
  return /^Bearer +(.+)$/i.exec(headerOf(request, "authorization") ?? "")?.[1] ?? null;
}

function sendError(response: ServerResponse, status: number, id: RpcId | null | undefined, code: number, message: string): void {
  sendJson(response, status, { jsonrpc: "2.0", id: id ?? null, error: { code, message } });
}

function writeEvent(stream: ServerResponse, message: Record<string, unknown>): void {
  stream.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
}

// What the other servers of tests use too.

export type LocalServer = { origin: string; readonly openSockets: number; close(): Promise<void> };

/** An HTTP server on 127.0.0.1. Its `close` ends all connections, and answers that go on forever with them. */
export async function startLocalServer(handle: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<LocalServer> {
  const sockets = new Set<Socket>();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    // A client that goes away is what many tests are about.
    response.on("error", () => {});
    try {
      await handle(request, response);
    } catch (error) {
      if (response.headersSent || request.destroyed) response.destroy();
      else sendJson(response, 500, { error: String(error) });
    }
  };
  const server = createServer((request, response) => void answer(request, response));
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return {
    origin: `http://127.0.0.1:${address.port}`,
    get openSockets() {
      return sockets.size;
    },
    close: async () => {
      const closed = [...sockets].map((socket) => new Promise((resolve) => socket.once("close", resolve).destroy()));
      if (server.listening) await new Promise((resolve) => server.close(resolve));
      await Promise.all(closed);
    },
  };
}

export function headerOf(request: IncomingMessage, name: string): string | null {
  const value = request.headers[name];
  return typeof value === "string" ? value : null;
}

export async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) if (Buffer.isBuffer(part)) parts.push(part);
  return Buffer.concat(parts).toString();
}

export function sendJson(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** Writes what `next` returns for as long as the other side reads, every so many milliseconds or as fast as it can. */
export function streamForever(response: ServerResponse, next: () => string, everyMs = 0): void {
  let timer: NodeJS.Timeout | undefined;
  const write = () => {
    if (response.destroyed) return;
    if (!response.write(next())) response.once("drain", write);
    else timer = setTimeout(write, everyMs);
  };
  response.once("close", () => clearTimeout(timer));
  write();
}
