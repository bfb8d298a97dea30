// OAuth accounts: sign-ins with a real authorization server, and what is refused.

import { expect } from "vitest";
import type { Arguments } from "../../../src/client/connection.ts";
import { signIn } from "../../support/oauth/authorization-server.ts";
import { expectRefusal } from "../verifies.ts";
import { visit, withPeers } from "./mcp.ts";

const PROVIDER = {
  kind: "generic",
  provider: "example",
  authorizationEndpoint: "https://id.example/authorize",
  tokenEndpoint: "https://id.example/token",
  clientId: "gsv",
} as const;

/** What `sys.oauth.start` wants for an authorization server of ours. */
function startArgs(issuer: string, host: string, more: Partial<Arguments<"sys.oauth.start">> = {}): Arguments<"sys.oauth.start"> {
  return {
    kind: "generic",
    provider: "test",
    authorizationEndpoint: `${issuer}/auth`,
    tokenEndpoint: `${issuer}/token`,
    clientId: "gsv",
    redirectUri: `${host}/oauth/callback`,
    ...more,
  };
}

const clientFor = (host: string) =>
  ({ clients: [{ client_id: "gsv", redirect_uris: [`${host}/oauth/callback`], token_endpoint_auth_method: "none" }] }) as never;

withPeers("sys.oauth.start:validates", async ({ ann, world, uid, somebody }) => {
  const redirectUri = `${world.host.url}/oauth/callback`;
  const start = (args: object) => ann.call("sys.oauth.start", { ...PROVIDER, redirectUri, ...args });
  await expectRefusal(start({ kind: "other" }), 400, /kind must be one of: ai-provider, mcp-server, generic/);
  await expectRefusal(start({ provider: undefined }), 400, /provider is required/);
  await expectRefusal(start({ provider: 5 }), 400, /provider must be a string/);
  await expectRefusal(start({ provider: "x".repeat(201) }), 400, /provider is too long/);
  await expectRefusal(start({ label: "a\u0007b" }), 400, /label must not contain control characters/);
  await expectRefusal(start({ tokenEndpoint: "/token" }), 400, "tokenEndpoint must be an absolute URL");
  await expectRefusal(
    start({ authorizationEndpoint: "https://a:b@id.example/" }),
    400,
    "authorizationEndpoint must not include credentials",
  );
  await expectRefusal(start({ authorizationEndpoint: "javascript:alert(1)" }), 400, /authorizationEndpoint must use https/);
  await expectRefusal(
    start({ tokenEndpoint: "http://id.example/" }),
    400,
    "tokenEndpoint must use https, except localhost development URLs",
  );
  await expectRefusal(start({ extraAuthParams: { state: "x" } }), 400, /extraAuthParams cannot override state/);
  await expectRefusal(start({ extraAuthParams: { "a b": "x" } }), 400, /extraAuthParams/);
  const other = await somebody();
  await expectRefusal(other.call("sys.oauth.start", { ...PROVIDER, redirectUri, uid }), 403, /for another user/);
});

withPeers("sys.oauth.start:redirect", async ({ ann, world }) => {
  const at = (redirectUri: string) => ann.call("sys.oauth.start", { ...PROVIDER, redirectUri });
  for (const url of [
    "https://evil.example/oauth/callback",
    `${world.host.url}/oauth/callback2`,
    `${world.host.url}/oauth/callback?x=1`,
    `${world.host.url}/`,
  ])
    await expectRefusal(at(url), 400, /redirectUri must be \/oauth\/callback of this gateway/);
  await at(`${world.host.url}/oauth/callback`);
});

