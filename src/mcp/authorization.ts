// How to sign in to an MCP server: reads its metadata and that of its authorization server, and registers a client there. All of it is
// text of strangers: addresses are checked here, and again by the Net port when something is sent to them.

import {
  checkResourceAllowed,
  discoverOAuthServerInfo,
  type OAuthServerInfo,
  registerClient as register,
  selectClientAuthMethod,
} from "@modelcontextprotocol/client";
import { NetError } from "../ports/net.ts";
import { McpError } from "./connection.ts";
import type { McpFetch } from "./fetch.ts";

export type TokenAuth = "none" | "client_secret_basic" | "client_secret_post";

export type AuthorizationServer = {
  issuer: string;
  authorizationEndpoint: string;
  tokenEndpoint: string;
  /** Null if clients cannot register themselves. */
  registrationEndpoint: string | null;
  /** Whether the address of a client's metadata document can be its client id. */
  takesMetadataUrl: boolean;
  tokenAuthMethods: string[];
  /** Whether its callbacks always name the issuer. */
  isIssRequired: boolean;
};

/** `resource` is what tokens are asked for; `scopes` are those to ask for where the server has not said which. */
export type SignInPlan = { server: AuthorizationServer; resource: string; scopes: string | null; supportedScopes: readonly string[] };

export type RegisteredClient = { clientId: string; clientSecret: string | null; tokenAuth: TokenAuth };

/** Throws an McpError if the metadata cannot be used. `checkAddress` throws for an address that must not be opened. */
export async function discoverSignIn(
  serverUrl: string,
  resourceMetadataUrl: string | null,
  fetch: McpFetch,
  checkAddress: (text: string, name: string) => void,
): Promise<SignInPlan> {
  const found = await orUnusable(() =>
    discoverOAuthServerInfo(serverUrl, {
      fetchFn: fetch,
      ...(resourceMetadataUrl === null ? {} : { resourceMetadataUrl: new URL(resourceMetadataUrl) }),
    }),
  );
  const server = toAuthorizationServer(found);
  for (const [name, address] of Object.entries({
    authorization_endpoint: server.authorizationEndpoint,
    token_endpoint: server.tokenEndpoint,
    registration_endpoint: server.registrationEndpoint,
  }))
    if (address !== null) await orUnusable(async () => checkAddress(address, name));
  const { resourceMetadata, authorizationServerMetadata } = found;
  const resource = resourceMetadata?.resource ?? canonicalUrl(serverUrl);
  if (!(await orUnusable(async () => isResourceOf(serverUrl, resource)))) throw unusable("it is for another server");
  return {
    server,
    resource,
    scopes: resourceMetadata?.scopes_supported?.join(" ") || null,
    supportedScopes: authorizationServerMetadata?.scopes_supported ?? [],
  };
}

/** The text is sent on to the provider, so it must not hold what the comparison leaves out. */
function isResourceOf(serverUrl: string, resource: string): boolean {
  const { username, password, hash } = new URL(resource);
  if (username !== "" || password !== "" || hash !== "") return false;
  return checkResourceAllowed({ requestedResource: serverUrl, configuredResource: resource });
}

/** Registers a client, where the authorization server lets clients do so. */
export async function registerClient(
  { issuer, authorizationEndpoint, tokenEndpoint, registrationEndpoint, tokenAuthMethods }: AuthorizationServer,
  redirectUri: string,
  scope: string | null,
  fetch: McpFetch,
): Promise<RegisteredClient> {
  if (registrationEndpoint === null)
    throw unusable(
      "its provider accepts only clients that were registered beforehand: register GSV there, and add the server with that client id (mcp add --client-id)",
    );
  const metadata = {
    issuer,
    authorization_endpoint: authorizationEndpoint,
    token_endpoint: tokenEndpoint,
    registration_endpoint: registrationEndpoint,
    response_types_supported: ["code"],
  };
  const clientMetadata = {
    client_name: "GSV",
    redirect_uris: [redirectUri],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: tokenAuthMethods.length === 0 || tokenAuthMethods.includes("none") ? "none" : tokenAuthMethods[0]!,
    application_type: isLoopbackUrl(redirectUri) ? "native" : "web",
  };
  const client = await orUnusable(() =>
    register(issuer, { metadata, clientMetadata, fetchFn: fetch, ...(scope === null ? {} : { scope }) }),
  );
  if (!/^[\x20-\x7e]{1,2048}$/.test(client.client_id)) throw unusable("its provider made a client id that cannot be used");
  return {
    clientId: client.client_id,
    clientSecret: client.client_secret ?? null,
    tokenAuth: selectClientAuthMethod(client, tokenAuthMethods),
  };
}

