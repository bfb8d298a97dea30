// What remains of many calls: no sockets, no threads. A call that has ended keeps no connection, even if its server would go on for ever, and
// a server that ends its streams at once is not asked again and again.

import type { ServerResponse } from "node:http";
import { behaveProperly, type HostileMode, messageOf, startHostileServer } from "../../support/mcp/hostile.ts";
import { type LocalServer, readBody, sendJson, startLocalServer } from "../../support/mcp/server.ts";
import type { Bar } from "../bar.ts";
import { callTool, forEach, until, type World } from "./world.ts";

/** Those that end a call at once. */
const QUICK: readonly HostileMode[] = [
  "serverError",
  "answersTwice",
  "closesMidCall",
  "notJson",
  "wrongType",
  "empty",
  "deepJson",
  "prototypeNames",
  "resultAndError",
  "redirectsElsewhere",
  "sseWithoutResult",
  "asksForMore",
];
const CODES = [409, 503, 504];
const ROUNDS = 5;
const AT_ONCE = 8;
const GOOD_PER_ROUND = 3;

export async function tryManyCalls(bar: Bar, world: World, calls: number): Promise<void> {
  const { gateway } = world;
  const hostile = world.keep(await startHostileServer({ elsewhere: world.canaryUrl }));
  await world.allow(hostile.url("hang"));
  const wrong = new Set<string>();
  let done = 0;
  const round = async (count: number) => {
    const servers = [
      ...(await Promise.all(QUICK.map((mode) => world.add(world.alice, mode, hostile.url(mode))))),
      ...(await Promise.all(Array.from({ length: GOOD_PER_ROUND }, (_, at) => world.add(world.alice, `Good ${at}`, world.good.url)))),
    ];
    const order = Array.from({ length: count }, (_, at) => servers[at % servers.length]!);
    await forEach(order, AT_ONCE, async ({ serverId, tools }) => {
      const { failure } = await callTool(world.alice, serverId, tools[0]!.name, { arguments: { text: "x", a: 1, b: 2 }, timeoutMs: 5_000 });
      if (failure !== null && !CODES.includes(failure.code)) wrong.add(`${failure.code} ${failure.message.slice(0, 100)}`);
      done++;
    });
    await Promise.all(servers.map(({ serverId }) => world.alice.call("sys.mcp.remove", { serverId })));
  };
  // The first round loads what stays.
  await round(QUICK.length);
  await until(() => hostile.openSockets === 0 && world.good.openSockets === 0);
  const before = { sockets: gateway.countSockets(), threads: gateway.countThreads() };
  for (let at = 0; at < ROUNDS; at++) await round(Math.ceil(calls / ROUNDS));
  bar.numbers["calls"] = done;
  bar.check("leaks", wrong.size === 0, () => `calls ended with ${[...wrong].slice(0, 5).join(", ")}`);
  bar.check("leaks", await until(() => hostile.openSockets === 0), () => `${hostile.openSockets} sockets to removed hostile servers`);
  bar.check("leaks", await until(() => world.good.openSockets === 0), () => `${world.good.openSockets} sockets to removed servers`);
  bar.check("leaks", world.good.sessions === 0, () => `${world.good.sessions} sessions were not ended`);
  for (const [what, count] of [
    ["sockets", () => gateway.countSockets()],
    ["threads", () => gateway.countThreads()],
  ] as const) {
    const was = before[what];
    bar.check("leaks", await until(() => (count() ?? 0) <= (was ?? 0)), () => `${was} ${what} before, ${count()} after`);
    if (was !== null) bar.numbers[`${what} after`] = Number(count());
  }
  await hostile.close();
}

/** `calls`: how many follow one by one. `socketsMax`: while the server is in use, after the calls have ended. */
type Way = { name: string; add: () => Promise<string>; code: number | null; calls: number; openSockets: () => number; socketsMax: number };

