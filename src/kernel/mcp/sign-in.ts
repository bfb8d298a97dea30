// Starts the sign-in to an MCP server: finds out how, chooses or registers a client, and makes the page that its owner opens.

import { fail } from "../../lib/sys-error.ts";
import type { Challenge } from "../../mcp/connection.ts";
import type { SignInPlan, RegisteredClient } from "../../mcp/authorization.ts";
import type { McpAccess, SignInPage } from "../nouns/mcp-servers.ts";
import { UnsealError } from "../../ports/crypto.ts";
import type { OAuthAccount, OAuthAccounts, OAuthCredential } from "../nouns/oauth-accounts.ts";
import { mustBeRemoteUrl } from "../oauth/addresses.ts";
import { CALLBACK_PATH, CLIENT_METADATA_PATH, type OAuth } from "../oauth/oauth.ts";
import type { Store } from "../store.ts";

const SAME_RIGHTS =
  "the sign-in has all the rights that the server asks for, but the server refuses it. If your rights there have changed, forget its account (oauth forget) and sign in again";

/** Throws an McpError if the server's sign-in cannot be used. */
export async function startSignIn(store: Store, oauth: OAuth, access: McpAccess, challenge: Challenge | null): Promise<SignInPage> {
  const { ports, nouns } = store;
  const [{ discoverSignIn }, { McpError }, { makeMetadataFetch }] = await Promise.all([
    import("../../mcp/authorization.ts"),
    import("../../mcp/connection.ts"),
    import("../../mcp/fetch.ts"),
  ]);
  const redirectUri =
    access.callbackUrl ??
    fail(400, "The gateway does not know at which address the sign-in can return to it: give callbackHost, such as https://gsv.example");
  const plan = await discoverSignIn(access.url, challenge?.resourceMetadataUrl ?? null, makeMetadataFetch(ports.net), (text, name) => {
    mustBeRemoteUrl(text, name);
  });
  const problem = findForeignTokenHost(plan, access.client?.tokenHost ?? null);
  if (problem !== null) throw new McpError("refused", problem);
  await bindRegisteredClient(store, access, plan);
  const account = access.accountId === null ? undefined : nouns.oauthAccounts.get(access.accountId);
  // What the server asks for, else what it lists; more scope is asked for in addition to what there is.
  const asked = splitScope(challenge?.scope ?? plan.scopes);
  const had = challenge?.isMoreScope === true ? splitScope(account?.scope) : [];
  // Its owner would sign in again and again, each time for the same rights.
  if (challenge?.isMoreScope === true && account !== undefined && asked.every((one) => had.includes(one)))
    throw new McpError("refused", SAME_RIGHTS);
  const scope = joinScopes([...had, ...asked], plan);
  const { clientId, clientSecret, tokenAuth } = await chooseClient(store, access, plan, { redirectUri, scope, account });
  const { server, resource } = plan;
  const { authorizationUrl, flow } = await oauth.startFlow(
    {
      uid: access.uid,
      kind: "mcp-server",
      provider: server.issuer,
      accountKey: access.serverId,
      label: access.name,
      authorizationEndpoint: server.authorizationEndpoint,
      tokenEndpoint: server.tokenEndpoint,
      clientId,
      redirectUri,
      scope,
      resource,
      secrets: { verifier: "", clientSecret, tokenAuth },
      issuer: server.issuer,
      isIssRequired: server.isIssRequired,
      serverId: access.serverId,
    },
    // Some providers give a refresh token only after they have asked.
    scope?.split(" ").includes("offline_access") === true ? { prompt: "consent" } : {},
  );
  return { authUrl: authorizationUrl, until: flow.expiresAt };
}

/**
 * Metadata can name the page of one provider and send the code to another, who would then sign in with it. A provider that names itself
 * in its answers cannot be abused so; of others both addresses must be of one host, unless the owner knows better.
 */
function findForeignTokenHost({ server }: SignInPlan, known: string | null): string | null {
  const [page, token] = [new URL(server.authorizationEndpoint).host, new URL(server.tokenEndpoint).host];
  if (server.isIssRequired || token === known || page === token) return null;
  if (page.endsWith(`.${token}`) || token.endsWith(`.${page}`)) return null;
  return `its sign-in page is at ${page}, but what you get there would be sent to ${token}. If you know that both are of one provider, add the server with that token host (mcp add --token-host ${token})`;
}

/** A registered client belongs to the provider of its first sign-in: no other gets its secret, whatever the server says later. */
async function bindRegisteredClient(store: Store, { serverId, client, clientIssuer }: McpAccess, { server }: SignInPlan): Promise<void> {
  if (client === null || client.clientId === null || clientIssuer === server.issuer) return;
  if (clientIssuer === null) return store.commit(({ mcpServers }) => mcpServers.setClientIssuer(serverId, server.issuer));
  const { McpError } = await import("../../mcp/connection.ts");
  throw new McpError(
    "refused",
    `it now wants a sign-in at ${server.issuer}, but the client that you registered is one of ${clientIssuer}. If that is right, remove the server and add it again`,
  );
}

function splitScope(scope: string | null | undefined): string[] {
  return (scope ?? "").split(" ").filter((one) => one !== "");
}

function joinScopes(wanted: readonly string[], { supportedScopes }: SignInPlan): string | null {
  const scopes = new Set(wanted);
  if (scopes.size > 0 && supportedScopes.includes("offline_access")) scopes.add("offline_access");
  return scopes.size === 0 ? null : [...scopes].join(" ");
}

type Wanted = { redirectUri: string; scope: string | null; account: OAuthAccount | undefined };

/** A client that its owner registered; else this gateway's metadata, where the provider takes that; else one registered now or before. */
async function chooseClient(
  { ports, nouns }: Store,
  access: McpAccess,
  { server }: SignInPlan,
  { redirectUri, scope, account }: Wanted,
): Promise<RegisteredClient> {
  const [{ registerClient, tokenAuthOf }, { makeMetadataFetch }] = await Promise.all([
    import("../../mcp/authorization.ts"),
    import("../../mcp/fetch.ts"),
  ]);
  const { clientId = null, clientSecret = null } = access.client ?? {};
  if (clientId !== null) return { clientId, clientSecret, tokenAuth: tokenAuthOf(server, clientId, clientSecret) };
  const metadataUrl = redirectUri.replace(CALLBACK_PATH, CLIENT_METADATA_PATH);
  if (server.takesMetadataUrl && metadataUrl.startsWith("https:")) return { clientId: metadataUrl, clientSecret: null, tokenAuth: "none" };
  const isKnown = account !== undefined && account.provider === server.issuer && account.metadata.redirectUri === redirectUri;
  const credential = isKnown ? findCredential(nouns.oauthAccounts, account.accountId) : undefined;
  if (isKnown && credential !== undefined) {
    const { clientSecret, tokenAuth } = credential.secrets;
    return { clientId: account.clientId, clientSecret, tokenAuth };
  }
  return registerClient(server, redirectUri, scope, makeMetadataFetch(ports.net));
}

/** Undefined, too, if the gateway's key was replaced: then another client is registered. */
function findCredential(accounts: Pick<OAuthAccounts, "credentialOf">, accountId: string): OAuthCredential | undefined {
  try {
    return accounts.credentialOf(accountId);
  } catch (error) {
    if (error instanceof UnsealError) return undefined;
    throw error;
  }
}
