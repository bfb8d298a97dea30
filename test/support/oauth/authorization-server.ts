// A real OAuth authorization server, oidc-provider, on 127.0.0.1, and the sign-in that a person would do in a browser. No human is needed:
// everybody is signed in and agrees at once, unless a test says that they decline. Metadata that lies is malicious-metadata.ts beside it.

import { generateKeyPairSync, randomBytes, verify, type KeyObject } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Provider, type AccessToken, type Adapter, type Context, type Stored } from "oidc-provider";
import { sendJson, startLocalServer, type LocalServer, type TestMcpServer } from "../mcp/server.ts";

export type AuthorizationServerOptions = {
  accessTokenSeconds?: number;
  /** What access tokens look like. */
  accessTokens?: "opaque" | "jwt";
  /** The scopes of every resource; a request that names none gets the first. */
  scopes?: readonly string[];
  /** False: clients cannot register themselves. */
  mayRegister?: boolean;
  /** Clients that are registered before, in the names of RFC 7591. */
  clients?: readonly Record<string, unknown>[];
};

export type TokenRequest = { grantType: string; clientId: string; resource: string | null; isGranted: boolean };
export type TokenFacts = { clientId: string; audience: readonly string[]; scopes: readonly string[]; expiresAt: number };

export async function startAuthorizationServer(options: AuthorizationServerOptions = {}): Promise<TestAuthorizationServer> {
  let server: TestAuthorizationServer | undefined;
  const http = await startLocalServer((request, response) => server?.handle(request, response));
  server = new TestAuthorizationServer(http, options);
  return server;
}

export class TestAuthorizationServer {
  readonly issuer: string;
  readonly scopes: readonly string[];
  /** Everything that was asked of the token endpoint and answered, in this order. */
  readonly tokenRequests: TokenRequest[] = [];
  /** How often a client asked to be registered. */
  registrations = 0;
  /** True: the person declines when the next sign-in asks. */
  isDeclining = false;
  readonly #http: LocalServer;
  readonly #storage = new Storage();
  readonly #provider: Provider;
  readonly #handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly #publicKey: KeyObject;
  readonly #issued = new Set<string>();
  readonly #refused = new Set<string>();
  #waiting: (() => void)[] | null = null;

  constructor(http: LocalServer, options: AuthorizationServerOptions) {
    this.#http = http;
    this.issuer = http.origin;
    this.scopes = options.scopes ?? ["mcp"];
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    this.#publicKey = publicKey;
    this.#provider = new Provider(this.issuer, configurationOf(options, this.scopes, this.#storage, privateKey));
    this.#provider.on("grant.success", (context) => this.#record(context, true));
    this.#provider.on("grant.error", (context) => this.#record(context, false));
    this.#handle = this.#provider.callback();
  }

  /** How many refresh tokens were exchanged. */
  get refreshes(): number {
    return this.tokenRequests.filter(({ grantType, isGranted }) => grantType === "refresh_token" && isGranted).length;
  }

  /** The requests that wait for `resumeTokenEndpoint`. */
  get held(): number {
    return this.#waiting?.length ?? 0;
  }

  get openSockets(): number {
    return this.#http.openSockets;
  }

  /** From now on requests to the token endpoint wait. */
  pauseTokenEndpoint(): void {
    this.#waiting ??= [];
  }

