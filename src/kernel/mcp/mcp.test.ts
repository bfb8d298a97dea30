// Connections, sign-ins and their ends where order matters: in virtual time, against servers on loopback. What people and agents see of MCP
// is in test/conformance/cases/mcp.ts.

import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Agenda, MemoryClock, memoryCrypto, MemorySql, memoryVitals, Random, silentMeter } from "../../../test/support/memory-ports.ts";
import { sendJson, startMcpServer, type TestMcpServer } from "../../../test/support/mcp/server.ts";
import { protectedResource, signIn, startAuthorizationServer } from "../../../test/support/oauth/authorization-server.ts";
import { deferred } from "../../lib/deferred.ts";
import { NetError, type NetOptions, type NetRequest } from "../../ports/net.ts";
import type { Ports } from "../../ports/ports.ts";
import type { Caller } from "../../protocol/caller.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { makeConfigDefaults } from "../defaults.ts";
import type { NewOAuthAccount } from "../nouns/oauth-accounts.ts";
import { OAuth } from "../oauth/oauth.ts";
import { Store } from "../store.ts";
import { Mcp } from "./mcp.ts";

const NOW = Date.parse("2026-11-19T08:00:00Z");
const FRESH_MS = 5_000;
const IDLE_MS = 10 * 60_000;
const ANN = { uid: 1000, gids: [1000], capabilities: ["*"], connectionId: "c1" } as unknown as Caller;
const AGENT = { ...ANN, agent: { pid: "p1" } } as unknown as Caller;
const GATEWAY = "http://127.0.0.1:9";
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
  const oauth = new OAuth(store, () => [GATEWAY]);
  const mcp = new Mcp(store, oauth);
  const get = (serverId: string) => store.reads.mcpServers.get(serverId, store.reads.now)!;
  /** What the browser of the person does. */
  const returnFromPage = async (serverId: string) => {
    const outcome = await oauth.finish(new URL(await signIn(get(serverId).authUrl!)).searchParams, GATEWAY);
    mcp.onSignInEnded(outcome);
    return outcome;
  };
  return {
    mcp,
    get,
    returnFromPage,
    async signIn(serverId: string): Promise<void> {
      expect(await returnFromPage(serverId)).toMatchObject({ ok: true });
      await expect.poll(() => store.reads.mcpServers.isReady(serverId)).toBe(true);
    },
    store,
    /** Lets virtual time pass. */
    pass(ms: number): void {
      const until = agenda.now + ms;
      for (let item = agenda.take(until); item !== undefined; item = agenda.take(until)) item.run();
    },
    changes: (serverId: string) => get(serverId).changes.map(({ name }) => name),
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

const call = (serverId: string, name = "echo", caller = ANN) =>
  world.mcp.call(caller, { serverId, name, arguments: { text: "hi" } }, never);

test("calls in parallel after the server has lost its sessions are all sent again, after one handshake", async () => {
  const serverId = await add();
  await call(serverId);
  server.endSessions();
  const handshakes = () => server.requests.filter(({ body }) => body.includes('"initialize"')).length;
  const [before, calls] = [handshakes(), server.calls.length];
  await Promise.all(Array.from({ length: 8 }, () => call(serverId)));
  expect([handshakes() - before, server.calls.length - calls]).toEqual([1, 8]);
  await expect.poll(() => server.sessions).toBe(1);
});

test("nothing connects again to a server that is removed while a call runs", async () => {
  const serverId = await add();
  const slow = world.mcp.call(ANN, { serverId, name: "slow", arguments: { ms: 60_000 } }, never).catch((error: unknown) => error);
  await expect.poll(() => server.running).toBe(1);
  const others = Promise.allSettled([call(serverId), call(serverId)]);
  expect(await world.mcp.remove(ANN, undefined, serverId)).toBe(true);
  expect(await slow).toMatchObject({ code: 503, details: { outcome: "unknown" } });
  await others;
  await expect.poll(() => [server.sessions, server.streams]).toEqual([0, 0]);
});

test("a refresh does not end the calls that run", async () => {
  const serverId = await add();
  const slow = world.mcp.call(ANN, { serverId, name: "slow", arguments: { ms: 300 } }, never);
  await expect.poll(() => server.running).toBe(1);
  await world.mcp.refresh(ANN, { serverId }, never);
  expect(await slow).toMatchObject({ content: [{ type: "text" }] });
  await expect.poll(() => server.sessions).toBe(1);
});

test("two who add the same server at once get the same one", async () => {
  const args = { name: "Test", url: server.url };
  const [one, other] = await Promise.all([world.mcp.add(ANN, args, never), world.mcp.add(ANN, args, never)]);
  expect(one).toEqual(other);
  expect(one.state).toBe("ready");
});

test("the tools of a server that an agent adds wait for a person", async () => {
  const added = await world.mcp.add(AGENT, { name: "Test", url: server.url }, never);
  expect([added.state, added.tools, added.changes.map(({ kind }) => kind)]).toEqual(["ready", [], ["new", "new", "new", "new"]]);
  await expect(call(added.serverId)).rejects.toMatchObject({ code: 409 });
  await world.mcp.accept(ANN, { serverId: added.serverId, tools: added.changes });
  await call(added.serverId);
});

test("functions are those of servers that are ready, also while one is connected again", async () => {
  const serverId = await add();
  const countFunctions = () => world.mcp.functionsFor(ANN).length;
  expect(countFunctions()).toBe(8);
  server.endSessions();
  const refreshed = world.mcp.refresh(ANN, { serverId }, never);
  expect(countFunctions()).toBe(8);
  await refreshed;
  expect(countFunctions()).toBe(8);
});

/** A permission, with the question that it came from. */
function allow(target: string, call = "sys.mcp.call", args: Record<string, unknown> = {}): void {
  const now = NOW;
  const id = `${target} ${JSON.stringify(args)}`;
  const rest = { uid: 1000, pid: "p1", digest: id, target };
  world.store.write(({ approvals }) => {
    approvals.addQuestion({
      ...rest,
      requestId: `question ${id}`,
      kind: "call",
      runId: "r1",
      conversationId: "default",
      callId: "c1",
      toolName: "MCP",
      syscall: call,
      args,
      cwd: "/home/ann",
      tags: [],
      why: "",
      createdAt: now,
      expiresAt: now + IDLE_MS,
    });
    approvals.addGrant({
      ...rest,
      grantId: `grant ${id}`,
      requestId: `question ${id}`,
      call,
      scope: "tool",
      folder: null,
      tags: [],
      madeAt: now,
      expiresAt: now + IDLE_MS,
      revokedAt: null,
    });
  });
}

test("a tool that has changed keeps its function, whose call says why it is refused", async () => {
  const serverId = await add();
  const names = () => world.mcp.functionsFor(ANN).map(({ functionName }) => functionName);
  const before = names().toSorted();
  announceChange("says something else");
  await world.mcp.refresh(ANN, { serverId }, never);
  expect(world.changes(serverId)).toEqual(["echo"]);
  expect(names().toSorted()).toEqual(before);
  await expect(call(serverId)).rejects.toMatchObject({
    code: 409,
    message: expect.stringMatching(/has changed since it was accepted/) as string,
  });
});

test("a server that has failed is tried again when a run starts, but not more often than once a minute", async () => {
  const { serverId } = await world.mcp.add(ANN, { name: "Test", url: `${server.url}?broken` }, never);
  const attempts = () => server.requests.filter(({ path, body }) => path.endsWith("?broken") && body.includes('"initialize"')).length;
  const isTried = (count: number) => expect.poll(() => [attempts(), world.get(serverId).error]).toEqual([count, expect.any(String)]);
  server.authorize = (_, { url = "" }) => (url.endsWith("?broken") ? { status: 403, wwwAuthenticate: "" } : null);
  await world.mcp.refresh(ANN, { serverId }, never);
  const refused = attempts();
  world.mcp.retryFailed(1000);
  await isTried(refused + 1);
  world.mcp.retryFailed(1000);
  // A try would reach the server before this one is added.
  await world.mcp.add(ANN, { name: "Other", url: server.url }, never);
  expect(attempts()).toBe(refused + 1);
  world.pass(60_000);
  world.mcp.retryFailed(1000);
  await isTried(refused + 2);
});

test("what was allowed beforehand ends when a change of the tool is accepted, and with its server", async () => {
  const serverId = await add();
  const grants = () => world.store.reads.approvals.grantsOfUser(1000, NOW).map(({ target }) => target);
  for (const name of ["echo", "add"]) allow(`${name} of Test (${server.url})`);
  allow("laptop", "shell.exec");
  announceChange("says something else");
  const refreshed = await world.mcp.refresh(ANN, { serverId }, never);
  expect(grants()).toHaveLength(3);
  await world.mcp.accept(ANN, { serverId, tools: refreshed!.changes });
  expect(grants().toSorted()).toEqual([`add of Test (${server.url})`, "laptop"]);
  await world.mcp.remove(ANN, undefined, serverId);
  expect(grants()).toEqual(["laptop"]);
});

test("commands that may call a tool and were allowed beforehand are asked about again when it changes", async () => {
  const serverId = await add();
  const ids = () => world.store.reads.approvals.grantsOfUser(1000, NOW).map(({ digest }) => digest);
  allow("gsv", "shell.exec", { input: "mcp call Test echo --arg text=hi" });
  allow("gsv", "shell.exec", { input: "ls" });
  allow("laptop", "shell.exec", { input: "mcp call Test echo" });
  announceChange("says something else");
  const refreshed = await world.mcp.refresh(ANN, { serverId }, never);
  await world.mcp.accept(ANN, { serverId, tools: refreshed!.changes });
  expect(ids().toSorted()).toEqual(['gsv {"input":"ls"}', 'laptop {"input":"mcp call Test echo"}']);
});

test("a caller who goes away while a server is added or refreshed gets a clear error, and another who waits gets the server", async () => {
  const gone = new AbortController();
  const hold = deferred<null>();
  const asked = deferred();
  server.authorize = () => (asked.resolve(), hold.promise);
  const first = world.mcp.add(ANN, { name: "Test", url: server.url }, gone.signal);
  const second = world.mcp.add(ANN, { name: "Test", url: server.url }, never);
  await asked.promise;
  gone.abort(new Error("The caller has gone"));
  await expect(first).rejects.toMatchObject({ name: "SysError", code: 503 });
  hold.resolve(null);
  const { serverId, state } = await second;
  expect(state).toBe("ready");

  const held = deferred<null>();
  const askedAgain = deferred();
  // The old session ends at once.
  server.authorize = (_, { method }) => (method === "DELETE" ? null : (askedAgain.resolve(), held.promise));
  const leaving = new AbortController();
  const refreshed = world.mcp.refresh(ANN, { serverId }, leaving.signal);
  await askedAgain.promise;
  leaving.abort(new Error("The caller has gone"));
  expect(await refreshed).toMatchObject({ serverId, error: null });
  server.authorize = null;
  held.resolve(null);
});

function makeAccount(accountKey: string): NewOAuthAccount {
  return {
    uid: 1000,
    kind: "generic",
    provider: "https://p.example",
    accountKey,
    label: null,
    scope: null,
    resource: null,
    tokenEndpoint: "https://p.example/token",
    clientId: "gsv",
    tokenType: "Bearer",
    expiresAt: null,
    secrets: { accessToken: "t", refreshToken: null, clientSecret: null, tokenAuth: "none" },
    metadata: {},
  };
}

describe("a server that wants a sign-in", () => {
  let provider: Awaited<ReturnType<typeof startAuthorizationServer>>;

  beforeEach(async () => {
    provider = await startAuthorizationServer({ scopes: ["read", "write"] });
    protectedResource(server, provider);
  });

  afterEach(() => provider.close());

  async function addWithSignIn(): Promise<string> {
    const { serverId } = await world.mcp.add(ANN, { name: "Test", url: server.url }, never);
    await world.signIn(serverId);
    return serverId;
  }

  test("keeps the page on which its owner is, whoever calls meanwhile, until a new one is asked for", async () => {
    const { serverId, authUrl } = await world.mcp.add(ANN, { name: "Test", url: server.url }, never);
    for (let at = 0; at < 3; at++) await expect(call(serverId)).rejects.toMatchObject({ code: 409 });
    expect(world.get(serverId).authUrl).toBe(authUrl);
    const refreshed = await world.mcp.refresh(ANN, { serverId }, never);
    expect(refreshed?.authUrl).toMatch(/^http/);
    expect(refreshed?.authUrl).not.toBe(authUrl);
    await world.signIn(serverId);
    await call(serverId);
  });

  test("has a page if it refuses a token that has just been renewed", async () => {
    const serverId = await addWithSignIn();
    const { authorize } = server;
    server.authorize = () => ({ status: 401, wwwAuthenticate: "Bearer" });
    await expect(call(serverId)).rejects.toMatchObject({ code: 409, message: expect.stringMatching(/wants a sign-in/) as string });
    expect(world.get(serverId)).toMatchObject({ state: "authenticating", authUrl: expect.stringMatching(/^http/) as string });
    server.authorize = authorize;
    await world.signIn(serverId);
    await call(serverId);
  });

  test("goes on working with the rights it has while it wants more", async () => {
    const serverId = await addWithSignIn();
    const { authorize } = server;
    server.authorize = () => ({ status: 403, wwwAuthenticate: 'Bearer error="insufficient_scope", scope="write delete"' });
    await expect(call(serverId)).rejects.toMatchObject({ code: 409, message: expect.stringMatching(/more rights/) as string });
    server.authorize = authorize;
    const { state, tools, authUrl } = world.get(serverId);
    expect([state, tools.length, authUrl]).toEqual(["ready", 4, expect.stringMatching(/^http/)]);
    world.pass(FRESH_MS);
    await call(serverId);
    expect(world.get(serverId).authUrl).toBe(authUrl);
  });

  test("whose sign-in cannot be stored says so, and offers no page that is used up", async () => {
    const { serverId } = await world.mcp.add(ANN, { name: "Test", url: server.url }, never);
    world.store.write(({ oauthAccounts, now }) => {
      for (let at = 0; at < 200; at++) oauthAccounts.put(makeAccount(`full ${at}`), now);
    });
    const outcome = await world.returnFromPage(serverId);
    expect(outcome).toMatchObject({ ok: false, message: expect.stringMatching(/^Too many accounts.*Nothing was stored/) as string });
    const { state, authUrl, error } = world.get(serverId);
    expect([state, authUrl, error]).toEqual(["authenticating", null, expect.stringMatching(/Too many accounts/)]);
  });

  test("gives a registered client only to the provider of its first sign-in", async () => {
    const client = { client_id: "gsv", client_secret: "top secret", redirect_uris: [`${GATEWAY}/oauth/callback`] };
    const [known, other] = await Promise.all([
      startAuthorizationServer({ clients: [client] }),
      startAuthorizationServer({ clients: [client] }),
    ]);
    protectedResource(server, known);
    const oauth = { clientId: "gsv", clientSecret: "top secret" };
    const { serverId } = await world.mcp.add(ANN, { name: "Test", url: server.url, oauth }, never);
    await world.signIn(serverId);
    protectedResource(server, other);
    const refreshed = await world.mcp.refresh(ANN, { serverId }, never);
    expect(refreshed).toMatchObject({ authUrl: null, error: expect.stringContaining(`is one of ${known.issuer}`) as string });
    expect(other.tokenRequests).toEqual([]);
    await Promise.all([known.close(), other.close()]);
  });

  test("is not called with a tool that nobody has listed", async () => {
    const serverId = await addWithSignIn();
    await call(serverId);
    world.store.write(({ mcpServers, now }) => mcpServers.recordSignIn(serverId, null, null, now));
    const count = server.calls.length;
    await expect(call(serverId, "hidden")).rejects.toMatchObject({ code: 404 });
    expect(server.calls.length).toBe(count);
  });

  test("is refused if what its sign-in page returns would be sent to another host that nobody named", async () => {
    const endpoints = { authorization_endpoint: "https://login.example/authorize", token_endpoint: "https://evil.example/token" };
    const answer = (document: object) => (_: unknown, response: ServerResponse) => sendJson(response, 200, document);
    const pkce = { response_types_supported: ["code"], code_challenge_methods_supported: ["S256"] };
    server.routes.set(
      "/.well-known/oauth-protected-resource/mcp",
      answer({ resource: server.url, authorization_servers: [server.origin] }),
    );
    server.routes.set("/.well-known/oauth-authorization-server", answer({ issuer: server.origin, ...endpoints, ...pkce }));
    const adding = (oauth: object) => world.mcp.add(ANN, { name: "Test", url: server.url, oauth: { clientId: "gsv", ...oauth } }, never);
    await expect(adding({})).rejects.toMatchObject({
      message: expect.stringMatching(/page is at login\.example, but what you get there would be sent to evil\.example/) as string,
    });
    await expect(adding({ tokenHost: "other.example" })).rejects.toMatchObject({ code: 503 });
    expect(world.store.reads.mcpServers.list(1000, NOW)).toEqual([]);
    expect(await adding({ tokenHost: "evil.example" })).toMatchObject({ state: "authenticating" });
  });
});
