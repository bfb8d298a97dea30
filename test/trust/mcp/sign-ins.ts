// Accounts whose provider accepts each refresh token once: however many calls need a new token at the same time, it is asked for one, and
// a token that was lost on the way is seen by the owner as a sign-in to repeat, not as requests without end.

import { protectedResource, signIn } from "../../support/oauth/authorization-server.ts";
import type { TestMcpServer } from "../../support/mcp/server.ts";
import type { Bar } from "../bar.ts";
import type { WatchedProvider } from "./tokens.ts";
import { callTool, until, visit, type World } from "./world.ts";

const CALLS = 20;
/** What the provider says of its tokens. */
const TOKEN_MS = 3_600_000;
const LATER_CALLS = 6;

type Place = { world: World; server: TestMcpServer; provider: WatchedProvider; serverId: string };

export async function tryRefreshes(bar: Bar, world: World): Promise<void> {
  const place = await signInSomewhere(world, "Private");
  const { provider } = place;
  const clientId = (await world.alice.call("sys.oauth.list", {})).accounts.find((one) => one.provider === provider.issuer)?.clientId;
  const ends: [string, () => unknown][] = [
    ["at the time the provider said", () => world.gateway.moveClock(TOKEN_MS)],
    ["at a 401", () => provider.expireAccessTokens()],
  ];
  for (const [name, end] of ends) await checkOneRefresh(bar, place, name, end);
  await checkRefusing(bar, place);
  // Without this the checks above would show nothing: a second refresh would do no harm.
  const stolen = new URLSearchParams({ grant_type: "refresh_token", refresh_token: provider.given.refresh[0]!, client_id: clientId ?? "" });
  const replayed = await fetch(`${provider.issuer}/token`, { method: "POST", body: stolen });
  bar.check("replay", replayed.status === 400, () => `the provider took a refresh token twice: ${replayed.status}`);
  provider.expireAccessTokens();
  await checkVisibleLoss(bar, place, "a replayed token");
  await world.alice.call("sys.mcp.remove", { serverId: place.serverId });
}

/** The gateway is killed after the provider has given out new tokens and before they are stored. */
export async function tryCrash(bar: Bar, world: World): Promise<void> {
  const place = await signInSomewhere(world, "Lost");
  const { provider, serverId } = place;
  provider.expireAccessTokens();
  const kept = provider.keepNextAnswer();
  const lost = callTool(world.alice, serverId, "echo", { arguments: { text: "x" } }).catch(() => null);
  await kept;
  await world.crash();
  await lost;
  await checkVisibleLoss(bar, place, "a crash");
  await world.alice.call("sys.mcp.refresh", { serverId, callbackHost: world.gateway.url });
  await signInAgain(place);
  const { failure } = await callTool(world.alice, serverId, "echo", { arguments: { text: "x" } });
  bar.check("losses", failure === null, () => `after signing in again: ${failure?.code} ${failure?.message}`);
}

async function signInSomewhere(world: World, name: string): Promise<Place> {
  const provider = await world.provide();
  const server = await world.serve();
  protectedResource(server, provider);
  const { serverId } = await world.add(world.alice, name, server.url);
  const place = { world, server, provider, serverId };
  await signInAgain(place);
  return place;
}

async function signInAgain({ world, serverId }: Place): Promise<void> {
  const page = (await world.serverOf(world.alice, serverId))?.authUrl;
  const shown = await visit(await signIn(page ?? ""));
  if (shown.status !== 200) throw new Error(`the sign-in ended with ${shown.status}: ${shown.text}`);
  if (!(await until(async () => (await world.serverOf(world.alice, serverId))?.state === "ready")))
    throw new Error("the server is not ready after the sign-in");
}

async function checkOneRefresh(bar: Bar, { world, server, provider, serverId }: Place, name: string, end: () => unknown): Promise<void> {
  const { alice } = world;
  const before = { asked: provider.asked.count, refreshes: provider.refreshes, calls: server.calls.length };
  await end();
  provider.pauseTokenEndpoint();
  const calls = Array.from({ length: CALLS }, () => callTool(alice, serverId, "echo", { arguments: { text: "hi" } }));
  let ended = 0;
  for (const call of calls) void call.then(() => ended++);
  await until(() => provider.held > 0 || ended === CALLS);
  // What else wants a token now has asked for it before these are answered.
  for (let at = 0; at < 3; at++) await alice.call("sys.mcp.list", {});
  provider.resumeTokenEndpoint();
  const ends = await Promise.all(calls);
  const asked = provider.asked.count - before.asked;
  bar.check("refreshes", asked === 1, () => `${name}: ${CALLS} calls asked for a token ${asked} times`);
  for (const { failure } of ends)
    bar.check("refreshes", failure === null, () => `${name}: a call failed: ${failure?.code} ${failure?.message}`);
  bar.check("refreshes", provider.refreshes === before.refreshes + 1, () => `${name}: ${provider.refreshes - before.refreshes} refreshes`);
  const newest = `Bearer ${provider.given.access.at(-1)}`;
  const sent = server.calls.slice(before.calls);
  bar.check(
    "refreshes",
    sent.length === CALLS && sent.every(({ authorization }) => authorization === newest),
    () => `${name}: ${sent.length} calls arrived, and not all with the new token`,
  );
}

/** A server that takes no token at all: each call ends, and the provider is not asked more often than there are calls. */
async function checkRefusing(bar: Bar, { world, server, provider, serverId }: Place): Promise<void> {
  const before = provider.asked.count;
  const { authorize } = server;
  server.authorize = () => ({ status: 401, wwwAuthenticate: 'Bearer error="invalid_token"' });
  const calls = Array.from({ length: CALLS }, () => callTool(world.alice, serverId, "echo", { arguments: { text: "x" } }));
  for (const { failure } of await Promise.all(calls))
    bar.check("refreshes", failure?.code === 409, () => `a server that takes no token: ${failure?.code} ${failure?.message}`);
  const asked = provider.asked.count - before;
  bar.check("refreshes", asked <= CALLS, () => `a server that takes no token: the provider was asked ${asked} times`);
  server.authorize = authorize;
}

/** The account is seen to need a sign-in, and the provider is asked once. */
async function checkVisibleLoss(bar: Bar, { world, provider, serverId }: Place, name: string): Promise<void> {
  const { alice } = world;
  const before = provider.asked.count;
  for (let at = 0; at < LATER_CALLS; at++) {
    const { failure } = await callTool(alice, serverId, "echo", { arguments: { text: "x" } });
    bar.check("losses", failure?.code === 409 && /sign-in/.test(failure.message), () => `${name}: ${failure?.code} ${failure?.message}`);
  }
  const asked = provider.asked.count - before;
  bar.check("losses", asked === 1, () => `${name}: the provider was asked ${asked} times`);
  const { accounts } = await alice.call("sys.oauth.list", {});
  const account = accounts.find((one) => one.provider === provider.issuer);
  bar.check("losses", account?.state === "needs_login", () => `${name}: the account is shown as ${account?.state}`);
}
