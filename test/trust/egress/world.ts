// A small Internet on loopback. Public addresses exist here only as text: the Net port gets a `mapEndpoint` that leads each of them to
// a server on this machine, so that no test sends a packet elsewhere, and every other address to a canary. Canaries also listen
// on loopback itself and on several of its aliases.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer, type Socket } from "node:net";
import { makeNodeNet, queryDns } from "../../../src/hosts/node/net.ts";
import { makeAllowList } from "../../../src/kernel/egress/allow.ts";
import type { Net } from "../../../src/ports/net.ts";
import { TEST_CERT, TEST_KEY } from "../../support/tls.ts";
import { type NameServer, startNameServer, type Zone } from "./dns.ts";

export const PUBLIC = { a: "93.184.216.34", a6: "2606:2800:220:1::34", b: "151.101.1.69" } as const;
const ALIASES = ["127.0.0.1", "127.0.0.2", "127.1.2.3", "127.255.255.254", "::1"];

export type Seen = { server: string; method: string; url: string; headers: IncomingMessage["headers"]; body: string };

export class World {
  readonly seen: Seen[] = [];
  /** JSON that the public servers answer with, by path. */
  readonly documents = new Map<string, string>();
  /** Addresses that the Net port tried to connect to. */
  readonly dialled: string[] = [];
  canaryHits = 0;
  canaryPort = 0;
  tlsPort = 0;
  /** How many requests of the public servers are open now. */
  open = 0;
  /** Open requests of /held, and the most of them that were open at once. */
  readonly held: ServerResponse[] = [];
  most = 0;
  #holding = 0;
  readonly #ports = new Map<string, number>();
  readonly #servers: (Server | TcpServer)[] = [];
  readonly #sockets = new Set<Socket>();
  names!: NameServer;

  static async start(zone: Zone): Promise<World> {
    const world = new World();
    world.names = await startNameServer(zone);
    for (const name of ["a", "b"]) {
      const port = await world.#listen(
        createServer((request, response) => world.#serve(name, request, response)),
        "127.0.0.1",
        0,
      );
      for (const [key, address] of Object.entries(PUBLIC)) if (key.startsWith(name)) world.#ports.set(address, port);
    }
    const tls = createTlsServer({ cert: TEST_CERT, key: TEST_KEY }, (request, response) => world.#serve("tls", request, response));
    world.tlsPort = await world.#listen(tls, "127.0.0.1", 0);
    for (const alias of ALIASES) {
      const canary = createTcpServer((socket) => {
        world.canaryHits++;
        socket.on("error", () => {}).end("HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\ncanary");
      });
      // Not every system has every alias.
      world.canaryPort = await world.#listen(canary, alias, world.canaryPort).catch(() => world.canaryPort);
    }
    return world;
  }

  net(allowed = "", baseUrl?: string): Net {
    return makeNodeNet({
      isAllowed: makeAllowList(allowed, baseUrl),
      resolve: (name, signal) => queryDns(name, signal, [this.names.address]),
      mapEndpoint: (address, port) => {
        this.dialled.push(address);
        const own = this.#ports.get(address);
        if (own !== undefined) return { address: "127.0.0.1", port: own };
        const isTls = address === "127.0.0.1" && port === this.tlsPort;
        return isTls ? { address, port } : { address: ALIASES.includes(address) ? address : "127.0.0.1", port: this.canaryPort };
      },
    });
  }

  /** Returns and clears the dialled addresses. */
  takeDialled(): string[] {
    return this.dialled.splice(0);
  }

  async close(): Promise<void> {
    this.names.close();
    for (const socket of this.#sockets) socket.destroy();
    for (const server of this.#servers) await new Promise((resolve) => server.close(resolve));
  }

  #listen(server: Server | TcpServer, host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.on("connection", (socket: Socket) => {
        this.#sockets.add(socket);
        socket.once("close", () => this.#sockets.delete(socket));
      });
      server.listen(port, host, () => {
        this.#servers.push(server);
        resolve((server.address() as AddressInfo).port);
      });
    });
  }

  #serve(server: string, request: IncomingMessage, response: ServerResponse): void {
    this.open++;
    response.once("close", () => this.open--);
    const chunks: Buffer[] = [];
    request.on("error", () => {}).on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      this.seen.push({ server, method, url, headers, body: Buffer.concat(chunks).toString() });
      const document = this.documents.get(url);
      if (document !== undefined) response.writeHead(200, { "content-type": "application/json" }).end(document);
      else if (url === "/held") this.#hold(response);
      else respond(new URL(url, "http://x"), response);
    });
  }

  #hold(response: ServerResponse): void {
    this.held.push(response);
    this.most = Math.max(this.most, ++this.#holding);
    response.once("close", () => this.#holding--);
  }
}

/** Behaves as the path's name says. */
function respond({ pathname, searchParams }: URL, response: ServerResponse): void {
  const chunk = Buffer.alloc(64 * 1024, "x");
  switch (pathname) {
    case "/to":
      response.writeHead(Number(searchParams.get("status") ?? 302), {
        location: Buffer.from(searchParams.get("url") ?? "", "utf8").toString("latin1"),
      });
      return void response.end("moved");
    case "/loop":
      return void response.writeHead(302, { location: "/loop" }).end();
    case "/down": {
      const left = Number(searchParams.get("n"));
      return void (left === 0 ? response.end("landed") : response.writeHead(302, { location: `/down?n=${left - 1}` }).end());
    }
    case "/big":
      return void response.writeHead(200, { "content-length": 10_000_000 }).end(Buffer.alloc(10_000_000));
    case "/endless": {
      const more = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", more);
      return more();
    }
    case "/zip":
      return void response.writeHead(200, { "content-encoding": "gzip" }).end("not really gzip");
    case "/never":
      return;
    case "/drip":
      return void response.write("a");
    case "/cut":
      response.writeHead(200, { "content-length": 100 }).write("short");
      return void setTimeout(() => response.destroy(), 20);
    case "/headers":
      return void response.writeHead(200, { "x-long": "x".repeat(200_000) }).end();
    case "/nothttp":
      return void response.socket?.end("SSH-2.0-OpenSSH\r\n");
    default:
      response.end("ok");
  }
}
