// What opens GET /oauth/callback: states that were used, that belong to another sign-in, that are too old or made up. Nothing may be stored,
// the page must say so, and a code goes to nobody but the provider whose sign-in it ends.

import { randomBytes } from "node:crypto";
import type { Client } from "../../../src/client/client.ts";
import { protectedResource, signIn } from "../../support/oauth/authorization-server.ts";
import type { Bar } from "../bar.ts";
import type { WatchedProvider } from "./tokens.ts";
import { until, visit, type World } from "./world.ts";

const FLOW_MS = 600_000;
const RACERS = 5;

type Attempt = { name: string; url: string; status?: number; asks?: number };

class Callbacks {
  readonly #bar: Bar;
  readonly #world: World;
  readonly #providers: readonly WatchedProvider[];
  readonly address: string;

  constructor(bar: Bar, world: World, providers: readonly WatchedProvider[]) {
    this.#bar = bar;
    this.#world = world;
    this.#providers = providers;
    this.address = `${world.gateway.url}/oauth/callback`;
  }

  with(params: Record<string, string>): string {
    return `${this.address}?${new URLSearchParams(params).toString()}`;
  }

  get asked(): number {
    return this.#providers.reduce((sum, { asked }) => sum + asked.count, 0);
  }

  async expectRefused({ name, url, status = 400, asks = 0 }: Attempt): Promise<void> {
    const before = await this.#world.accounts();
    const { asked } = this;
    const page = await visit(url);
    this.#bar.check("states", page.status === status, () => `${name}: the page has status ${page.status}, wanted ${status}`);
    this.#bar.check("states", !/signed in to/.test(page.text), () => `${name}: the page says ${page.text}`);
    this.#bar.check("states", this.asked - asked === asks, () => `${name}: providers were asked ${this.asked - asked} times`);
    const after = await this.#world.accounts();
    this.#bar.check("states", after === before, () => `${name}: what is stored has changed from ${before} to ${after}`);
  }

  async expectTaken(name: string, url: string): Promise<boolean> {
    const { status, text } = await visit(url);
    this.#bar.check("states", status === 200, () => `${name}: the right callback has status ${status}: ${text}`);
    return status === 200;
  }
}

export async function tryStates(bar: Bar, world: World): Promise<void> {
  const client = {
    client_id: "gsv",
    redirect_uris: [`${world.gateway.url}/oauth/callback`],
    token_endpoint_auth_method: "none",
  };
  const [one, other] = [await world.provide({ clients: [client] }), await world.provide()];
  const callbacks = new Callbacks(bar, world, [one, other]);
  const start = (by: Client, accountKey: string) => startFlow(world, by, one, accountKey);
  await tryGarbage(callbacks, () => start(world.alice, "garbage"));
  await tryUsed(bar, callbacks, (key) => start(world.alice, key));
  await trySwapped(callbacks, (key) => start(world.alice, key), start(world.bob, "of bob"));
  await tryMixedUp(callbacks, world, one, other);
  const old = await signIn(await start(world.alice, "old"));
  await world.gateway.moveClock(FLOW_MS);
  await callbacks.expectRefused({ name: "expired", url: old });
  for (const person of [world.alice, world.bob])
    for (const { accountId } of (await person.call("sys.oauth.list", {})).accounts) await person.call("sys.oauth.forget", { accountId });
}

async function startFlow(world: World, by: Client, { issuer }: WatchedProvider, accountKey: string): Promise<string> {
  const { authorizationUrl } = await by.call("sys.oauth.start", {
    kind: "generic",
    provider: "test",
    accountKey,
    authorizationEndpoint: `${issuer}/auth`,
    tokenEndpoint: `${issuer}/token`,
    clientId: "gsv",
    redirectUri: `${world.gateway.url}/oauth/callback`,
  });
  return authorizationUrl;
}

async function tryGarbage(callbacks: Callbacks, start: () => Promise<string>): Promise<void> {
  const right = await signIn(await start());
  const { searchParams } = new URL(right);
  const state = searchParams.get("state")!;
  const garbage = ["a", "null", "' OR 1=1 --", '{"$ne":null}', "../..", "\u0000", "ключ", "x".repeat(8_000)];
  const random = randomBytes(32).toString("base64url");
  const near = [random, state.slice(1), `${state} `, `${state}\n`, state.toLowerCase(), state.toUpperCase(), `${state}=`];
  for (const made of [...garbage, ...near])
    await callbacks.expectRefused({
      name: `the state ${JSON.stringify(made.slice(0, 60))}`,
      url: callbacks.with({ state: made, code: "x" }),
    });
  const odd = { "no state": "code=x", "an empty state": "state=&code=x", "a list": `state[]=${state}&code=x`, nothing: "" };
  for (const [name, query] of Object.entries(odd)) await callbacks.expectRefused({ name, url: `${callbacks.address}?${query}` });
  await callbacks.expectRefused({ name: "two states", url: `${callbacks.address}?state=${random}&state=${state}&code=x` });
  await callbacks.expectRefused({ name: "no code", url: callbacks.with({ state }) });
  await callbacks.expectRefused({ name: "another address of the gateway", url: right.replace("127.0.0.1", "localhost") });
  await callbacks.expectTaken("after all of these", right);
}