withPeers("sys.oauth.start:flow", async ({ ann, world, provider }) => {
  const auth = await provider(clientFor(world.host.url));
  const extraAuthParams = { prompt: "consent" };
  const { authorizationUrl, flow } = await ann.call(
    "sys.oauth.start",
    startArgs(auth.issuer, world.host.url, { extraAuthParams, label: "Work" }),
  );
  const { searchParams } = new URL(authorizationUrl);
  expect(searchParams.get("state")).toMatch(/^[\w-]{43}$/);
  expect(searchParams.get("code_challenge")).toMatch(/^[\w-]{43}$/);
  expect(flow).toMatchObject({ accountKey: "default", label: "Work", expiresAt: flow.createdAt + 600_000 });
  expect((await ann.call("sys.oauth.list", { includePending: true })).flows).toContainEqual(flow);
  const page = await visit(await signIn(authorizationUrl));
  expect([page.status, page.text]).toEqual([200, expect.stringMatching(/GSV is now signed in to Work, for its user \w+\./)]);
  const listed = await ann.call("sys.oauth.list", { includePending: true });
  expect(listed).toMatchObject({
    accounts: [{ provider: "test", label: "Work", tokenType: "Bearer", state: "active", usedBy: [] }],
  });
  expect(listed.flows).not.toContainEqual(flow);
  const [account] = listed.accounts;
  expect(Object.keys(account!).filter((key) => /token$|secret/i.test(key))).toEqual([]);
  // Signing in again replaces it.
  const second = await ann.call("sys.oauth.start", startArgs(auth.issuer, world.host.url));
  await visit(await signIn(second.authorizationUrl));
  expect((await ann.call("sys.oauth.list", {})).accounts.map(({ accountId }) => accountId)).toEqual([account!.accountId]);
  await ann.call("sys.oauth.forget", { accountId: account!.accountId });
});

withPeers("sys.oauth.start:state", async ({ ann, world, provider, somebody }) => {
  const auth = await provider(clientFor(world.host.url));
  const { url } = world.host;
  const callback = `${url}/oauth/callback`;
  const begin = async (more = {}) => (await ann.call("sys.oauth.start", startArgs(auth.issuer, url, more))).authorizationUrl;
  const before = (await ann.call("sys.oauth.list", {})).accounts.length;
  const accounts = async () => (await ann.call("sys.oauth.list", {})).accounts.length - before;
  expect(await visit(callback)).toMatchObject({ status: 400, text: expect.stringContaining("without a sign-in") });
  expect(await visit(`${callback}?state=made-up&code=x`)).toMatchObject({
    status: 400,
    text: expect.stringContaining("This sign-in is over"),
  });
  // A provider's refusal, with text that would be markup.
  const refused = new URL(await begin()).searchParams.get("state")!;
  const said = encodeURIComponent('<img src=x onerror="alert(1)">');
  const page = await visit(`${callback}?state=${refused}&error=access_denied&error_description=${said}`);
  expect([page.status, page.text.includes("<img"), page.text.includes("access_denied")]).toEqual([400, false, true]);
  expect((await visit(`${callback}?state=${refused}&code=x`)).status).toBe(400);
  // Without a code the flow stays; with a wrong one it ends.
  const wrong = new URL(await begin()).searchParams.get("state")!;
  expect(await visit(`${callback}?state=${wrong}`)).toMatchObject({ status: 400, text: expect.stringContaining("sent no code") });
  expect(await visit(`${callback}?state=${wrong}&code=not-a-code`)).toMatchObject({
    status: 502,
    text: expect.stringContaining("Nothing was stored"),
  });
  expect(await accounts()).toBe(0);
  // States swapped between two sign-ins, of which one is another user's.
  const other = await somebody();
  const theirs = await other.call("sys.oauth.start", startArgs(auth.issuer, url));
  const [mine, yours] = [new URL(await signIn(await begin())), new URL(await signIn(theirs.authorizationUrl))];
  const swapped = `${callback}?state=${mine.searchParams.get("state")}&code=${yours.searchParams.get("code")}`;
  expect((await visit(swapped)).status).toBe(502);
  expect([await accounts(), (await other.call("sys.oauth.list", {})).accounts.length]).toEqual([0, 0]);
  // A callback that is replayed changes nothing.
  const good = await signIn(await begin());
  expect(await visit(good)).toMatchObject({ status: 200 });
  const [account] = (await ann.call("sys.oauth.list", {})).accounts;
  expect((await visit(good)).status).toBe(400);
  expect((await ann.call("sys.oauth.list", {})).accounts).toEqual([account]);
  // A newer page for the same account makes the older one void.
  const [older] = [await begin(), await begin()];
  expect((await visit(await signIn(older))).status).toBe(400);
  await ann.call("sys.oauth.forget", { accountId: account!.accountId });
});

