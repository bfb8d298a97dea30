// The ways of MCP and OAuth to a forbidden address: as the address of a server, in what a server or a provider says of itself, as a redirect,
// and as an endpoint that a person gives. First the parts of src/mcp and kernel/oauth on the Net port of world.ts, where the client library
// must use nothing else; then a gateway, with addresses that all lead to this machine.

import { discoverSignIn, registerClient } from "../../../src/mcp/authorization.ts";
import { type Bearer, McpConnection, McpError } from "../../../src/mcp/connection.ts";
import { makeMessageFetch, makeMetadataFetch } from "../../../src/mcp/fetch.ts";
import { makeNodeNet } from "../../../src/hosts/node/net.ts";
import { makeAllowList } from "../../../src/kernel/egress/allow.ts";
import { mustBeRemoteUrl } from "../../../src/kernel/oauth/addresses.ts";
import { requestTokens, TokenError } from "../../../src/kernel/oauth/token-endpoint.ts";
import { CallError } from "../../../src/client/connection.ts";
import { SysError } from "../../../src/lib/sys-error.ts";
import type { Net } from "../../../src/ports/net.ts";
import type { McpTransportType } from "../../../src/protocol/mcp-records.ts";
import { startMcpServer } from "../../support/mcp/server.ts";
import { startNodeHost } from "../../support/node-host.ts";
import { protectedResource, startAuthorizationServer } from "../../support/oauth/authorization-server.ts";
import { ALICE, enter, populate } from "../../support/people.ts";
import type { Bar } from "../bar.ts";
import { hostileUrls, spellings } from "./urls.ts";
import type { World } from "./world.ts";

const A = "http://a.example";
const REDIRECT_URI = "https://gsv.example/oauth/callback";
/** Every so many of the hostile URLs, where each costs several requests. */
const STEP = 6;

export async function mcpAndOAuth(bar: Bar, world: World): Promise<void> {
  const global = globalThis.fetch;
  let strays = 0;
  // It sends nothing: without the Net port's checks, a request could leave this machine.
  globalThis.fetch = () => {
    strays++;
    return Promise.reject(new TypeError("this request does not pass the Net port"));
  };
  try {
    await withoutKernel(bar, world);
  } finally {
    globalThis.fetch = global;
  }
  bar.check("mcp", strays === 0, () => `the client of MCP made ${strays} requests that did not pass the Net port`);
  await throughGateway(bar, world);
}

async function withoutKernel(bar: Bar, world: World): Promise<void> {
  const urls = hostileUrls(world.canaryPort);
  const few = urls.filter((_, at) => at % STEP === 0);
  await checkHonestPeers(bar).catch((error: unknown) => bar.check("mcp", false, () => `peers that are honest: ${String(error)}`));
  for (const url of urls) await mustFail(bar, `a server at ${shorten(url)}`, () => connect(world.net(), url, "auto"));
  // Node's server sends no line break in a header, and an address without a host is a path.
  const locations = few.filter((url) => /^[a-z]+:/i.test(url) && !/[\n\0]/.test(url));
  for (const url of locations) {
    const redirect = `${A}/to?status=307&url=${encodeURIComponent(url)}`;
    for (const transport of ["streamable-http", "sse"] as const)
      await mustFail(bar, `a server that redirects to ${shorten(url)}`, () => connect(world.net(), redirect, transport));
    await mustFail(bar, `a token endpoint that redirects to ${shorten(url)}`, () => redeem(world.net(), redirect));
  }
  for (const url of few) {
    await mustFail(bar, `metadata at ${shorten(url)}`, () => discover(world, url));
    await mustFail(bar, `a provider at ${shorten(url)}`, () => discoverAt(world, { authorization_servers: [url] }));
    await mustFail(bar, `a token endpoint at ${shorten(url)}`, () => redeem(world.net(), url));
    for (const name of ["token_endpoint", "registration_endpoint"])
      await mustFail(bar, `metadata with the ${name} ${shorten(url)}`, () => signIn(world, { [name]: url }));
  }
}

/** Without a forbidden address all of it works, or the rest shows nothing. */
async function checkHonestPeers(bar: Bar): Promise<void> {
  const net = makeNodeNet({ isAllowed: makeAllowList("127.0.0.1") });
  const provider = await startAuthorizationServer();
  const server = await startMcpServer({ legacySse: true });
  try {
    for (const [url, transport] of [
      [server.url, "auto"],
      [server.sseUrl, "sse"],
    ] as const) {
      const connection = await connect(net, url, transport);
      const { tools } = await connection.listTools(new AbortController().signal);
      bar.check("mcp", tools.length > 0, () => `a server that behaves has no tools over ${transport}`);
      await connection.close();
    }
    protectedResource(server, provider);
    const metadata = makeMetadataFetch(net);
    const plan = await discoverSignIn(server.url, null, metadata, () => {});
    const client = await registerClient(plan.server, REDIRECT_URI, null, metadata);
    bar.check("mcp", client.clientId !== "", () => "a provider that behaves registered no client");
    const refused = await redeem(net, plan.server.tokenEndpoint).catch((error: unknown) => error);
    bar.check("mcp", refused instanceof TokenError && refused.isFinal, () => `a made-up code: ${String(refused)}`);
  } finally {
    await server.close();
    await provider.close();
  }
}

