// Signs users in with OAuth providers, and hands out access tokens to the parts of the kernel that use them. Only this file refreshes
// tokens: once for all who wait, and the new ones are on disk before anybody gets them, because a provider may accept a refresh token only
// once. Tokens go nowhere but to the provider and to the one server they are for.

import { toBase64Url } from "../../lib/base64.ts";
import { fail, SysError } from "../../lib/sys-error.ts";
import { UnsealError } from "../../ports/crypto.ts";
import { type Caller, isRoot } from "../../protocol/caller.ts";
import type { OAuthFlowSummary } from "../../protocol/oauth-records.ts";
import type { OAuthCredential } from "../nouns/oauth-accounts.ts";
import type { NewOAuthFlow, OAuthFlow } from "../nouns/oauth-flows.ts";
import type { Store } from "../store.ts";
import { mustBeRemoteOrigin, mustBeRemoteUrl } from "./addresses.ts";
import { requestTokens, TokenError } from "./token-endpoint.ts";

export const CALLBACK_PATH = "/oauth/callback";
export const CLIENT_METADATA_PATH = "/.well-known/oauth-client/gsv.json";

/** Tokens that end sooner are replaced before they are used. */
const EARLY_MS = 30_000;
const STATE_BYTES = 32;
const VERIFIER_BYTES = 48;

export type StartArgs = {
  uid?: number | undefined;
  kind: NewOAuthFlow["kind"];
  provider: string;
  accountKey?: string | undefined;
  label?: string | undefined;
  authorizationEndpoint: string;
  tokenEndpoint: string;
  clientId: string;
  redirectUri: string;
  scope?: string | undefined;
  resource?: string | undefined;
  extraAuthParams?: Record<string, string> | undefined;
};

/** What a callback led to, for the person who sees the page. */
export type CallbackOutcome =
  | { ok: true; label: string; username: string; accountId: string; flow: OAuthFlow }
  | { ok: false; status: 400 | 502; title: string; message: string; flow: OAuthFlow | null };

/** Thrown where an account can no longer be used until its owner signs in again. */
export class SignInRequired extends Error {
  constructor(message: string) {
    super(message);
    this.name = "SignInRequired";
  }
}

export class OAuth {
  readonly #store: Store;
  /** The addresses of this gateway, if the host knows them. */
  readonly #origins: () => readonly string[];
  readonly #refreshes = new Map<string, Promise<string>>();

  constructor(store: Store, origins: () => readonly string[]) {
    this.#store = store;
    this.#origins = origins;
  }

