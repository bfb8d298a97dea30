// Starts the sign-in to an MCP server: finds out how, chooses or registers a client, and makes the page that its owner opens.

import { fail } from "../../lib/sys-error.ts";
import type { Challenge } from "../../mcp/connection.ts";
import type { SignInPlan, RegisteredClient } from "../../mcp/authorization.ts";
import type { McpAccess } from "../nouns/mcp-servers.ts";
import type { OAuthAccount } from "../nouns/oauth-accounts.ts";
import { mustBeRemoteUrl } from "../oauth/addresses.ts";
import { CALLBACK_PATH, CLIENT_METADATA_PATH, type OAuth } from "../oauth/oauth.ts";
import type { Store } from "../store.ts";

export type StartedSignIn = { authUrl: string; until: number };

const SAME_RIGHTS =
  "the sign-in has all the rights that the server asks for, but the server refuses it. If your rights there have changed, forget its account (oauth forget) and sign in again";

/** Throws an McpError if the server's sign-in cannot be used. */
export async function startSignIn(store: Store, oauth: OAuth, access: McpAccess, challenge: Challenge | null): Promise<StartedSignIn> {
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
  if (access.client !== null) {
    const { clientId, clientSecret } = access.client;
    return { clientId, clientSecret, tokenAuth: tokenAuthOf(server, clientId, clientSecret) };
  }
  const metadataUrl = redirectUri.replace(CALLBACK_PATH, CLIENT_METADATA_PATH);
  if (server.takesMetadataUrl && metadataUrl.startsWith("https:")) return { clientId: metadataUrl, clientSecret: null, tokenAuth: "none" };
  const isKnown = account !== undefined && account.provider === server.issuer && account.metadata.redirectUri === redirectUri;
  const credential = isKnown ? nouns.oauthAccounts.credentialOf(account.accountId) : undefined;
  if (isKnown && credential !== undefined) {
    const { clientSecret, tokenAuth } = credential.secrets;
    return { clientId: account.clientId, clientSecret, tokenAuth };
  }
  return registerClient(server, redirectUri, scope, makeMetadataFetch(ports.net));
}