async function mustFail(bar: Bar, name: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
    bar.check("mcp", false, () => `${name}: it was taken`);
  } catch (error) {
    const isClear = error instanceof McpError || error instanceof TokenError || error instanceof SysError;
    bar.check("mcp", isClear, () => `${name}: ${String(error)}`);
  }
}

const NOBODY: Bearer = { token: async () => undefined, renew: () => Promise.reject(new McpError("sign-in", "a sign-in is wanted")) };

function connect(net: Net, url: string, transport: McpTransportType): Promise<McpConnection> {
  const ignore = () => {};
  return McpConnection.open(
    { url, transport, headers: {}, fetch: makeMessageFetch(net), bearer: NOBODY, onToolsChanged: ignore, onClosed: ignore },
    new AbortController().signal,
  );
}

/** As the kernel does it, which passes the address only where it is one. */
function discover(world: World, resourceMetadataUrl: string) {
  const url = URL.canParse(resourceMetadataUrl) ? resourceMetadataUrl : null;
  return discoverSignIn(`${A}/mcp`, url, makeMetadataFetch(world.net()), mustBeRemoteUrl);
}

function discoverAt(world: World, lie: Record<string, unknown>) {
  world.documents.set("/resource", JSON.stringify({ resource: `${A}/mcp`, ...lie }));
  return discover(world, `${A}/resource`);
}

/** Goes as far as it can: a request that should not be sent would be seen. */
async function signIn(world: World, lie: Record<string, unknown>): Promise<void> {
  const issuer = `${A}/provider`;
  const metadata = {
    issuer,
    authorization_endpoint: "https://a.example/authorize",
    token_endpoint: "https://a.example/token",
    registration_endpoint: "https://a.example/register",
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none"],
  };
  world.documents.set("/.well-known/oauth-authorization-server/provider", JSON.stringify({ ...metadata, ...lie }));
  const { server } = await discoverAt(world, { authorization_servers: [issuer] });
  if (lie["registration_endpoint"] !== undefined) await registerClient(server, REDIRECT_URI, null, makeMetadataFetch(world.net()));
  await redeem(world.net(), server.tokenEndpoint);
}

function redeem(net: Net, tokenEndpoint: string) {
  const client = { tokenEndpoint, clientId: "gsv", clientSecret: "CANARY", tokenAuth: "client_secret_post" } as const;
  return requestTokens(net, client, { grant_type: "authorization_code", code: "CANARY", code_verifier: "CANARY" }, () => 0);
}

/** A real gateway: whatever it would connect to is on this machine. */
async function throughGateway(bar: Bar, world: World): Promise<void> {
  const host = await startNodeHost();
  try {
    await populate(host);
    const alice = await enter(host, ALICE);
    const hosts = ["127.0.0.1", "127.0.0.2", "[::1]", "[::ffff:127.0.0.1]", "localhost", "0.0.0.0", ...spellings("127.0.0.1")];
    const redirectUri = `${host.url}/oauth/callback`;
    for (const one of hosts) {
      for (const scheme of ["http", "https"]) {
        const url = `${scheme}://${one}:${world.canaryPort}/`;
        const added = await codeOf(alice.call("sys.mcp.add", { name: "x", url }));
        bar.check("mcp", added === 400 || added === 503, () => `sys.mcp.add ${url}: ${added}`);
        const endpoints = { authorizationEndpoint: url, tokenEndpoint: url };
        const start = { kind: "generic", provider: "x", clientId: "x", redirectUri, ...endpoints } as const;
        const started = await alice.call("sys.oauth.start", start).catch((error: unknown) => error);
        if (started instanceof CallError) {
          bar.check("mcp", started.code === 400, () => `sys.oauth.start ${url}: ${started.code} ${started.message}`);
          continue;
        }
        const { authorizationUrl } = started as { authorizationUrl: string };
        const state = new URL(authorizationUrl).searchParams.get("state");
        const page = await fetch(`${redirectUri}?state=${state}&code=CANARY`);
        await page.body?.cancel();
        bar.check("mcp", page.status === 502, () => `a token endpoint at ${url}: the callback has status ${page.status}`);
      }
    }
    const { accounts } = await alice.call("sys.oauth.list", {});
    const { servers } = await alice.call("sys.mcp.list", {});
    bar.check("mcp", accounts.length + servers.length === 0, () => `stored: ${JSON.stringify([accounts, servers])}`);
    alice.close();
  } finally {
    await host.close();
  }
}

async function codeOf(call: Promise<unknown>): Promise<number> {
  try {
    await call;
    return 0;
  } catch (error) {
    return error instanceof CallError ? error.code : -1;
  }
}

function shorten(url: string): string {
  return JSON.stringify(url.slice(0, 100));
}