/** How a client that was registered beforehand identifies itself. */
export function tokenAuthOf({ tokenAuthMethods }: AuthorizationServer, clientId: string, clientSecret: string | null): TokenAuth {
  const client = { client_id: clientId, ...(clientSecret === null ? {} : { client_secret: clientSecret }) };
  return selectClientAuthMethod(client, tokenAuthMethods);
}

/** A server of the first protocol version has no metadata, but the addresses that it had by convention. */
function toAuthorizationServer({ authorizationServerUrl, authorizationServerMetadata: metadata }: OAuthServerInfo): AuthorizationServer {
  const at = (path: string) => new URL(path, authorizationServerUrl).href;
  if (metadata === undefined) {
    return {
      issuer: authorizationServerUrl,
      authorizationEndpoint: at("/authorize"),
      tokenEndpoint: at("/token"),
      registrationEndpoint: at("/register"),
      takesMetadataUrl: false,
      tokenAuthMethods: [],
      isIssRequired: false,
    };
  }
  if (!metadata.response_types_supported.includes("code")) throw unusable("its provider does not support the authorization code flow");
  // The specification of MCP wants that clients refuse where the metadata does not say so.
  if (!metadata.code_challenge_methods_supported?.includes("S256")) throw unusable("its provider does not support PKCE with S256");
  const extra: Record<string, unknown> = metadata;
  return {
    issuer: metadata.issuer,
    authorizationEndpoint: metadata.authorization_endpoint,
    tokenEndpoint: metadata.token_endpoint,
    registrationEndpoint: metadata.registration_endpoint ?? null,
    takesMetadataUrl: extra.client_id_metadata_document_supported === true,
    tokenAuthMethods: metadata.token_endpoint_auth_methods_supported ?? [],
    isIssRequired: extra.authorization_response_iss_parameter_supported === true,
  };
}

/** Without a fragment, and without the slash that a URL without a path has. */
function canonicalUrl(text: string): string {
  const url = new URL(text);
  url.hash = "";
  return url.pathname === "/" && url.search === "" ? url.origin : url.href;
}

function isLoopbackUrl(text: string): boolean {
  return ["localhost", "127.0.0.1", "[::1]"].includes(new URL(text).hostname);
}

async function orUnusable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof McpError) throw error;
    if (error instanceof NetError) throw new McpError("unreachable", `how to sign in cannot be read: ${error.message}`);
    throw unusable(describe(error));
  }
}

const WHY_CHARS_MAX = 300;

/** May contain text of the provider. */
function describe(error: unknown): string {
  const { issues } = Object(error) as { issues?: { path: PropertyKey[] }[] };
  if (Array.isArray(issues)) {
    const fields = [...new Set(issues.map(({ path }) => path.map(String).join(".")))].filter((field) => field !== "");
    return `its metadata is not valid${fields.length === 0 ? "" : ` (${fields.slice(0, 5).join(", ")})`}`;
  }
  const said = error instanceof Error ? error.message : String(error);
  const text = said
    .slice(0, 2 * WHY_CHARS_MAX)
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .trim();
  return text.length > WHY_CHARS_MAX ? `${text.slice(0, WHY_CHARS_MAX)}...` : text;
}

function unusable(why: string): McpError {
  return new McpError("refused", `its sign-in cannot be used: ${why}`);
}