  resumeTokenEndpoint(): void {
    for (const proceed of this.#waiting?.splice(0) ?? []) proceed();
    this.#waiting = null;
  }

  /** Every grant, and with it every token, is void: the next refresh gets invalid_grant. */
  revokeAll(): void {
    this.expireAccessTokens();
    this.#storage.removeGrants();
  }

  /** The access tokens so far are no longer valid; refresh tokens are. */
  expireAccessTokens(): void {
    for (const token of this.#issued) this.#refused.add(token);
  }

  /** What a resource server may know about an access token; null if it is not valid. */
  async introspect(accessToken: string): Promise<TokenFacts | null> {
    if (this.#refused.has(accessToken)) return null;
    const facts = accessToken.includes(".") ? this.#readJwt(accessToken) : factsOf(await this.#provider.AccessToken.find(accessToken));
    return facts && facts.expiresAt > Date.now() / 1000 ? facts : null;
  }

  /** With `audience`, only a token that was issued for that resource is valid. */
  async isValid(accessToken: string, audience?: string): Promise<boolean> {
    const facts = await this.introspect(accessToken);
    return facts !== null && (audience === undefined || facts.audience.includes(audience));
  }

  async close(): Promise<void> {
    this.resumeTokenEndpoint();
    await this.#http.close();
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.issuer);
    if (url.pathname.startsWith("/interaction/")) return this.#agree(request, response);
    if (url.pathname === "/token" && this.#waiting) await new Promise<void>((resolve) => this.#waiting?.push(resolve));
    if (url.pathname === "/reg" && request.method === "POST") this.registrations++;
    // oidc-provider serves this document only under the name that OpenID Connect gives it.
    if (url.pathname === "/.well-known/oauth-authorization-server") request.url = "/.well-known/openid-configuration";
    // It refuses a request without a scope, which RFC 6749 (3.3) lets a server answer with a default.
    if (url.pathname === "/auth" && !url.searchParams.has("scope")) {
      url.searchParams.set("scope", this.scopes[0] ?? "openid");
      request.url = `${url.pathname}${url.search}`;
    }
    await this.#handle(request, response);
  }

  /** Does what the pages for signing in and agreeing would do. */
  async #agree(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { params } = await this.#provider.interactionDetails(request, response);
    if (this.isDeclining) {
      const declined = { error: "access_denied", error_description: "the person declined" };
      return this.#provider.interactionFinished(request, response, declined);
    }
    const accountId = "alice";
    const grant = new this.#provider.Grant({ accountId, clientId: String(params["client_id"]) });
    const scope = String(params["scope"]);
    grant.addOIDCScope(scope);
    for (const resource of textsOf(params["resource"])) grant.addResourceScope(resource, scope);
    const grantId = await grant.save();
    await this.#provider.interactionFinished(request, response, { login: { accountId }, consent: { grantId } });
  }

  #record({ oidc, body }: Context, isGranted: boolean): void {
    if (isGranted && body?.access_token) this.#issued.add(body.access_token);
    const asked = { ...oidc.params, ...oidc.body };
    this.tokenRequests.push({
      grantType: textsOf(asked["grant_type"]).join(" "),
      clientId: oidc.client?.clientId ?? textsOf(asked["client_id"]).join(" "),
      resource: textsOf(asked["resource"])[0] ?? null,
      isGranted,
    });
  }

  #readJwt(token: string): TokenFacts | null {
    const [header = "", payload = "", signature = ""] = token.split(".");
    const key = { key: this.#publicKey, dsaEncoding: "ieee-p1363" } as const;
    if (!verify("sha256", Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, "base64url"))) return null;
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as AccessToken & { client_id?: string };
    return factsOf({ ...claims, clientId: claims.client_id });
  }
}

/**
 * Follows the redirects of a sign-in as a browser would, to the first address outside the authorization server: the callback with its
 * code, state and iss. Nobody requests that address here.
 */
export async function signIn(authorizationUrl: string): Promise<string> {
  const { origin } = new URL(authorizationUrl);
  const cookies = new Map<string, string>();
  let url = authorizationUrl;
  for (let hop = 0; hop < 10; hop++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, { redirect: "manual", headers: { cookie, accept: "text/html" } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]*)=([^;]*)/.exec(line) ?? [];
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    }
    const location = response.headers.get("location");
    const body = await response.text();
    if (location === null)
      throw new Error(`the authorization server answered ${response.status} instead of a redirect: ${body.slice(0, 2000)}`);
    url = new URL(location, url).href;
    if (new URL(url).origin !== origin) return url;
  }
  throw new Error("the authorization server redirects without end");
}

