// MCP servers: the real server-everything over both transports, and one of ours whose tools and answers change.

import { expect } from "vitest";
import type { CallResult } from "../../../src/client/connection.ts";
import type { Client } from "../../../src/client/client.ts";
import { startEverything } from "../../support/mcp/everything.ts";
import { startMcpServer, type TestMcpServer, type TestMcpServerOptions } from "../../support/mcp/server.ts";
import {
  protectedResource,
  signIn,
  startAuthorizationServer,
  type TestAuthorizationServer,
} from "../../support/oauth/authorization-server.ts";
import { says, wants } from "../../support/models/scripted.ts";
import { type Stage, stages } from "../stage.ts";
import { expectRefusal, refusal } from "../verifies.ts";

type Server = CallResult<"sys.mcp.list">["servers"][number];
type Peers = Stage & {
  mcp: (options?: TestMcpServerOptions) => Promise<TestMcpServer>;
  provider: (options?: Parameters<typeof startAuthorizationServer>[0]) => Promise<TestAuthorizationServer>;
  add: (client: Client, url: string, more?: Record<string, unknown>) => Promise<Server>;
  serverOf: (client: Client, serverId: string) => Promise<Server>;
  /** Follows a sign-in to its end; returns the text of the page that the person sees. */
  finish: (authUrl: string) => Promise<{ status: number; text: string }>;
};

/** Registers a case with peers on this machine that the gateway may reach. */
export function withPeers(id: string, body: (peers: Peers) => Promise<void>): void {
  stages(id, async (stage) => {
    const open: { close(): Promise<void> }[] = [];
    const keep = <T extends { close(): Promise<void> }>(peer: T): T => {
      open.push(peer);
      return peer;
    };
    await stage.set("config/net/allowed_hosts", "127.0.0.1 localhost");
    const added: { client: Client; serverId: string }[] = [];
    try {
      await body({
        ...stage,
        mcp: async (options) => keep(await startMcpServer(options)),
        provider: async (options) => keep(await startAuthorizationServer(options)),
        async add(client, url, more = {}) {
          const { server } = await client.call("sys.mcp.add", { name: "Test", url, callbackHost: stage.world.host.url, ...more });
          added.push({ client, serverId: server.serverId });
          return server;
        },
        async somebody() {
          const person = await stage.somebody();
          // Serving the model to a new user lists only the model's own host.
          await stage.root.call("sys.config.set", { key: "config/net/allowed_hosts", value: "127.0.0.1 localhost" });
          return person;
        },
        serverOf,
        finish: async (authUrl) => visit(await signIn(authUrl)),
      });
    } finally {
      for (const { client, serverId } of added) await client.call("sys.mcp.remove", { serverId }).catch(() => {});
      for (const peer of open) await peer.close();
    }
  });
}

export async function visit(url: string): Promise<{ status: number; text: string }> {
  const response = await fetch(url, { redirect: "manual" });
  return { status: response.status, text: await response.text() };
}

async function serverOf(client: Client, serverId: string): Promise<Server> {
  const { servers } = await client.call("sys.mcp.list", {});
  const found = servers.find((server) => server.serverId === serverId);
  if (found === undefined) throw new Error(`no server ${serverId}`);
  return found;
}

const isReady = (client: Client, serverId: string) =>
  expect.poll(async () => (await serverOf(client, serverId)).state, { timeout: 10_000 }).toBe("ready");

withPeers("sys.mcp.add:everything", async ({ ann, add }) => {
  for (const [transport, types] of [
    ["streamableHttp", ["auto", "streamable-http"]],
    ["sse", ["auto", "sse"]],
  ] as const) {
    const everything = await startEverything(transport);
    try {
      for (const type of types) {
        const server = await add(ann, everything.url, { name: `${transport} ${type}`, transport: { type } });
        expect(server).toMatchObject({ state: "ready", authUrl: null, error: null, changes: [], uid: ann.session.identity.process.uid });
        expect(server.tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["echo", "get-sum"]));
        expect([server.resourceCount > 0, server.promptCount > 0]).toEqual([true, true]);
        const { serverId } = server;
        const { content } = await ann.call("sys.mcp.call", { serverId, name: "echo", arguments: { message: "hi" } });
        expect(content).toEqual([{ type: "text", text: "Echo: hi" }]);
        await ann.call("sys.mcp.remove", { serverId });
      }
    } finally {
      await everything.close();
    }
  }
});

