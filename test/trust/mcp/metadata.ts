// Every lie of test/support/oauth/malicious-metadata.ts: where the sign-in must have ended, that nothing was stored, and that neither a code
// nor a token nor anything else went where it does not belong.

import { type MaliciousCase, type MaliciousMetadata, type Stage, startMaliciousMetadata } from "../../support/oauth/malicious-metadata.ts";
import type { Bar } from "../bar.ts";
import { callTool, forEach, isClearText, outcomeOf, until, visit, type World } from "./world.ts";

/** Ten seconds and more: they run beside everything else. */
const SLOW = ["resource-hang", "server-hang", "token-hang"];
/** Those that are noticed elsewhere than their stage says. `nowhere`: the page leads back to nobody. `taken`: what is left out is optional. */
const ELSEWHERE: Record<string, "nowhere" | "token" | "taken"> = {
  // A URL parser drops the line break, and what remains is an address of the provider.
  "authorize-lines": "nowhere",
  // Whether an address may be reached is known when something is sent.
  "token-canary": "token",
  // Many providers leave it out. The token goes to the server it is for, as a bearer token.
  "token-type-missing": "taken",
};
const REFUSALS: Record<Exclude<Stage, "discovery" | "registration">, number> = { callback: 400, token: 502 };
const AT_ONCE = 10;
const CODES = [400, 503, 504];

export async function tryMetadata(bar: Bar, world: World): Promise<void> {
  const liars = world.keep(await startMaliciousMetadata(world.canaryUrl));
  await world.allow(liars.honest);
  await tryHonest(bar, world, liars);
  await forEach(
    liars.cases.filter(({ name }) => !SLOW.includes(name)),
    AT_ONCE,
    (one) => tryLie(bar, world, one),
  );
  checkRequests(bar, world, liars);
  bar.check("metadata", await until(() => liars.openSockets === 0), () => `${liars.openSockets} sockets to liars are open`);
  await liars.close();
}

export async function trySlowLies(bar: Bar, world: World, liars: MaliciousMetadata): Promise<void> {
  await Promise.all(liars.cases.filter(({ name }) => SLOW.includes(name)).map((one) => tryLie(bar, world, one)));
}

/** Without a lie it works, or the others show nothing. */
async function tryHonest(bar: Bar, world: World, { honest }: MaliciousMetadata): Promise<void> {
  const { serverId, authUrl } = await world.add(world.alice, "honest", honest);
  const page = await visit((await followPage(authUrl)) ?? "");
  bar.check("honest", page.status === 200, () => `the page has status ${page.status}`);
  const { failure } = await callTool(world.alice, serverId, "t");
  bar.check("honest", failure === null, () => `${failure?.code} ${failure?.message}`);
  await world.alice.call("sys.mcp.remove", { serverId });
}

async function tryLie(bar: Bar, world: World, { name, url, stage }: MaliciousCase): Promise<void> {
  const { alice } = world;
  const added = await outcomeOf(world.add(alice, name, url));
  const isEarly = ELSEWHERE[name] === undefined && (stage === "discovery" || stage === "registration");
  if (added.failure !== null) {
    const { code, message } = added.failure;
    bar.check("metadata", isEarly && CODES.includes(code), () => `${name}: ${code} ${message}`);
    bar.check("texts", isClearText(message), () => `${name}: ${JSON.stringify(message)}`);
    return;
  }
  const { serverId, authUrl } = added.result;
  bar.check("metadata", !isEarly, () => `${name}: the person is sent to ${authUrl}`);
  if (!isEarly) await followLie(bar, { name, stage, authUrl });
  const known = ELSEWHERE[name] === "taken";
  const { accounts } = await alice.call("sys.oauth.list", {});
  const account = accounts.find(({ provider }) => provider.endsWith(`/${name}/as`));
  bar.check("metadata", known || account === undefined, () => `${name}: an account was stored: ${JSON.stringify(account)}`);
  const server = await world.serverOf(alice, serverId);
  bar.check("metadata", known || server?.state === "authenticating", () => `${name}: the server is ${server?.state}`);
  bar.check("texts", server?.error == null || isClearText(server.error), () => `${name}: ${JSON.stringify(server?.error)}`);
  await alice.call("sys.mcp.remove", { serverId });
}

async function followLie(bar: Bar, { name, stage, authUrl }: { name: string; stage: Stage; authUrl: string | null }): Promise<void> {
  const isPlain = authUrl !== null && /^https?:\/\/[\x21-\x7e]+$/.test(authUrl);
  bar.check("metadata", isPlain, () => `${name}: the address of the page is ${JSON.stringify(authUrl)}`);
  const back = await followPage(authUrl);
  const ends = ELSEWHERE[name] ?? stage;
  if (ends === "nowhere") return bar.check("metadata", back === null, () => `${name}: the page leads back to ${back}`);
  if (back === null) return bar.check("metadata", false, () => `${name}: the page leads nowhere`);
  const page = await visit(back);
  const wanted = ends === "taken" ? 200 : REFUSALS[ends === "token" ? "token" : "callback"];
  bar.check("metadata", page.status === wanted, () => `${name}: the callback has status ${page.status}, wanted ${wanted}`);
}

/** Where the provider's page sends the person. */
async function followPage(authUrl: string | null): Promise<string | null> {
  if (authUrl === null) return null;
  const response = await fetch(authUrl, { redirect: "manual" });
  await response.body?.cancel();
  return response.headers.get("location");
}

function checkRequests(bar: Bar, world: World, { cases, requests }: MaliciousMetadata): void {
  const trusted = ["honest", ...Object.keys(ELSEWHERE).filter((name) => ELSEWHERE[name] === "taken")];
  const stageOf = new Map(cases.map(({ name, stage }) => [name, stage]));
  for (const { path, headers, body } of requests) {
    const name = path.split(/[/?]/).find((part) => part === "honest" || stageOf.has(part)) ?? "";
    const isTrusted = trusted.includes(name);
    const { authorization } = headers;
    bar.check(
      "sent secrets",
      authorization === undefined || (isTrusted && path.startsWith(`/${name}/mcp`)),
      () => `${path} was sent ${authorization}`,
    );
    if (!/code=|code_verifier|refresh_token=/.test(body)) continue;
    const isDue = path === `/${name}/as/token` && (isTrusted || stageOf.get(name) === "token");
    bar.check("sent secrets", isDue, () => `${path} was sent ${body}`);
  }
  bar.check("elsewhere", world.canaryHits === 0, () => `the canary was contacted ${world.canaryHits} times`);
}
