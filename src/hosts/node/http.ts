// The HTTP server of the Node host: checks Host, Origin and address of every request and upgrade before anything else sees it,
// and limits the duration and size of requests.

import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, BlockList, isIP } from "node:net";
import type { Duplex } from "node:stream";
import { isLoopback } from "../../lib/address.ts";
import { type OriginPolicy, makeOriginPolicy, originRefusal } from "../../kernel/http/origin.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { OperatorError } from "./home.ts";
import { isWildcardHost, type UpOptions } from "./options.ts";
import type { NodeSockets } from "./sockets.ts";

const REQUEST_MS = 30_000;
const GIT_REQUEST_MS = 10 * 60_000;
const GIT_EXCHANGE_MS = 30 * 60_000;

export class HttpGuard {
  readonly #options: UpOptions;
  readonly #kernel: Kernel;
  readonly #sockets: NodeSockets;
  readonly #proxies = new BlockList();
  #policy: OriginPolicy = makeOriginPolicy([]);
  #port = 0;
  #isClosing = false;
  /** Connections with an unanswered request. */
  readonly #busy = new WeakSet<Duplex>();

  constructor(options: UpOptions, kernel: Kernel, sockets: NodeSockets) {
    this.#options = options;
    this.#kernel = kernel;
    this.#sockets = sockets;
    for (const proxy of options.trustProxy) addProxy(this.#proxies, proxy);
  }

  onListening(port: number): void {
    const { host, tls, origins } = this.#options;
    const scheme = tls ? "https" : "http";
    const own = isLoopback(host) || isWildcardHost(host) ? ["localhost", "127.0.0.1", "[::1]"] : [urlHost(host)];
    this.#port = port;
    this.#policy = makeOriginPolicy([...own.map((name) => `${scheme}://${name}:${port}`), ...origins]);
  }

  /** Refuses further upgrades: a request that is half read during shutdown must not become a socket that nobody closes. */
  refuseUpgrades(): void {
    this.#isClosing = true;
  }

  guard(listener: RequestListener): RequestListener {
    return (request, response) => {
      // No client needs pipelining, and a few connections full of requests would starve everybody else.
      const { socket } = request;
      if (this.#busy.has(socket)) return void socket.destroy();
      this.#busy.add(socket);
      response.once("close", () => this.#busy.delete(socket));
      const refusal = this.#originRefusal(request);
      if (refusal === null) {
        setDeadlines(request, response);
        return listener(request, response);
      }
      response.writeHead(421, { "content-type": "text/plain; charset=utf-8", connection: "close" }).end(`${refusal}\n`);
    };
  }

  upgrade(request: IncomingMessage, wire: Duplex, head: Buffer): void {
    wire.on("error", () => wire.destroy());
    if (request.url?.split("?")[0] !== "/ws") return refuse(wire, 404, "Not found");
    const refusal = this.#originRefusal(request);
    if (refusal !== null) return refuse(wire, 403, refusal);
    if (this.#isClosing) return refuse(wire, 503, "Gateway is shutting down");
    const address = this.clientAddressOf(request);
    if (this.#sockets.size >= LIMITS.sockets) return refuse(wire, 503, "Too many connections: try again later");
    const kernelRefusal = this.#kernel.findRefusal(address);
    if (kernelRefusal !== null) return refuse(wire, 503, kernelRefusal);
    this.#sockets.accept(request, wire, head, { address, origin: this.gatewayOriginFor(request) });
  }

  /** 0 until the gateway listens. */
  get port(): number {
    return this.#port;
  }

  /** The addresses by name at which the gateway answers. */
  get origins(): readonly string[] {
    return [...this.#policy.origins];
  }

  /** The gateway's own address as this client reaches it: one of the allowed ones, not whatever a Host header claims. */
  gatewayOriginFor(request: IncomingMessage): string {
    const host = request.headers.host?.toLowerCase() ?? "";
    return this.#policy.hosts.get(host) ?? this.#localOriginPolicy(request)?.hosts.get(host) ?? makeGatewayUrl(this.#options, this.#port);
  }

  #originRefusal(request: IncomingMessage): string | null {
    const { host, origin } = request.headers;
    const refusal = originRefusal(this.#policy, host, origin);
    const local = refusal === null ? null : this.#localOriginPolicy(request);
    return local === null ? refusal : originRefusal(local, host, origin);
  }

  /**
   * When the gateway listens on all addresses, the address this connection arrived at is allowed too. Names must still be listed,
   * because a rebinding attack comes with a name.
   */
  #localOriginPolicy(request: IncomingMessage): OriginPolicy | null {
    const local = isWildcardHost(this.#options.host) ? request.socket.localAddress?.replace(/^::ffff:/, "") : undefined;
    return local === undefined ? null : makeOriginPolicy([makeGatewayUrl({ ...this.#options, host: local }, this.#port)]);
  }

  /** The peer's address. A forwarding header counts only if it comes from a trusted proxy. */
  clientAddressOf(request: IncomingMessage): string {
    const peer = request.socket.remoteAddress ?? "unknown";
    if (!this.#isProxy(peer)) return peer;
    const forwarded = String(request.headers["x-forwarded-for"] ?? "").split(",");
    for (const address of forwarded.map((part) => stripPort(part.trim())).toReversed()) {
      // Entries further to the left were there before our proxy added this one, so anybody may have written them.
      if (isIP(address) === 0) return peer;
      if (!this.#isProxy(address)) return address;
    }
    return peer;
  }

  #isProxy(address: string): boolean {
    const bare = address.replace(/^::ffff:/, "");
    return isIP(bare) !== 0 && this.#proxies.check(bare, isIP(bare) === 6 ? "ipv6" : "ipv4");
  }
}

/** Limits how long a request may take to arrive, and for git, whose answers can be long too, the whole exchange. */
function setDeadlines(request: IncomingMessage, response: ServerResponse): void {
  const isGit = request.url?.startsWith("/git/") === true;
  const requestTimer = setTimeout(
    () => {
      if (response.headersSent) return void request.socket.destroy();
      response
        .writeHead(408, { "content-type": "text/plain; charset=utf-8", connection: "close" })
        .end("The request took too long\n", () => {
          request.socket.destroy();
        });
    },
    isGit ? GIT_REQUEST_MS : REQUEST_MS,
  );
  const exchangeTimer = isGit ? setTimeout(() => request.socket.destroy(), GIT_EXCHANGE_MS) : undefined;
  request.once("end", () => clearTimeout(requestTimer));
  response.once("close", () => {
    clearTimeout(requestTimer);
    clearTimeout(exchangeTimer);
  });
}

/** Some proxies add the port: 192.0.2.7:50123, [2001:db8::7]:50123. */
function stripPort(text: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
}

export function createHttpServer(options: UpOptions, listener: RequestListener): Server {
  const limits = {
    maxHeaderSize: 16 * 1024,
    headersTimeout: 10_000,
    // Set per request in setDeadlines: a push may take longer than a page.
    requestTimeout: 0,
    keepAliveTimeout: 5_000,
    connectionsCheckingInterval: 5_000,
    handshakeTimeout: 10_000,
  };
  // `timeout` drops peers that do not read their answers; ws switches it off for its sockets.
  const serverLimits = { maxHeadersCount: 100, timeout: 60_000 };
  if (options.tls === null) return Object.assign(createServer(limits, listener), serverLimits);
  const { cert, key } = options.tls;
  const pair = { cert: readPem("--tls-cert", cert), key: readPem("--tls-key", key) };
  try {
    return Object.assign(createTlsServer({ ...limits, ...pair }, listener), serverLimits);
  } catch (error) {
    throw new OperatorError(`${cert} and ${key} are not a certificate and its key in PEM: ${(error as Error).message}`);
  }
}

function readPem(flag: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new OperatorError(`Cannot read ${flag}: ${(error as Error).message}`);
  }
}

export function listen(server: Server, { host, port }: UpOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const why = {
        EADDRINUSE: `Port ${port} is in use: stop what uses it, or choose another with --port`,
        EACCES: `Port ${port} needs rights that this user does not have: choose one above 1023`,
        EADDRNOTAVAIL: `This machine has no address ${host}`,
      }[error.code ?? ""];
      reject(new OperatorError(why ?? `Cannot listen on ${host}:${port}: ${error.message}`));
    });
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

function addProxy(proxies: BlockList, text: string): void {
  const [address = "", bits] = text.split("/");
  const family = isIP(address) === 6 ? "ipv6" : "ipv4";
  try {
    if (bits === undefined) proxies.addAddress(address, family);
    else proxies.addSubnet(address, Number(bits), family);
  } catch {
    throw new OperatorError(`Not an address for --trust-proxy: ${text}. Use something like 127.0.0.1 or 10.0.0.0/8`);
  }
}

function refuse(wire: Duplex, status: 403 | 404 | 503, message: string): void {
  const reasons = { 403: "Forbidden", 404: "Not Found", 503: "Service Unavailable" };
  // The server allows half-open connections, and after an upgrade none of its timeouts apply.
  wire.once("finish", () => wire.destroy());
  const retry = status === 503 ? "Retry-After: 5\r\n" : "";
  wire.end(
    `HTTP/1.1 ${status} ${reasons[status]}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n${retry}Content-Length: ${Buffer.byteLength(message) + 1}\r\n\r\n${message}\n`,
  );
}

export function makeGatewayUrl({ tls, host }: UpOptions, port: number): string {
  return `${tls ? "https" : "http"}://${urlHost(host)}:${port}`;
}

function urlHost(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}
