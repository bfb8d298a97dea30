// When tools are read again: in virtual time, against a server on loopback. Everything else of MCP is in test/conformance/cases/mcp.ts.

import { afterEach, beforeEach, expect, test } from "vitest";
import { Agenda, MemoryClock, memoryCrypto, MemorySql, memoryVitals, Random, silentMeter } from "../../../test/support/memory-ports.ts";
import { startMcpServer, type TestMcpServer } from "../../../test/support/mcp/server.ts";
import { NetError, type NetOptions, type NetRequest } from "../../ports/net.ts";
import type { Ports } from "../../ports/ports.ts";
import type { Caller } from "../../protocol/caller.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { makeConfigDefaults } from "../defaults.ts";
import { OAuth } from "../oauth/oauth.ts";
import { Store } from "../store.ts";
import { Mcp } from "./mcp.ts";

const NOW = Date.parse("2026-11-19T08:00:00Z");
const FRESH_MS = 5_000;
const IDLE_MS = 10 * 60_000;
const ANN = { uid: 1000, gids: [1000], capabilities: ["*"], connectionId: "c1" } as unknown as Caller;
const never = new AbortController().signal;

let server: TestMcpServer;
let world: ReturnType<typeof makeWorld>;

beforeEach(async () => {
  server = await startMcpServer();
  world = makeWorld();
});

afterEach(async () => {
  for (const { serverId } of world.store.reads.mcpServers.list(1000, NOW)) await world.mcp.remove(ANN, undefined, serverId);
  await server.close();
});

function makeWorld() {
  const agenda = new Agenda(new Random("mcp"), NOW);
  const sql: MemorySql = new MemorySql((batch) => queueMicrotask(() => batch === "open" && sql.commit()));
  const clock = new MemoryClock(agenda, () => {
    store.onWake();
    mcp.onWake(store.reads.now);
    store.wakeBy(mcp.nextDueAt());
  });
  const ports = {
    sql,
    clock,
    crypto: memoryCrypto(new Random("mcp")),
    log: { debug() {}, info() {}, warn() {}, error() {} },
    net: { fetch: fetchLoopback },
    sockets: { list: () => [], peer: () => undefined },
    meter: silentMeter,
    vitals: memoryVitals(),
  } as unknown as Ports;
  const about = { version: "1", host: "memory", startedAt: NOW, limits: LIMITS } as const;
  const store = new Store(ports, about, makeConfigDefaults({ version: "1", model: { provider: "demo", model: "demo" } }));
  store.write(({ accounts }) => accounts.add({ username: "ann", hash: "$x" }, NOW));
  const mcp = new Mcp(store, new OAuth(store, () => []));
  return {
    mcp,
    store,
    /** Lets virtual time pass. */
    pass(ms: number): void {
      const until = agenda.now + ms;
      for (let item = agenda.take(until); item !== undefined; item = agenda.take(until)) item.run();
    },
    changes: (serverId: string) => store.reads.mcpServers.get(serverId, store.reads.now)?.changes.map(({ name }) => name),
  };
}

async function fetchLoopback({ url, method, headers, body }: NetRequest, { signal = never }: NetOptions = {}) {
  try {
    const sent = body === undefined ? {} : { body: body as Uint8Array<ArrayBuffer> };
    const answer = await fetch(url, { method, headers, signal, redirect: "manual", ...sent });
    return { status: answer.status, headers: Object.fromEntries(answer.headers), url, body: answer.body ?? new Blob([]).stream() };
  } catch (error) {
    throw new NetError(signal.aborted ? "aborted" : "connect", String(error));
  }
}

async function add(): Promise<string> {
  const { serverId } = await world.mcp.add(ANN, { name: "Test", url: server.url }, never);
  await expect.poll(() => server.streams).toBe(1);
  return serverId;
}

function countListings(): number {
  return server.requests.filter(({ body }) => body.includes('"tools/list"')).length;
}

function announceChange(description: string): void {
  server.tools = server.tools.map((tool) => (tool.name === "echo" ? { ...tool, description } : tool));
  server.announceToolsChanged();
}

test("a change that a server announces is read without a call", async () => {
  const serverId = await add();
  expect(world.changes(serverId)).toEqual([]);
  announceChange("says something else");
  await expect
    .poll(() => {
      world.pass(FRESH_MS);
      return world.changes(serverId);
    })
    .toEqual(["echo"]);
});

test("a server that announces changes without end is asked once in five seconds, and loses its connection when nobody uses it", async () => {
  await add();
  const before = countListings();
  let passes = 0;
  const pass = () => {
    world.pass(FRESH_MS);
    passes++;
  };
  for (let at = 0; at < 50; at++) announceChange(`number ${at}`);
  await expect
    .poll(() => {
      pass();
      return countListings();
    })
    .toBeGreaterThan(before);
  for (let at = 0; at * FRESH_MS < IDLE_MS; at++) {
    announceChange(`later ${at}`);
    pass();
  }
  await expect
    .poll(() => {
      pass();
      return server.sessions;
    })
    .toBe(0);
  expect(countListings() - before).toBeLessThanOrEqual(passes);
});