  async start(caller: Caller, args: StartArgs): Promise<{ authorizationUrl: string; flow: OAuthFlowSummary }> {
    const { uid = caller.uid, kind, provider, accountKey = "default", label = null, scope = null, resource = null } = args;
    if (!isRoot(caller) && uid !== caller.uid) fail(403, "Permission denied: cannot sign in for another user");
    if (this.#store.reads.accounts.findByUid(uid) === undefined) fail(404, `Unknown uid: ${uid}`);
    // The server would send the tokens of this provider to its own address.
    if (kind === "mcp-server" && this.#store.reads.mcpServers.uidOf(accountKey) === uid)
      fail(400, "accountKey is the id of an MCP server, which starts its own sign-ins: mcp refresh");
    mustBeRemoteUrl(args.authorizationEndpoint, "authorizationEndpoint");
    mustBeRemoteUrl(args.tokenEndpoint, "tokenEndpoint");
    if (resource !== null && !URL.canParse(resource)) fail(400, "resource must be an absolute URL");
    this.#checkRedirectUri(caller, args.redirectUri);
    const { authorizationEndpoint, tokenEndpoint, clientId, redirectUri } = args;
    return this.startFlow(
      {
        uid,
        kind,
        provider,
        accountKey,
        label,
        authorizationEndpoint,
        tokenEndpoint,
        clientId,
        redirectUri,
        scope,
        resource,
        secrets: { verifier: "", clientSecret: null, tokenAuth: "none" },
        issuer: null,
        isIssRequired: false,
        serverId: null,
      },
      args.extraAuthParams ?? {},
    );
  }

  /** The verifier of the flow is made here. */
  async startFlow(
    wanted: NewOAuthFlow,
    extraParams: Readonly<Record<string, string>>,
  ): Promise<{ authorizationUrl: string; flow: OAuthFlowSummary }> {
    const { crypto } = this.#store.ports;
    const state = toBase64Url(crypto.randomBytes(STATE_BYTES));
    const verifier = toBase64Url(crypto.randomBytes(VERIFIER_BYTES));
    const url = mustBeRemoteUrl(wanted.authorizationEndpoint, "authorizationEndpoint");
    const params: Record<string, string | null> = {
      ...extraParams,
      response_type: "code",
      client_id: wanted.clientId,
      redirect_uri: wanted.redirectUri,
      state,
      code_challenge: toBase64Url(crypto.sha256(verifier)),
      code_challenge_method: "S256",
      scope: wanted.scope,
      resource: wanted.resource,
    };
    for (const [name, value] of Object.entries(params)) if (value !== null) url.searchParams.set(name, value);
    const flow = await this.#store.commit(({ oauthFlows, now }) =>
      oauthFlows.add({ ...wanted, secrets: { ...wanted.secrets, verifier } }, state, now),
    );
    const { secrets: _, issuer: __, isIssRequired: ___, serverId: ____, ...summary } = flow;
    return { authorizationUrl: url.href, flow: summary };
  }

  /** The gateway's callback address for a caller: at the address they name, or the one they use. */
  callbackUrlFor(caller: Caller, callbackHost: string | undefined): string | null {
    if (callbackHost === undefined) {
      const origin = this.#originOf(caller);
      return origin === null ? null : `${origin}${CALLBACK_PATH}`;
    }
    const url = `${mustBeRemoteOrigin(callbackHost, "callbackHost")}${CALLBACK_PATH}`;
    this.#checkRedirectUri(caller, url);
    return url;
  }

  /** Handles a request to the callback address. `origin` is the gateway's own address that the request came to. */
  async finish(params: URLSearchParams, origin: string): Promise<CallbackOutcome> {
    const { reads } = this.#store;
    const state = params.get("state");
    if (state === null || state === "") return refuse("This page was opened without a sign-in", "Start the sign-in again in GSV.");
    const flow = reads.oauthFlows.find(state, reads.now);
    if (flow === undefined || flow.redirectUri !== `${origin}${CALLBACK_PATH}`)
      return refuse("This sign-in is over", "It was finished before, or it took longer than ten minutes. Start it again in GSV.");
    const iss = params.get("iss");
    // Another provider must not be able to end this sign-in, nor have its words shown.
    if ((iss !== null && flow.issuer !== null && !isSameIssuer(iss, flow.issuer)) || (iss === null && flow.isIssRequired))
      return refuse("This answer came from another provider", "Nothing was stored. Start the sign-in again in GSV.");
    const error = params.get("error");
    if (error === null && (params.get("code") ?? "") === "")
      return refuse("The provider sent no code", "Nothing was stored. Go back to the provider's page and try again.");
    // A state counts once, whatever comes of it.
    const isFirst = await this.#store.commit(({ oauthFlows }) => oauthFlows.delete(flow.flowId));
    if (!isFirst) return refuse("This sign-in is over", "It was finished before. Start it again in GSV.");
    if (error !== null) {
      const why = `${error}${params.get("error_description") ? `: ${params.get("error_description")}` : ""}`;
      return refuse("The provider refused the sign-in", `It says: ${clean(why)}. Nothing was stored.`, flow);
    }
    return this.#redeem(flow, params.get("code")!);
  }

  async #redeem(flow: OAuthFlow, code: string): Promise<CallbackOutcome> {
    const { ports, reads } = this.#store;
    const { uid, kind, provider, accountKey, label, tokenEndpoint, clientId, redirectUri, resource, secrets } = flow;
    const account = reads.accounts.findByUid(uid);
    if (account === undefined || account.locked) return refuse("This sign-in is over", "The user it was for cannot sign in.", flow);
    const { clientSecret, tokenAuth, verifier } = secrets;
    try {
      const tokens = await requestTokens(
        ports.net,
        { tokenEndpoint, clientId, clientSecret, tokenAuth },
        {
          grant_type: "authorization_code",
          code,
          redirect_uri: redirectUri,
          code_verifier: verifier,
          ...(resource === null ? {} : { resource }),
        },
        () => reads.now,
      );
      const { accessToken, refreshToken, tokenType, expiresAt } = tokens;
      const accountId = await this.#store.commit(({ oauthAccounts, mcpServers, emit, after, now }) => {
        const { serverId } = flow;
        if (serverId !== null && mcpServers.uidOf(serverId) !== uid) return null;
        after(() => emit.announceChanges(uid, serverId === null ? ["oauth"] : ["oauth", "mcp"]));
        const id = oauthAccounts.put(
          {
            uid,
            kind,
            provider,
            accountKey,
            label,
            scope: tokens.scope ?? flow.scope,
            resource,
            tokenEndpoint,
            clientId,
            tokenType,
            expiresAt,
            secrets: { accessToken, refreshToken, clientSecret, tokenAuth },
            metadata: { authorizedAt: now, redirectUri, ...(serverId === null ? {} : { serverId }) },
          },
          now,
        );
        if (serverId !== null) mcpServers.linkAccount(serverId, id, now);
        return id;
      });
      if (accountId === null) return refuse("This sign-in is over", "The MCP server it was for has been removed. Nothing was stored.");
      return { ok: true, label: label ?? provider, username: account.username, accountId, flow };
    } catch (error) {
      // The state is used up, so the server must learn that its page is, too.
      if (!(error instanceof TokenError || error instanceof SysError)) throw error;
      return { ok: false, status: 502, title: "The sign-in did not work", message: `${error.message}. Nothing was stored.`, flow };
    }
  }

  /**
   * A token that the server accepts, as far as is known; it is refreshed first if it is about to end, or if it is the one that the server
   * has just refused. Throws SignInRequired.
   */
  async accessTokenOf(accountId: string, refused?: string): Promise<string> {
    const { nouns, reads } = this.#store;
    const credential = this.#credentialOf(accountId);
    const account = nouns.oauthAccounts.get(accountId);
    if (credential === undefined || account === undefined) throw new SignInRequired("The account is gone");
    if (account.state === "needs_login") throw new SignInRequired("The provider no longer accepts the sign-in");
    const { accessToken, refreshToken } = credential.secrets;
    // Without a refresh token, every second of it counts.
    const earlyMs = refreshToken === null ? 0 : EARLY_MS;
    const isEnding = account.expiresAt !== null && account.expiresAt - earlyMs <= reads.now;
    if (!isEnding && accessToken !== refused) {
      this.#recordUse(accountId, account.lastUsedAt);
      return accessToken;
    }
    return this.#refreshOnce(credential);
  }

  /** All who need new tokens of an account at the same time wait for one refresh. */
  #refreshOnce(credential: OAuthCredential): Promise<string> {
    const { accountId } = credential;
    const running = this.#refreshes.get(accountId);
    if (running !== undefined) return running;
    const refresh = this.#refresh(credential).finally(() => this.#refreshes.delete(accountId));
    this.#refreshes.set(accountId, refresh);
    return refresh;
  }

  async #refresh(credential: OAuthCredential): Promise<string> {
    const { ports, reads, nouns } = this.#store;
    const { accountId, tokenEndpoint, secrets } = credential;
    const account = nouns.oauthAccounts.get(accountId);
    if (account === undefined) throw new SignInRequired("The account is gone");
    const { refreshToken, clientSecret, tokenAuth } = secrets;
    if (refreshToken === null) return this.#requireLogin(credential, account.uid, "The sign-in has ended");
    const grant = {
      grant_type: "refresh_token",
      refresh_token: refreshToken,
      ...(account.resource === null ? {} : { resource: account.resource }),
    };
    const client = { tokenEndpoint, clientId: account.clientId, clientSecret, tokenAuth };
    try {
      const tokens = await requestTokens(ports.net, client, grant, () => reads.now);
      const { accessToken, tokenType, expiresAt, scope } = tokens;
      const change = {
        secrets: { ...secrets, accessToken, refreshToken: tokens.refreshToken ?? refreshToken },
        tokenType,
        expiresAt,
        scope,
      };
      // On disk before it is used: the provider may already have forgotten the old one.
      const isCurrent = await this.#store.commit(({ oauthAccounts, now }) => oauthAccounts.replaceTokens(credential, change, now));
      if (isCurrent) return accessToken;
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      if (error.isFinal) return this.#requireLogin(credential, account.uid, error.message);
      fail(503, `${error.message}. Try again later`);
    }
    // Its owner has signed in again meanwhile, or forgotten it.
    const present = this.#credentialOf(accountId);
    if (present === undefined) throw new SignInRequired("The account is gone");
    return present.secrets.accessToken;
  }

  async #requireLogin(credential: OAuthCredential, uid: number, why: string): Promise<never> {
    await this.#store.commit(({ oauthAccounts, emit, after, now }) => {
      if (oauthAccounts.markNeedsLogin(credential, now)) after(() => emit.announceChanges(uid, ["oauth"]));
    });
    throw new SignInRequired(why);
  }

  #credentialOf(accountId: string): OAuthCredential | undefined {
    try {
      return this.#store.nouns.oauthAccounts.credentialOf(accountId);
    } catch (error) {
      if (error instanceof UnsealError) throw new SignInRequired("The gateway's key was replaced, so the sign-in cannot be read");
      throw error;
    }
  }

  /** Once a minute is enough for people. */
  #recordUse(accountId: string, lastUsedAt: number | null): void {
    const { now } = this.#store.reads;
    if (lastUsedAt !== null && now - lastUsedAt < 60_000) return;
    this.#store.attempt(() => this.#store.relaxed(({ oauthAccounts }) => oauthAccounts.recordUse(accountId, now)));
  }

  #checkRedirectUri(caller: Caller, text: string): void {
    const own = new Set([...this.#origins(), this.#originOf(caller)]);
    const url = mustBeRemoteUrl(text, "redirectUri");
    if (!own.has(url.origin) || text !== `${url.origin}${CALLBACK_PATH}`)
      fail(
        400,
        `redirectUri must be ${CALLBACK_PATH} of this gateway, such as ${this.#originOf(caller) ?? "https://<gateway>"}${CALLBACK_PATH}`,
      );
  }

  /** The address the caller uses, or else one of the gateway's, rather an encrypted one. */
  #originOf(caller: Caller): string | null {
    const used = this.#store.ports.sockets.peer(caller.connectionId)?.origin;
    const known = this.#origins();
    return used ?? known.find((origin) => origin.startsWith("https:")) ?? known[0] ?? null;
  }
}

function refuse(title: string, message: string, flow: OAuthFlow | null = null): CallbackOutcome {
  return { ok: false, status: 400, title, message, flow };
}

/** Some providers write the slash of an origin, and some do not. */
function isSameIssuer(a: string, b: string): boolean {
  return a.replace(/\/$/, "") === b.replace(/\/$/, "");
}

const WHY_CHARS_MAX = 300;

function clean(text: string): string {
  return text
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .trim()
    .slice(0, WHY_CHARS_MAX);
}
