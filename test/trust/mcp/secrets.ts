// Tokens, client secrets and values of headers: sealed on disk, and in no frame, log or file. `keepSecrets` makes an account and a server
// that hold some; `checkSecrets` looks for them, and for those that other lists gave the gateway.

import { protectedResource, signIn } from "../../support/oauth/authorization-server.ts";
import type { Bar } from "../bar.ts";
import { callTool, until, visit, type World } from "./world.ts";

const HEADER = "header-9f31c7d05be2";
const CLIENT_SECRET = "client-secret-71b0a94e6c2d4f8896aa0b1c";

/** Returns what must not be found, besides the tokens of all providers. */
export async function keepSecrets(bar: Bar, world: World): Promise<Record<string, string>> {
  const { alice, gateway } = world;
  const client = {
    client_id: "registered",
    client_secret: CLIENT_SECRET,
    redirect_uris: [`${gateway.url}/oauth/callback`],
    token_endpoint_auth_method: "client_secret_basic",
    grant_types: ["authorization_code", "refresh_token"],
  };
  const provider = await world.provide({ mayRegister: false, clients: [client] });
  const server = await world.serve();
  protectedResource(server, provider);
  const { serverId, authUrl } = await world.add(alice, "Secretive", server.url, {
    oauth: { clientId: client.client_id, clientSecret: CLIENT_SECRET },
    transport: { headers: { "X-Api-Key": HEADER } },
  });
  await visit(await signIn(authUrl ?? ""));
  await until(async () => (await world.serverOf(alice, serverId))?.state === "ready");
  provider.expireAccessTokens();
  const { failure } = await callTool(alice, serverId, "echo", { arguments: { text: "x" } });
  bar.check("secrets", failure === null, () => `a call with them failed: ${failure?.code} ${failure?.message}`);
  bar.check("secrets", provider.refreshes === 1, () => `${provider.refreshes} refreshes`);
  const isSent = server.requests.every(({ path, headers }) => !path.startsWith("/mcp") || headers["x-api-key"] === HEADER);
  bar.check("secrets", isSent, () => "the header was not sent with every message");
  const strangers = server.requests.filter(({ path, headers }) => !path.startsWith("/mcp") && JSON.stringify(headers).includes(HEADER));
  bar.check("secrets", strangers.length === 0, () => `the header was sent to ${strangers.map(({ path }) => path).join(" ")}`);
  // An error of the server in which it repeats what it was sent.
  server.authorize = (bearer) => ({ status: 403, wwwAuthenticate: `Bearer error="insufficient_rights", error_description="${bearer}"` });
  await callTool(alice, serverId, "echo");
  const basic = Buffer.from(`${client.client_id}:${CLIENT_SECRET}`).toString("base64");
  return { "a header": HEADER, "a client secret": CLIENT_SECRET, "an encoded client secret": basic };
}

export function checkSecrets(bar: Bar, world: World, others: Record<string, string>): void {
  const secrets = new Map(Object.entries(others));
  for (const { given } of world.providers) {
    for (const [at, token] of given.access.entries()) secrets.set(`access token ${at}`, token);
    for (const [at, token] of given.refresh.entries()) secrets.set(`refresh token ${at}`, token);
  }
  const places = [
    ...world.readFiles(),
    { name: "a frame", bytes: Buffer.from(world.frames.join("\n")) },
    { name: "the output", bytes: Buffer.from(world.printed) },
  ];
  for (const [what, secret] of secrets)
    for (const { name, bytes } of places) bar.check("secrets", !bytes.includes(secret), () => `${what} is in ${name}`);
  bar.numbers["files searched"] = places.length - 2;
  // The search itself: what is no secret is found.
  const found = places.filter(({ bytes }) => bytes.includes("Secretive")).map(({ name }) => name);
  bar.check("secrets", found.includes("a frame") && found.length > 1, () => `the name of a server is only in ${found.join(" and ")}`);
}