const CALLS_EACH = 8;
/** Meanwhile a stream that is opened again at once is opened many times. */
const CALLS_AFTER = 100;
/** The stream of notifications. */
const SOCKETS_MAX = 1;
/** A stream that ended is opened again, but with a pause. */
const STREAM_EVERY_MS = 450;

/** Servers that keep what they are given, while they are still in use. */
export async function tryLingering(bar: Bar, world: World): Promise<void> {
  const { alice } = world;
  const { server, streams } = await startLingeringServer();
  world.keep(server);
  await world.allow(server.origin);
  const older = await world.serve({ legacySse: true });
  const add = (name: string) => async () => (await world.add(alice, name, `${server.origin}/${name}`)).serverId;
  const addOlder = async () => {
    const { serverId } = await world.add(alice, "older", older.sseUrl, { transport: { type: "sse" } });
    older.authorize = (_, { method }) => (method === "POST" ? new Promise(() => {}) : null);
    return serverId;
  };
  const openSockets = () => server.openSockets;
  // It does not take the words either that a call was given up, for which it has ten seconds.
  const socketsMax = SOCKETS_MAX + CALLS_EACH;
  const ways: Way[] = [
    { name: "it hangs", add: add("hangs"), code: 504, calls: 0, openSockets, socketsMax: SOCKETS_MAX },
    { name: "it leaves its stream open", add: add("opens"), code: null, calls: 0, openSockets, socketsMax: SOCKETS_MAX },
    { name: "its stream ends at once", add: add("ends"), code: null, calls: CALLS_AFTER, openSockets, socketsMax: SOCKETS_MAX },
    { name: "it takes no messages", add: addOlder, code: 504, calls: 0, openSockets: () => older.openSockets, socketsMax },
  ];
  for (const { name, add, code, calls, openSockets, socketsMax } of ways) {
    const serverId = await add();
    const ends = await Promise.all(Array.from({ length: CALLS_EACH }, () => callTool(alice, serverId, TOOL, { timeoutMs: 1_000 })));
    for (let at = 0; at < calls; at++) ends.push(await callTool(alice, serverId, TOOL));
    for (const { failure } of ends)
      bar.check("lingering", (failure?.code ?? null) === code, () => `${name}: ${failure?.code} ${failure?.message}`);
    const isFew = await until(() => openSockets() <= socketsMax);
    bar.check("lingering", isFew, () => `${name}: ${openSockets()} sockets stay open after ${CALLS_EACH} calls have ended`);
    await alice.call("sys.mcp.remove", { serverId });
    bar.check("lingering", await until(() => openSockets() === 0), () => `${name}: ${openSockets()} sockets after it was removed`);
  }
  const streamsMax = 2 + (performance.now() - streams.since) / STREAM_EVERY_MS;
  bar.check("lingering", streams.count <= streamsMax, () => `a stream that ends at once was opened ${streams.count} times`);
  await server.close();
}

/** Both servers have one of this name. */
const TOOL = "echo";

async function startLingeringServer(): Promise<{ server: LocalServer; streams: { count: number; since: number } }> {
  const streams = { count: 0, since: performance.now() };
  const server = await startLocalServer(async (request, response) => {
    const message = messageOf(await readBody(request));
    const isCall = message.method === "tools/call";
    if (isCall && request.url === "/hangs") return;
    if (isCall && request.url === "/opens") {
      openEvents(response);
      response.write(
        `data: ${JSON.stringify({ jsonrpc: "2.0", id: message.id, result: { content: [{ type: "text", text: "ok" }] } })}\n\n`,
      );
      return;
    }
    if (request.method === "GET" && request.url === "/ends") {
      if (streams.count++ === 0) streams.since = performance.now();
      openEvents(response);
      response.end("retry: 0\ndata:\n\n");
      return;
    }
    if (message.method !== "tools/list") return behaveProperly(request, response, message);
    const tools = [{ name: TOOL, description: "does something", inputSchema: { type: "object" } }];
    sendJson(response, 200, { jsonrpc: "2.0", id: message.id, result: { tools } });
  });
  return { server, streams };
}

function openEvents(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
}