async function tryUsed(bar: Bar, callbacks: Callbacks, start: (key: string) => Promise<string>): Promise<void> {
  const good = await signIn(await start("used"));
  await callbacks.expectTaken("the first time", good);
  await callbacks.expectRefused({ name: "replayed", url: good });
  const state = new URL(good).searchParams.get("state")!;
  const fresh = new URL(await signIn(await start("fresh"))).searchParams.get("code")!;
  await callbacks.expectRefused({ name: "replayed with a fresh code", url: callbacks.with({ state, code: fresh }) });
  const raced = await signIn(await start("raced"));
  const { asked } = callbacks;
  const pages = await Promise.all(Array.from({ length: RACERS }, () => visit(raced)));
  const taken = pages.filter(({ status }) => status === 200).length;
  bar.check("states", taken === 1 && callbacks.asked - asked === 1, () => `opened ${RACERS} times at once: taken ${taken} times`);
  const declined = new URL(await signIn(await start("declined")));
  const refusal = { state: declined.searchParams.get("state")!, error: "access_denied" };
  await callbacks.expectRefused({ name: "declined", url: callbacks.with(refusal) });
  await callbacks.expectRefused({ name: "replayed after it was declined", url: declined.href });
  const older = await signIn(await start("newest"));
  const newer = await signIn(await start("newest"));
  await callbacks.expectRefused({ name: "replaced by a newer one", url: older });
  await callbacks.expectTaken("the newer one", newer);
}

/** At one provider only PKCE tells two sign-ins apart, so that it is the provider that refuses the code. */
async function trySwapped(callbacks: Callbacks, start: (key: string) => Promise<string>, theirs: Promise<string>): Promise<void> {
  const [a, b, c, bob] = [
    new URL(await signIn(await start("a"))),
    new URL(await signIn(await start("b"))),
    new URL(await signIn(await start("c"))),
    new URL(await signIn(await theirs)),
  ];
  const swap = (from: URL, to: URL) =>
    callbacks.with({ state: to.searchParams.get("state")!, code: from.searchParams.get("code")!, iss: from.searchParams.get("iss") ?? "" });
  await callbacks.expectRefused({ name: "swapped with another of one's own", url: swap(a, b), status: 502, asks: 1 });
  await callbacks.expectRefused({ name: "swapped with another user's", url: swap(bob, c), status: 502, asks: 1 });
  await callbacks.expectRefused({ name: "swapped, and opened again", url: c.href });
  await callbacks.expectRefused({ name: "one's code for another user", url: swap(c, bob), status: 502, asks: 1 });
}

/** Two providers, of which one wants the codes of the other. */
async function tryMixedUp(callbacks: Callbacks, world: World, one: WatchedProvider, other: WatchedProvider): Promise<void> {
  const add = async (by: Client, provider: WatchedProvider) => {
    const server = await world.serve();
    protectedResource(server, provider);
    const { serverId, authUrl } = await world.add(by, "Mixed", server.url);
    return { by, serverId, url: new URL(await signIn(authUrl ?? "")) };
  };
  const [mine, evil, bobs, gone] = [
    await add(world.alice, one),
    await add(world.alice, other),
    await add(world.bob, other),
    await add(world.alice, one),
  ];
  for (const [name, to] of [
    ["one's own", evil],
    ["another user's", bobs],
  ] as const) {
    const state = to.url.searchParams.get("state")!;
    const [code, iss] = [mine.url.searchParams.get("code")!, mine.url.searchParams.get("iss")!];
    await callbacks.expectRefused({ name: `a code of another provider for ${name}`, url: callbacks.with({ state, code, iss }) });
    await callbacks.expectRefused({ name: `a code of nobody for ${name}`, url: callbacks.with({ state, code }) });
    await callbacks.expectRefused({ name: `a refusal of another provider for ${name}`, url: callbacks.with({ state, error: "x", iss }) });
  }
  await world.alice.call("sys.mcp.remove", { serverId: gone.serverId });
  await callbacks.expectRefused({ name: "of a server that was removed", url: gone.url.href });
  for (const { by, serverId, url } of [mine, evil, bobs]) {
    if (await callbacks.expectTaken("with its own provider", url.href))
      await until(async () => (await world.serverOf(by, serverId))?.state === "ready");
    await by.call("sys.mcp.remove", { serverId });
  }
}