withPeers("sys.mcp.add:validates", async ({ ann }) => {
  const url = "https://mcp.example/mcp";
  const add = (args: object) => ann.call("sys.mcp.add", { name: "x", url, ...args });
  await expectRefusal(add({ name: " " }), 400, /name must be 1-80 characters/);
  await expectRefusal(add({ name: "x".repeat(81) }), 400, /name must be 1-80 characters/);
  await expectRefusal(add({ name: "a\nb" }), 400, /control characters/);
  await expectRefusal(add({ url: "http://mcp.example/mcp" }), 400, "url must use https, except localhost development URLs");
  await expectRefusal(add({ url: "https://user:pass@mcp.example/" }), 400, "url must not include credentials");
  await expectRefusal(add({ url: "mcp.example" }), 400, "url must be an absolute URL");
  await expectRefusal(add({ callbackHost: "https://gsv.example/path" }), 400, "callbackHost must be a URL origin");
  await expectRefusal(add({ callbackHost: "https://elsewhere.example" }), 400, /redirectUri must be \/oauth\/callback of this gateway/);
  await expectRefusal(add({ transport: { type: "stdio" } }), 400, /transport.type must be auto, streamable-http, or sse/);
  await expectRefusal(add({ transport: { headers: { a: 1 } } }), 400, /transport.headers values must be strings/);
  await expectRefusal(add({ transport: { headers: { "a b": "1" } } }), 400, /transport.headers names/);
  await expectRefusal(ann.call("sys.mcp.call", { serverId: "", name: "x" }), 400, /serverId is required/);
  expect((await ann.call("sys.mcp.list", {})).servers).toEqual([]);
});

withPeers("sys.mcp.add:same", async ({ ann, mcp, add }) => {
  const peer = await mcp();
  const first = await add(ann, peer.url);
  const again = await add(ann, peer.url);
  expect(again.serverId).toBe(first.serverId);
  expect(peer.requests.filter(({ body }) => body.includes('"initialize"'))).toHaveLength(1);
  const other = await add(ann, peer.url, { name: "Other" });
  expect(other.serverId).not.toBe(first.serverId);
  expect((await ann.call("sys.mcp.list", {})).servers.map(({ name }) => name)).toEqual(["Other", "Test"]);
});