withPeers("sys.oauth.list:own", async ({ ann, root, uid, somebody, world, provider }) => {
  const auth = await provider(clientFor(world.host.url));
  await visit(await signIn((await ann.call("sys.oauth.start", startArgs(auth.issuer, world.host.url))).authorizationUrl));
  const other = await somebody();
  expect(await other.call("sys.oauth.list", { includePending: true })).toEqual({ accounts: [], flows: [] });
  await expectRefusal(other.call("sys.oauth.list", { uid }), 403, "Permission denied: cannot list accounts for another user");
  const { accounts } = await root.call("sys.oauth.list", { uid });
  expect(accounts).toMatchObject([{ uid, provider: "test" }]);
  await ann.call("sys.oauth.forget", { accountId: accounts[0]!.accountId });
});

withPeers("sys.oauth.forget:own", async ({ ann, somebody, world, provider, mcp, add, serverOf }) => {
  const auth = await provider(clientFor(world.host.url));
  const peer = await mcp();
  const { protectedResource } = await import("../../support/oauth/authorization-server.ts");
  protectedResource(peer, auth);
  // A server uses only the account that its own sign-in made, whatever another one says that it is for.
  const start = startArgs(auth.issuer, world.host.url, { kind: "mcp-server", resource: peer.url });
  await visit(await signIn((await ann.call("sys.oauth.start", start)).authorizationUrl));
  const server = await add(ann, peer.url);
  expect(server.state).toBe("authenticating");
  expect((await ann.call("sys.oauth.list", {})).accounts).toMatchObject([{ accountKey: "default", usedBy: [] }]);
  const taken = ann.call("sys.oauth.start", { ...start, accountKey: server.serverId });
  await expectRefusal(taken, 400, /accountKey is the id of an MCP server/);
  await visit(await signIn(server.authUrl!));
  await expect.poll(async () => (await serverOf(ann, server.serverId)).state, { timeout: 10_000 }).toBe("ready");
  const { accounts } = await ann.call("sys.oauth.list", {});
  const account = accounts.find(({ accountKey }) => accountKey === server.serverId);
  expect(account).toMatchObject({ usedBy: ["Test"], resource: peer.url });
  const other = await somebody();
  expect(await other.call("sys.oauth.forget", { accountId: account!.accountId })).toEqual({ forgotten: false });
  expect(await other.call("sys.oauth.forget", { accountId: "none" })).toEqual({ forgotten: false });
  expect(await ann.call("sys.oauth.forget", { accountId: account!.accountId })).toEqual({ forgotten: true });
  await expectRefusal(ann.call("sys.mcp.call", { serverId: server.serverId, name: "echo" }), 409, /wants a sign-in/);
  expect((await serverOf(ann, server.serverId)).state).toBe("authenticating");
});

withPeers("sys.oauth.forget:metadata", async ({ world }) => {
  const url = `${world.host.url}/.well-known/oauth-client/gsv.json`;
  const response = await fetch(url);
  expect([response.headers.get("access-control-allow-origin"), response.headers.get("cache-control")]).toEqual(["*", "no-store"]);
  expect(await response.json()).toEqual({
    client_id: url,
    client_name: "GSV",
    client_uri: world.host.url,
    application_type: "web",
    response_types: ["code"],
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: "none",
    redirect_uris: [`${world.host.url}/oauth/callback`],
    code_challenge_methods_supported: ["S256"],
  });
});
