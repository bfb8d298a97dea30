// What all lists of trust:mcp share: a gateway in a process of its own with two people, one MCP server that behaves, a canary that
// nobody may contact, and everything that the gateway ever said to a client.

import { readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { type Arguments, type CallResult, type Client, connect } from "../../../src/client/client.ts";
import { CallError } from "../../../src/client/connection.ts";
import { makeHasher } from "../../../src/hosts/shared/crypto.ts";
import type { Host } from "../../support/host.ts";
import { startMcpServer, type TestMcpServer, type TestMcpServerOptions } from "../../support/mcp/server.ts";
import { ScriptedModel } from "../../support/models/scripted.ts";
import { startAuthorizationServer, type AuthorizationServerOptions } from "../../support/oauth/authorization-server.ts";
import { ALICE, BOB, populate, ROOT } from "../../support/people.ts";
import { GatewayProcess } from "./gateway.ts";
import { type WatchedProvider, watchTokens } from "./tokens.ts";

export type Page = { status: number; text: string };
export type Failure = { code: number; message: string; details: Record<string, unknown> };
/** How a call ended: null for the failure of one that succeeded. */
export type Outcome<T> = { result: T; failure: null } | { result: null; failure: Failure };
export type McpServer = CallResult<"sys.mcp.add">["server"];

/** A guard: what has not happened by then will not. A busy machine needs a fraction of it. */
const PATIENCE_MS = 20_000;
const LOOK_EVERY_MS = 20;

export class World {
  gateway!: GatewayProcess;
  alice!: Client;
  bob!: Client;
  root!: Client;
  model!: ScriptedModel;
  /** Behaves. */
  good!: TestMcpServer;
  canaryHits = 0;
  canaryUrl = "";
  /** All frames that clients received. */
  readonly frames: string[] = [];
  readonly providers: WatchedProvider[] = [];
  readonly #home: string;
  readonly #closers: (() => unknown)[] = [];
  readonly #allowed = new Set<string>();
  #printedBefore = "";

  static async start(home: string): Promise<World> {
    const world = new World(home);
    try {
      await world.#prepare();
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  private constructor(home: string) {
    this.#home = home;
  }

  get people(): Client[] {
    return [this.alice, this.bob, this.root];
  }

  /** Everybody connects anew, as after a restart. */
  async enter(): Promise<void> {
    [this.alice, this.bob, this.root] = await Promise.all([this.connect(ALICE), this.connect(BOB), this.connect(ROOT)]);
  }

  connect(auth: typeof ALICE): Promise<Client> {
    const { frames, gateway } = this;
    class Recorded extends globalThis.WebSocket {
      constructor(url: string) {
        super(url);
        this.addEventListener("message", ({ data }) => void frames.push(typeof data === "string" ? data : "(bytes)"));
      }
    }
    return connect({ url: gateway.url, auth, reconnect: false, newHash: makeHasher, WebSocket: Recorded });
  }

  /** A server that the gateway may reach. */
  async serve(options?: TestMcpServerOptions): Promise<TestMcpServer> {
    const server = this.keep(await startMcpServer(options));
    await this.allow(server.origin);
    return server;
  }

  async provide(options?: AuthorizationServerOptions): Promise<WatchedProvider> {
    const provider = watchTokens(this.keep(await startAuthorizationServer(options)));
    await this.allow(provider.issuer);
    this.providers.push(provider);
    return provider;
  }

  /** Closes it at the end, if nobody has before. */
  keep<T extends { close(): Promise<void> }>(peer: T): T {
    this.#closers.push(() => peer.close());
    return peer;
  }

  /** Lets the gateway reach this port of this machine. */
  async allow(url: string): Promise<void> {
    this.#allowed.add(new URL(url).host);
    await this.root.call("sys.config.set", { key: "config/net/allowed_hosts", value: [...this.#allowed].join(" ") });
  }

  /** Kills the gateway and starts it again with what is on its disk. */
  async crash(): Promise<void> {
    this.#printedBefore += this.gateway.printed;
    await this.gateway.kill();
    for (const client of this.people) client.close();
    this.gateway = await GatewayProcess.start(this.#home);
    await this.enter();
  }

  /** Everything the gateway printed. */
  get printed(): string {
    return this.#printedBefore + this.gateway.printed;
  }

  /** Adds a server; throws if that fails. */
  async add(by: Client, name: string, url: string, more: Partial<Arguments<"sys.mcp.add">> = {}): Promise<McpServer> {
    return (await by.call("sys.mcp.add", { name, url, callbackHost: this.gateway.url, ...more })).server;
  }

  async serverOf(by: Client, serverId: string): Promise<McpServer | undefined> {
    return (await by.call("sys.mcp.list", {})).servers.find((one) => one.serverId === serverId);
  }

  /** What is stored of sign-ins of everybody. */
  async accounts(): Promise<string> {
    const listed = await Promise.all(this.people.map((one) => one.call("sys.oauth.list", {})));
    return JSON.stringify(listed.map(({ accounts }) => accounts));
  }

  /** All bytes of the gateway's folder, the log among them. */
  readFiles(): { name: string; bytes: Buffer }[] {
    const entries = readdirSync(this.#home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return entries.flatMap(({ parentPath, name }) => {
      const path = join(parentPath, name);
      try {
        return [{ name: path.slice(this.#home.length + 1), bytes: readFileSync(path) }];
      } catch {
        // A segment of the journal that was removed since it was listed.
        return [];
      }
    });
  }

  async close(): Promise<void> {
    for (const client of this.people) client?.close();
    await this.gateway?.stop();
    for (const close of this.#closers.toReversed()) await close();
  }

  async #prepare(): Promise<void> {
    await this.#startCanary();
    this.gateway = await GatewayProcess.start(this.#home);
    const { url, setupCode } = this.gateway;
    await populate({ url, setupCode } as Host);
    await this.enter();
    this.model = this.keep(await ScriptedModel.start());
    await this.model.serve(this.root);
    this.#allowed.add(this.model.provider.host);
    this.good = await this.serve();
  }

  async #startCanary(): Promise<void> {
    const canary: Server = createServer((socket) => {
      this.canaryHits++;
      socket.on("error", () => {}).end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
    });
    await new Promise<void>((resolve) => canary.listen(0, "127.0.0.1", resolve));
    const address = canary.address();
    if (address === null || typeof address === "string") throw new Error("the canary has no port");
    this.canaryUrl = `http://127.0.0.1:${address.port}/canary`;
    this.#closers.push(() => new Promise((resolve) => canary.close(resolve)));
  }
}

export async function outcomeOf<T>(call: Promise<T>): Promise<Outcome<T>> {
  try {
    return { result: await call, failure: null };
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    const { code, message, details } = error;
    return { result: null, failure: { code, message, details: Object(details) as Record<string, unknown> } };
  }
}

export function callTool(
  by: Client,
  serverId: string,
  name: string,
  more: Partial<Arguments<"sys.mcp.call">> = {},
): Promise<Outcome<CallResult<"sys.mcp.call">>> {
  return outcomeOf(by.call("sys.mcp.call", { serverId, name, ...more }));
}

export async function visit(url: string): Promise<Page> {
  const response = await fetch(url, { redirect: "manual" });
  return { status: response.status, text: await response.text() };
}

/** Resolves to false if the condition does not hold in time. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<boolean> {
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end;) {
    if (await condition()) return true;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  return condition();
}

/** Runs the work for all of them, a few at once. */
export async function forEach<T>(all: readonly T[], atOnce: number, work: (one: T) => Promise<void>): Promise<void> {
  const rest = all.values();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const one of rest) await work(one);
    }),
  );
}

/** Whether people may read this: one line, without control characters, and not long. */
export function isClearText(message: string): boolean {
  return message.length > 0 && message.length <= 1_000 && !/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(message);
}
