// The client that the public conformance suite of MCP starts for each scenario: gives the server at the suite's address to a gateway that
// runs already, signs in as its owner would, calls its tools and removes it. All MCP and OAuth is the gateway's; what should come of a
// scenario is in suite.ts beside it.

import { request } from "node:http";
import { CallError, type CallResult, type Client, connect } from "../../src/client/client.ts";
import { SYS_CHANGED } from "../../src/protocol/signal-names.ts";

type Server = CallResult<"sys.mcp.list">["servers"][number];

/** The suite ends only the shell around this program. */
const LIMIT_MS = 90_000;
/** A person who is asked again and again signs in again and again: it is the gateway that must stop asking. */
const SIGN_INS_MAX = 6;
const HOPS_MAX = 5;
/** What tools that want something are called with. */
const ARGUMENTS: Readonly<Record<string, Record<string, unknown>>> = { add_numbers: { a: 5, b: 3 } };
/** Only a gateway with an encrypted address can be known to a provider by the address of its metadata. */
const WANTS_PUBLIC_ORIGIN = "auth/basic-cimd";

const scenario = requireVariable("MCP_CONFORMANCE_SCENARIO");
const gateway = requireVariable("GSV_URL");
setTimeout(() => {
  console.error(`not done after ${LIMIT_MS / 1000} s`);
  process.exit(1);
}, LIMIT_MS).unref();

const client = await connect({
  url: gateway,
  auth: { username: requireVariable("GSV_USERNAME"), token: requireVariable("GSV_TOKEN") },
  reconnect: false,
});
try {
  await useServer(client, process.argv.at(-1) ?? "");
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  client.close();
}

async function useServer(client: Client, url: string): Promise<void> {
  const callbackHost = scenario === WANTS_PUBLIC_ORIGIN ? { callbackHost: requireVariable("GSV_PUBLIC_ORIGIN") } : {};
  const { server } = await client.call("sys.mcp.add", { name: scenario, url, ...callbackHost, ...registeredClient() });
  const { serverId } = server;
  try {
    const { tools } = await signInUntilReady(client, serverId);
    for (const { name } of tools) await callTool(client, serverId, name);
  } finally {
    await client.call("sys.mcp.remove", { serverId });
  }
}

/** The client that the suite's authorization server knows beforehand, in the scenarios in which there is one. */
function registeredClient(): { oauth?: { clientId: string; clientSecret?: string } } {
  const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}") as { client_id?: string; client_secret?: string };
  const { client_id: clientId, client_secret: clientSecret } = context;
  if (clientId === undefined) return {};
  return { oauth: clientSecret === undefined ? { clientId } : { clientId, clientSecret } };
}

/** A server may want a sign-in with more rights for one tool than for another. */
async function callTool(client: Client, serverId: string, name: string): Promise<void> {
  const call = () => client.call("sys.mcp.call", { serverId, name, arguments: ARGUMENTS[name] ?? {} });
  try {
    await call();
  } catch (error) {
    if (!(error instanceof CallError) || error.code !== 409) throw error;
    await signInUntilReady(client, serverId);
    await call();
  }
}

async function signInUntilReady(client: Client, serverId: string): Promise<Server> {
  let followed: string | null = null;
  for (let signIns = 0; ; signIns++) {
    const { authUrl, ...server } = await waitForNews(client, serverId, followed);
    if (server.state === "ready" && authUrl === null) return { ...server, authUrl };
    if (authUrl === null) throw new Error(`the server is ${server.state}: ${server.error ?? "no reason is given"}`);
    if (signIns === SIGN_INS_MAX) throw new Error(`the gateway asked for a sign-in more than ${SIGN_INS_MAX} times`);
    followed = authUrl;
    await signIn(authUrl);
  }
}

/** Waits until the server is ready, has failed, or wants another sign-in than the one that was `followed`. */
async function waitForNews(client: Client, serverId: string, followed: string | null): Promise<Server> {
  for (;;) {
    // Listens before it looks, so that no change is missed.
    const change = nextChange(client);
    const { servers } = await client.call("sys.mcp.list", {});
    const server = servers.find((one) => one.serverId === serverId);
    if (server === undefined) throw new Error("the server is no longer listed");
    const { state, authUrl, error } = server;
    if (state === "failed" || (state === "ready" && authUrl === null)) return server;
    // A server that is ready may want a sign-in with more rights.
    if (authUrl !== followed && (authUrl !== null || state === "authenticating")) return server;
    if (state === "authenticating" && error !== null) return server;
    await change;
  }
}

function nextChange(client: Client): Promise<void> {
  return new Promise((resolve) => {
    const stop = client.onSignal((sent) => {
      if (sent.signal !== SYS_CHANGED || !sent.payload.changes.includes("mcp")) return;
      stop();
      resolve();
    });
  });
}

/** Opens the page as a browser would, whose owner is signed in and agrees, and brings the provider's answer to the gateway. */
async function signIn(authUrl: string): Promise<void> {
  let url = authUrl;
  for (let hop = 0; hop < HOPS_MAX; hop++) {
    const response = await fetch(url, { redirect: "manual" });
    const said = await response.text();
    const location = response.headers.get("location");
    if (location === null) throw new Error(`the authorization server answered ${response.status}: ${said.slice(0, 500)}`);
    url = new URL(location, url).href;
    if (new URL(url).pathname === "/oauth/callback") return deliver(new URL(url));
  }
  throw new Error("the authorization server redirects without end");
}

/** Under the gateway's public address nothing listens: a proxy would pass the request on like this. */
function deliver(callback: URL): Promise<void> {
  const { host, pathname, search } = callback;
  return new Promise((resolve, reject) => {
    request(new URL(`${pathname}${search}`, gateway), { headers: { host } }, (response) => {
      let page = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => (page += part));
      response.on("error", reject);
      response.on("end", () =>
        response.statusCode === 200 ? resolve() : reject(new Error(`the callback answered ${response.statusCode}: ${page}`)),
      );
    })
      .on("error", reject)
      .end();
  });
}

function requireVariable(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: this program is started by test/mcp/suite.ts`);
  return value;
}