/** From now on the server takes only tokens that this authorization server issued for it, and says where they come from. */
export function protectedResource(server: TestMcpServer, authorizationServer: TestAuthorizationServer): void {
  const path = "/.well-known/oauth-protected-resource/mcp";
  const scope = authorizationServer.scopes.join(" ");
  const document = {
    resource: server.url,
    authorization_servers: [authorizationServer.issuer],
    scopes_supported: authorizationServer.scopes,
    bearer_methods_supported: ["header"],
  };
  for (const each of [path, "/.well-known/oauth-protected-resource"])
    server.routes.set(each, (_, response) => sendJson(response, 200, document));
  server.authorize = async (bearer) => {
    if (bearer !== null && (await authorizationServer.isValid(bearer, server.url))) return null;
    const error = bearer === null ? "" : 'error="invalid_token", ';
    return { status: 401, wwwAuthenticate: `Bearer ${error}resource_metadata="${server.origin}${path}", scope="${scope}"` };
  };
}

function configurationOf(
  options: AuthorizationServerOptions,
  scopes: readonly string[],
  storage: Storage,
  privateKey: KeyObject,
): Record<string, unknown> {
  const days = 24 * 3600;
  const accessTokenFormat = options.accessTokens ?? "opaque";
  return {
    adapter: (kind: string) => storage.adapterOf(kind),
    clients: options.clients ?? [],
    clientAuthMethods: ["none", "client_secret_basic", "client_secret_post"],
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    clockTolerance: 0,
    cookies: { keys: [randomBytes(16).toString("hex")] },
    enabledJWA: { idTokenSigningAlgValues: ["ES256"] },
    expiresWithSession: () => false,
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      registration: { enabled: options.mayRegister ?? true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_context: unknown, _client: unknown, oneOf?: string | string[]) => oneOf,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context: unknown, resource: string) => ({
          scope: scopes.join(" "),
          audience: resource,
          accessTokenFormat,
          jwt: { sign: { alg: "ES256" } },
        }),
      },
    },
    findAccount: (_context: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    issueRefreshToken: (_context: unknown, client: { grantTypeAllowed(type: string): boolean }) => client.grantTypeAllowed("refresh_token"),
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), kid: "test", use: "sig", alg: "ES256" }] },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    scopes: ["openid", "offline_access", ...scopes],
    ttl: {
      AccessToken: options.accessTokenSeconds ?? 3600,
      AuthorizationCode: 600,
      Grant: 14 * days,
      IdToken: 3600,
      Interaction: 3600,
      RefreshToken: 14 * days,
      Session: 14 * days,
    },
  };
}

/** A parameter of OAuth is absent, a text, or several. */
function textsOf(parameter: unknown): string[] {
  return [parameter].flat().filter((value) => typeof value === "string");
}

function factsOf(token: AccessToken | undefined): TokenFacts | null {
  if (!token) return null;
  return {
    clientId: token.clientId ?? "",
    audience: textsOf(token.aud),
    scopes: (token.scope ?? "").split(" "),
    expiresAt: token.exp ?? 0,
  };
}

/** What oidc-provider keeps. Its own memory is shared by all providers of a process and cannot be emptied. */
class Storage {
  readonly #rows = new Map<string, Stored>();

  adapterOf(kind: string): Adapter {
    const rows = this.#rows;
    const keyOf = (id: string) => `${kind}:${id}`;
    const find = (is: (row: Stored) => boolean) => [...rows].find(([key, row]) => key.startsWith(`${kind}:`) && is(row))?.[1];
    return {
      upsert: async (id, payload) => void rows.set(keyOf(id), payload),
      find: async (id) => rows.get(keyOf(id)),
      findByUid: async (uid) => find((row) => row.uid === uid),
      findByUserCode: async (userCode) => find((row) => row.userCode === userCode),
      consume: async (id) => {
        const row = rows.get(keyOf(id));
        if (row) row.consumed = Math.floor(Date.now() / 1000);
      },
      destroy: async (id) => void rows.delete(keyOf(id)),
      revokeByGrantId: async (grantId) => {
        for (const [key, row] of rows) if (row.grantId === grantId) rows.delete(key);
      },
    };
  }

  removeGrants(): void {
    for (const [key, row] of this.#rows) if (key.startsWith("Grant:") || row.grantId !== undefined) this.#rows.delete(key);
  }
}