withPeers("sys.mcp.add:fails", async ({ ann, mcp, add }) => {
  const peer = await mcp({
    routes: { "/page": (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<p>hi</p>") },
  });
  await expectRefusal(add(ann, `${peer.origin}/page`), 503, /^[A-Z]/);
  await expectRefusal(add(ann, `${peer.origin}/nothing`), 503, /^There is no MCP server at this address \(HTTP 404\)/);
  await peer.close();
  await expectRefusal(add(ann, peer.url), 503, /^[A-Z]/);
  expect((await ann.call("sys.mcp.list", {})).servers).toEqual([]);
});

withPeers("sys.mcp.add:egress", async ({ ann, mcp, set, add }) => {
  const peer = await mcp();
  await set("config/net/allowed_hosts", "");
  await expectRefusal(add(ann, peer.url), 503, /loopback address.*config\/net\/allowed_hosts/);
  expect(peer.requests).toEqual([]);
});

withPeers("sys.mcp.add:headers", async ({ ann, mcp, add }) => {
  const peer = await mcp();
  const headers = { "X-Api-Key": "key-3141", Authorization: "Bearer fixed-2718" };
  const server = await add(ann, peer.url, { transport: { headers } });
  expect(server.headers.toSorted()).toEqual(["Authorization", "X-Api-Key"]);
  expect(JSON.stringify(server)).not.toMatch(/3141|2718/);
  await ann.call("sys.mcp.call", { serverId: server.serverId, name: "echo", arguments: { text: "x" } });
  const messages = peer.requests.filter(({ path }) => path === "/mcp");
  expect(messages.every(({ headers: sent }) => sent["x-api-key"] === "key-3141")).toBe(true);
  expect(peer.calls.at(-1)?.authorization).toContain("fixed-2718");
});

withPeers("sys.mcp.add:sign-in", async ({ ann, mcp, provider, add, finish }) => {
  const peer = await mcp();
  const auth = await provider();
  protectedResource(peer, auth);
  const { serverId, ...server } = await add(ann, peer.url);
  expect(server).toMatchObject({ state: "authenticating", tools: [], error: null });
  const page = new URL(server.authUrl!);
  expect(Object.fromEntries(page.searchParams)).toMatchObject({ response_type: "code", code_challenge_method: "S256", resource: peer.url });
  await expectRefusal(ann.call("sys.mcp.call", { serverId, name: "echo" }), 409, /wants a sign-in: open Integrations/);
  const { authUrl } = await serverOf(ann, serverId);
  const shown = await finish(authUrl!);
  expect([shown.status, shown.text]).toEqual([200, expect.stringMatching(/signed in to Test, an MCP server.*close this window/s)]);
  await isReady(ann, serverId);
  expect((await serverOf(ann, serverId)).tools.length).toBeGreaterThan(0);
  const { content } = await ann.call("sys.mcp.call", { serverId, name: "echo", arguments: { text: "in" } });
  expect(content).toEqual([{ type: "text", text: "in" }]);
  const { accounts } = await ann.call("sys.oauth.list", {});
  expect(accounts).toMatchObject([
    { kind: "mcp-server", provider: auth.issuer, label: "Test", state: "active", usedBy: ["Test"], resource: peer.url },
  ]);
  // A second server that is declined stays as it is, and says why.
  const declined = await add(ann, peer.url, { name: "Declined" });
  auth.isDeclining = true;
  expect(await finish(declined.authUrl!)).toMatchObject({ status: 400, text: expect.stringContaining("access_denied") });
  expect(await serverOf(ann, declined.serverId)).toMatchObject({
    state: "authenticating",
    error: expect.stringContaining("refused the sign-in"),
  });
});

withPeers("sys.mcp.add:registered", async ({ ann, mcp, provider, add, finish, world }) => {
  const client = {
    client_id: "gsv-registered",
    client_secret: "secret-secret-secret-secret-secret-secret",
    redirect_uris: [`${world.host.url}/oauth/callback`],
    token_endpoint_auth_method: "client_secret_basic",
  };
  const auth = await provider({ mayRegister: false, clients: [client] });
  const peer = await mcp();
  protectedResource(peer, auth);
  await expectRefusal(add(ann, peer.url), 503, /registered beforehand/);
  const server = await add(ann, peer.url, { oauth: { clientId: client.client_id, clientSecret: client.client_secret } });
  expect(JSON.stringify(server)).not.toContain("secret-secret");
  await finish(server.authUrl!);
  await isReady(ann, server.serverId);
  expect(auth.tokenRequests).toMatchObject([{ clientId: "gsv-registered", isGranted: true }]);
});

withPeers("sys.mcp.add:agents", async ({ ann, mcp, add, spawn, model }) => {
  const peer = await mcp();
  const { serverId } = await add(ann, peer.url);
  const agent = await spawn();
  const commands = [`mcp remove ${serverId}`, `mcp add Evil ${peer.url}`, `mcp accept ${serverId}`];
  for (const [at, input] of commands.entries()) {
    model.on(`Try ${at}.`, wants(["Shell", { target: "gsv", input }]), says("Tried."));
    const runId = await agent.say(`Try ${at}.`);
    const question = await agent.asked(at + 1);
    expect(question).toMatchObject({ syscall: "shell.exec", args: { input } });
    await agent.answer(question.requestId, "deny");
    await agent.finished(runId);
  }
  expect((await ann.call("sys.mcp.list", {})).servers.map((server) => server.serverId)).toEqual([serverId]);
  // Even an approved command cannot accept for a person.
  peer.tools = peer.tools.map((tool) => ({ ...tool, description: `${tool.description} changed` }));
  await ann.call("sys.mcp.refresh", { serverId });
  model.on("Accept.", wants(["Shell", { target: "gsv", input: `mcp accept ${serverId}` }]), says("Tried."));
  const runId = await agent.say("Accept.");
  const question = await agent.asked(commands.length + 1);
  await agent.answer(question.requestId, "approve");
  await agent.finished(runId);
  expect((await serverOf(ann, serverId)).changes.length).toBeGreaterThan(0);
});

withPeers("sys.mcp.list:own", async ({ ann, root, uid, somebody, mcp, add }) => {
  const peer = await mcp();
  const { serverId } = await add(ann, peer.url);
  const other = await somebody();
  expect((await other.call("sys.mcp.list", {})).servers).toEqual([]);
  await expectRefusal(other.call("sys.mcp.list", { uid }), 403, "Permission denied: cannot list MCP servers for another user");
  const absent = await refusal(other.call("sys.mcp.call", { serverId: "aaaaaaaa", name: "echo" }));
  for (const call of ["sys.mcp.call", "sys.mcp.prompt.get"] as const)
    expect(await refusal(other.call(call, { serverId, name: "echo" }))).toEqual(absent);
  expect(await refusal(other.call("sys.mcp.resource.read", { serverId, uri: "test://greeting" }))).toEqual(absent);
  expect(await refusal(other.call("sys.mcp.accept", { serverId, tools: [{ name: "echo", hash: "x" }] }))).toEqual(absent);
  expect(await other.call("sys.mcp.remove", { serverId })).toEqual({ removed: false });
  expect(await other.call("sys.mcp.refresh", { serverId })).toEqual({ server: null });
  await expectRefusal(other.call("sys.mcp.call", { uid, serverId, name: "echo" }), 403, /for another user/);
  expect((await root.call("sys.mcp.list", {})).servers).toEqual([]);
  expect((await root.call("sys.mcp.list", { uid })).servers.map((server) => server.serverId)).toEqual([serverId]);
  expect(await root.call("sys.mcp.call", { uid, serverId, name: "echo", arguments: { text: "r" } })).toMatchObject({
    content: [{ text: "r" }],
  });
});

withPeers("sys.mcp.remove:all", async ({ ann, mcp, provider, add, finish }) => {
  const peer = await mcp();
  const auth = await provider();
  protectedResource(peer, auth);
  const { serverId, authUrl } = await add(ann, peer.url);
  await finish(authUrl!);
  await isReady(ann, serverId);
  expect(peer.sessions).toBe(1);
  expect(await ann.call("sys.mcp.remove", { serverId })).toEqual({ removed: true });
  await expect.poll(() => peer.sessions).toBe(0);
  expect(await ann.call("sys.mcp.remove", { serverId })).toEqual({ removed: false });
  expect(await ann.call("sys.oauth.list", { includePending: true })).toEqual({ accounts: [], flows: [] });
});

withPeers("sys.mcp.refresh:state", async ({ ann, mcp, add }) => {
  const peer = await mcp();
  const { serverId } = await add(ann, peer.url);
  peer.authorize = () => ({ status: 403, wwwAuthenticate: "" });
  expect((await ann.call("sys.mcp.refresh", { serverId })).server).toMatchObject({
    state: "failed",
    error: expect.stringContaining("403"),
  });
  peer.authorize = null;
  peer.resources = [...peer.resources, { uri: "test://second", name: "second", mimeType: "text/plain", text: "2" }];
  const { server } = await ann.call("sys.mcp.refresh", { serverId });
  expect(server).toMatchObject({ state: "ready", error: null, resourceCount: 2 });
});

withPeers("sys.mcp.call:result", async ({ ann, mcp, add }) => {
  const peer = await mcp();
  const { serverId } = await add(ann, peer.url);
  const call = (name: string, args = {}) => ann.call("sys.mcp.call", { serverId, name, arguments: args });
  expect(await call("add", { a: 2, b: 3 })).toMatchObject({ structuredContent: { sum: 5 }, content: [{ type: "text" }] });
  expect(await call("fail")).toMatchObject({ isError: true, content: [{ type: "text" }] });
  const count = peer.calls.length;
  await expectRefusal(ann.call("sys.mcp.call", { serverId, name: "echo", arguments: "no object" } as never), 400, /^arguments/);
  expect(peer.calls.length).toBe(count);
});

withPeers("sys.mcp.call:unknown", async ({ ann, mcp, add }) => {
  const peer = await mcp();
  const { serverId } = await add(ann, peer.url);
  await expectRefusal(ann.call("sys.mcp.call", { serverId, name: "nope" }), 404, /^Test has no tool nope\. It has: /);
  await expectRefusal(ann.call("sys.mcp.call", { serverId: "nope", name: "echo" }), 404, "MCP server not found");
  expect(peer.calls).toEqual([]);
});

withPeers("sys.mcp.call:session", async ({ ann, mcp, add }) => {
  const peer = await mcp();
  const { serverId } = await add(ann, peer.url);
  peer.endSessions();
  const { content } = await ann.call("sys.mcp.call", { serverId, name: "echo", arguments: { text: "again" } });
  expect(content).toEqual([{ type: "text", text: "again" }]);
  expect(peer.calls).toHaveLength(1);
  expect(peer.requests.filter(({ body }) => body.includes('"initialize"'))).toHaveLength(2);
  // A server that never keeps a session is given up after the second try.
  peer.authorize = (_, request) => {
    if (request.headers["mcp-session-id"] !== undefined) peer.endSessions();
    return null;
  };
  await expectRefusal(ann.call("sys.mcp.call", { serverId, name: "echo" }), 503, /404/);
  expect(peer.requests.filter(({ body }) => body.includes('"initialize"')).length).toBeLessThanOrEqual(4);
});

withPeers("sys.mcp.call:restart", async ({ world, mcp, provider, root: _ }) => {
  const host = await world.fresh();
  const { populate, ALICE, ROOT } = await import("../../support/people.ts");
  await populate(host);
  const root = await world.connect(ROOT, undefined, host);
  await root.call("sys.config.set", { key: "config/net/allowed_hosts", value: "127.0.0.1 localhost" });
  const peer = await mcp();
  const auth = await provider();
  protectedResource(peer, auth);
  const alice = await world.connect(ALICE, undefined, host);
  const { server } = await alice.call("sys.mcp.add", { name: "Test", url: peer.url });
  const { serverId } = server;
  await visit(await signIn(server.authUrl!));
  await isReady(alice, serverId);
  await host.restart();
  const again = await world.connect(ALICE, undefined, host);
  expect(await serverOf(again, serverId)).toMatchObject({ state: "ready" });
  expect(await again.call("sys.mcp.call", { serverId, name: "echo", arguments: { text: "back" } })).toMatchObject({
    content: [{ text: "back" }],
  });
  expect(auth.tokenRequests).toHaveLength(1);
});

withPeers("sys.mcp.call:once", async ({ ann, mcp, add }) => {
  let runs = 0;
  const peer = await mcp({
    tools: [
      {
        name: "pay",
        description: "Pays",
        inputSchema: { type: "object" },
        run: () => {
          runs++;
          peer.endSessions();
          return new Promise(() => {});
        },
      },
    ],
  } as never);
  const { serverId } = await add(ann, peer.url);
  const lost = await refusal(ann.call("sys.mcp.call", { serverId, name: "pay", timeoutMs: 2_000 }));
  expect(lost).toMatchObject({ code: expect.any(Number), message: expect.stringContaining("unknown"), details: { outcome: "unknown" } });
  expect(runs).toBe(1);
});

withPeers("sys.mcp.call:cancel", async ({ ann, again, mcp, add, spawn, model }) => {
  const peer = await mcp();
  const { serverId } = await add(ann, peer.url);
  const slow = { serverId, name: "slow", arguments: { ms: 60_000 } };
  await expectRefusal(ann.call("sys.mcp.call", { ...slow, timeoutMs: 1_000 }), 504, /did not answer in time/);
  await expect.poll(() => peer.running).toBe(0);
  const leaving = await again();
  const call = leaving.call("sys.mcp.call", slow).catch(() => "ended");
  await expect.poll(() => peer.running).toBe(1);
  leaving.close();
  expect(await call).toBe("ended");
  await expect.poll(() => peer.running).toBe(0);
  expect(await ann.call("sys.mcp.call", { serverId, name: "echo", arguments: { text: "on" } })).toMatchObject({
    content: [{ text: "on" }],
  });
  const agent = await spawn();
  model.on("Wait.", wants(["CodeMode", { code: "return await slow({ ms: 60000 })" }]), says("Waited."));
  await agent.say("Wait.");
  await agent.answer((await agent.asked()).requestId, "approve");
  await expect.poll(() => peer.running).toBe(1);
  const stopped = await ann.call("proc.abort", { pid: agent.pid });
  expect(stopped).toMatchObject({ aborted: true, stillRunning: [{ target: "Test", command: "slow" }] });
  await expect.poll(() => peer.running).toBe(0);
});

withPeers("sys.mcp.call:changed", async ({ ann, mcp, add }) => {
  const peer = await mcp();
  const { serverId } = await add(ann, peer.url);
  const call = () => ann.call("sys.mcp.call", { serverId, name: "echo", arguments: { text: "x" } });
  await call();
  await expect.poll(() => peer.streams).toBeGreaterThan(0);
  const [echo, ...others] = [peer.tools.find(({ name }) => name === "echo")!, ...peer.tools.filter(({ name }) => name !== "echo")];
  peer.tools = [...others, { ...echo, description: `${echo.description}.` }, { ...echo, name: "echo2" }];
  peer.announceToolsChanged();
  // The notification and the call travel on different connections.
  await expect
    .poll(
      async () =>
        (
          await refusal(
            call().then(() => {
              throw new Error("not yet");
            }),
          ).catch(() => null)
        )?.code,
      { timeout: 10_000 },
    )
    .toBe(409);
  const before = peer.calls.length;
  await expectRefusal(call(), 409, /^echo of Test has changed since it was accepted/);
  await expectRefusal(ann.call("sys.mcp.call", { serverId, name: "echo2" }), 409, /^echo2 of Test is new/);
  expect(peer.calls).toHaveLength(before);
  const server = await serverOf(ann, serverId);
  expect(server.tools.map(({ name }) => name)).not.toContain("echo");
  expect(server.changes.map(({ name, kind }) => [name, kind])).toEqual([
    ["echo", "changed"],
    ["echo2", "new"],
  ]);
  expect(server.changes[0]).toMatchObject({
    accepted: { description: echo.description },
    offered: { description: `${echo.description}.` },
  });
  // The same schema in another order is no change, and one that changes back is accepted as it was.
  peer.tools = [...others, { ...echo, inputSchema: Object.fromEntries(Object.entries(echo.inputSchema).toReversed()) }];
  await ann.call("sys.mcp.refresh", { serverId });
  expect((await serverOf(ann, serverId)).changes).toEqual([]);
  await call();
});

withPeers("sys.mcp.accept:shown", async ({ ann, mcp, add }) => {
  const peer = await mcp();
  const { serverId } = await add(ann, peer.url);
  const original = peer.tools;
  const change = (text: string) =>
    void (peer.tools = original.map((tool) => (tool.name === "echo" ? { ...tool, description: text } : tool)));
  change("first");
  const first = (await ann.call("sys.mcp.refresh", { serverId })).server!.changes[0]!;
  change("second");
  await ann.call("sys.mcp.refresh", { serverId });
  await expectRefusal(ann.call("sys.mcp.accept", { serverId, tools: [first] }), 409, /^echo has changed again since it was shown/);
  const [second] = (await serverOf(ann, serverId)).changes;
  const { server } = await ann.call("sys.mcp.accept", { serverId, tools: [{ name: second!.name, hash: second!.hash }] });
  expect(server.changes).toEqual([]);
  expect(server.tools.find(({ name }) => name === "echo")?.description).toBe("second");
  await ann.call("sys.mcp.call", { serverId, name: "echo", arguments: { text: "x" } });
});

/** A server that is signed in to, with its peer and provider. */
async function signedIn({ ann, mcp, provider, add, finish }: Peers, options?: Parameters<typeof startAuthorizationServer>[0]) {
  const peer = await mcp();
  const auth = await provider(options);
  protectedResource(peer, auth);
  const { serverId, authUrl } = await add(ann, peer.url);
  await finish(authUrl!);
  await isReady(ann, serverId);
  return { peer, auth, serverId };
}

withPeers("sys.mcp.call:refresh", async (peers) => {
  const { ann } = peers;
  const { peer, auth, serverId } = await signedIn(peers);
  const before = peer.calls.length;
  auth.expireAccessTokens();
  const calls = Array.from({ length: 20 }, (_, n) => ann.call("sys.mcp.call", { serverId, name: "echo", arguments: { text: String(n) } }));
  const texts = (await Promise.all(calls)).map(({ content }) => (content as { text: string }[])[0]?.text);
  expect(texts).toEqual(Array.from({ length: 20 }, (_, n) => String(n)));
  expect(auth.refreshes).toBe(1);
  const used = peer.calls.slice(before).map(({ authorization }) => authorization);
  expect(new Set(used).size).toBe(1);
  // The rotated refresh token is the one that counts from now on.
  auth.expireAccessTokens();
  await ann.call("sys.mcp.call", { serverId, name: "echo", arguments: { text: "later" } });
  expect(auth.refreshes).toBe(2);
});

withPeers("sys.mcp.call:needs-login", async (peers) => {
  const { ann, finish } = peers;
  const { auth, serverId } = await signedIn(peers);
  auth.revokeAll();
  const call = () => ann.call("sys.mcp.call", { serverId, name: "echo", arguments: { text: "x" } });
  await expectRefusal(call(), 409, /wants a sign-in/);
  expect((await ann.call("sys.oauth.list", {})).accounts).toMatchObject([{ state: "needs_login" }]);
  const asked = auth.tokenRequests.length;
  await expectRefusal(call(), 409, /wants a sign-in/);
  expect(auth.tokenRequests).toHaveLength(asked);
  const server = await serverOf(ann, serverId);
  expect(server.state).toBe("authenticating");
  await finish(server.authUrl!);
  await isReady(ann, serverId);
  await call();
  expect((await ann.call("sys.oauth.list", {})).accounts).toMatchObject([{ state: "active" }]);
});

withPeers("sys.mcp.call:audience", async (peers) => {
  const { ann, mcp, add } = peers;
  const { peer, auth, serverId } = await signedIn(peers);
  expect(auth.tokenRequests.every(({ resource }) => resource === peer.url)).toBe(true);
  const token =
    peer.calls.length === 0 ? (await ann.call("sys.mcp.call", { serverId, name: "echo" }), peer.calls.at(-1)!.authorization!) : "";
  const bare = token.replace(/^Bearer /, "");
  expect(await auth.isValid(bare, peer.url)).toBe(true);
  // Another server, to which the first one now redirects.
  const other = await mcp();
  peer.routes.set("/mcp", (_, response) => void response.writeHead(307, { location: other.url }).end());
  await expectRefusal(ann.call("sys.mcp.call", { serverId, name: "echo" }), 503);
  const { server } = { server: await add(ann, other.url, { name: "Other" }) };
  await ann.call("sys.mcp.call", { serverId: server.serverId, name: "echo" });
  expect(JSON.stringify(other.requests)).not.toContain(bare);
  expect(other.requests.some(({ headers }) => headers.authorization !== undefined)).toBe(false);
});

withPeers("sys.mcp.resource.list:all", async ({ ann, mcp, add }) => {
  const peer = await mcp();
  const { serverId } = await add(ann, peer.url);
  expect(await ann.call("sys.mcp.resource.list", { serverId })).toEqual({
    resources: [{ uri: "test://greeting", name: "greeting", description: null, mimeType: "text/plain" }],
    templates: [],
  });
});

withPeers("sys.mcp.resource.read:text", async ({ ann, mcp, add }) => {
  const peer = await mcp();
  const { serverId } = await add(ann, peer.url);
  const { contents } = await ann.call("sys.mcp.resource.read", { serverId, uri: "test://greeting" });
  expect(contents).toMatchObject([{ uri: "test://greeting", text: "hello from the test server" }]);
  await expectRefusal(ann.call("sys.mcp.resource.read", { serverId, uri: "test://none" }), 503, /the server refused it/);
});

withPeers("sys.mcp.prompt.list:all", async ({ ann, mcp, add }) => {
  const peer = await mcp();
  const { serverId } = await add(ann, peer.url);
  expect(await ann.call("sys.mcp.prompt.list", { serverId })).toEqual({
    prompts: [{ name: "greet", description: "Greets somebody", arguments: [{ name: "name", description: null, required: true }] }],
  });
});

withPeers("sys.mcp.prompt.get:filled", async ({ ann, mcp, add }) => {
  const peer = await mcp();
  const { serverId } = await add(ann, peer.url);
  const { messages } = await ann.call("sys.mcp.prompt.get", { serverId, name: "greet", arguments: { name: "Ada" } });
  expect(messages).toMatchObject([{ role: "user", content: { type: "text", text: "Greet Ada." } }]);
});

withPeers("codemode.exec:mcp", async ({ ann, mcp, add, spawn, model }) => {
  const peer = await mcp();
  await add(ann, peer.url, { name: "My Test" });
  const agent = await spawn();
  const code = `const { sum } = await add({ a: 2, b: 40 });
    const text = await My_Test_echo({ text: '{"parsed":true}' });
    let failed = ""; try { await fail({}); } catch (error) { failed = error.message; }
    return { sum, text, failed, names: mcpTools.map(({ functionName }) => functionName).includes("My_Test_add") };`;
  model.on("Add.", wants(["CodeMode", { code }]), says("Added."));
  const runId = await agent.say("Add.");
  const first = await agent.asked();
  expect(first).toMatchObject({
    toolName: "MCP",
    syscall: "sys.mcp.call",
    args: { name: "add", arguments: { a: 2, b: 40 } },
    target: `add of My Test (${peer.url})`,
  });
  expect(peer.calls).toEqual([]);
  await agent.answer(first.requestId, "approve");
  const second = await agent.asked(2);
  // One tool of one server, with any arguments.
  await agent.answer(second.requestId, "approve", { remember: true, scope: "tool" });
  const third = await agent.asked(3);
  expect(third.args).toMatchObject({ name: "fail" });
  await agent.answer(third.requestId, "approve");
  expect(await agent.finished(runId)).toMatchObject({ status: "ok" });
  const { output } = await agent.result();
  expect(JSON.parse(output)).toMatchObject({
    status: "completed",
    result: { sum: 42, text: { parsed: true }, failed: expect.stringMatching(/./), names: true },
  });
  model.on("Echo.", wants(["CodeMode", { code: 'return [await echo({ text: "free" }), await add({ a: 1, b: 1 })]' }]), says("Echoed."));
  const next = await agent.say("Echo.");
  const fourth = await agent.asked(4);
  expect(fourth.args).toMatchObject({ name: "add" });
  await agent.answer(fourth.requestId, "deny");
  await agent.finished(next);
});

withPeers("codemode.run:mcp", async ({ ann, mcp, add }) => {
  const peer = await mcp();
  const { serverId } = await add(ann, peer.url);
  const script = await ann.call("codemode.run", {
    code: "return [await echo({ text: 'plain' }), (await Test_add({ a: 1, b: 2 })).sum, mcpTools.length]",
  });
  expect(script, JSON.stringify(script)).toMatchObject({ status: "completed", result: ["plain", 3, 8] });
  const run = async (input: string) => {
    const { output, exitCode } = (await ann.call("shell.exec", { input })) as { output: string; exitCode: number };
    return [exitCode, output];
  };
  expect(await run("mcp status")).toEqual([0, expect.stringMatching(new RegExp(`${serverId}\\tready\\t4\\t`))]);
  expect(await run("mcp call test add --arg a=1 --args-json '{}'")).toEqual([2, expect.stringContaining("--arg or --args-json, not both")]);
  expect(await run("mcp call test add --arg a=1 --arg b=2 --json")).toEqual([0, expect.stringContaining('"sum": 3')]);
  expect(await run("mcp call Test.echo --arg text=hi")).toEqual([0, expect.stringMatching(/^hi\n/)]);
  expect((await run("mcp call Test fail"))[0]).toBe(1);
  expect(await run("mcp codemode")).toEqual([0, expect.stringContaining("declare function echo(")]);
  expect(await run("mcp read Test test://greeting")).toEqual([0, expect.stringContaining("hello from the test server")]);
});

withPeers("ai.tools:mcp", async ({ ann, mcp, add, spawn, model, set }) => {
  const peer = await mcp();
  await add(ann, peer.url, { name: "My Test" });
  for (const profile of ["task", "init"])
    await set(`config/ai/profile/${profile}/tools/approval`, JSON.stringify({ default: "auto", rules: [] }));
  const agent = await spawn();
  model.on("Look.", wants(["Shell", { target: "gsv", input: "proc self" }]), says("Looked."));
  await agent.ask("Look.");
  const sent = JSON.stringify(model.asked.at(-1)!.body);
  expect(sent).toContain("declare function add(input: AddInput): Promise<AddOutput>;");
  expect(sent).toContain("My Test: 4 tools");
});
