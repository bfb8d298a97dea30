// Sign-ins with OAuth providers that are in progress. Owns oauth_flows. Of the state only a hash is stored, and the PKCE verifier and the
// client's secret are sealed. A flow ends after ten minutes, and belongs to one callback: taking it deletes it.

import { toHex } from "../../lib/hex.ts";
import { fail } from "../../lib/sys-error.ts";
import type { Crypto } from "../../ports/crypto.ts";
import type { Sql, SqlRow } from "../../ports/sql.ts";
import type { OAuthConnectionKind, OAuthFlowSummary } from "../../protocol/oauth-records.ts";

export const FLOW_MS = 10 * 60 * 1000;
const FLOWS_PER_USER_MAX = 20;
const PURPOSE = "oauth-flow";

export type FlowSecrets = { verifier: string; clientSecret: string | null; tokenAuth: TokenAuth };
/** How the client identifies itself at the token endpoint. */
export type TokenAuth = "none" | "client_secret_basic" | "client_secret_post";

/** A flow as the callback finds it. */
export type OAuthFlow = OAuthFlowSummary & {
  secrets: FlowSecrets;
  /** Of the authorization server, if it is known: the callback must name no other. */
  issuer: string | null;
  isIssRequired: boolean;
  /** The MCP server that is signed in to. */
  serverId: string | null;
};

export type NewOAuthFlow = Omit<OAuthFlow, "flowId" | "createdAt" | "expiresAt">;

export type OAuthFlowReads = Pick<OAuthFlows, "list" | "find">;

export class OAuthFlows {
  readonly #sql: Sql;
  readonly #crypto: Crypto;

  constructor(sql: Sql, crypto: Crypto) {
    this.#sql = sql;
    this.#crypto = crypto;
  }

  /** An earlier sign-in to the same account or MCP server ends: only the newest page counts. */
  add(flow: NewOAuthFlow, state: string, now: number): OAuthFlow {
    this.prune(now);
    this.#sql.run(
      "DELETE FROM oauth_flows WHERE uid = ? AND kind = ? AND provider = ? AND account_key = ?",
      flow.uid,
      flow.kind,
      flow.provider,
      flow.accountKey,
    );
    const open = Number(this.#sql.get("SELECT count(*) AS count FROM oauth_flows WHERE uid = ?", flow.uid)?.count);
    if (open >= FLOWS_PER_USER_MAX)
      fail(429, `Too many sign-ins are in progress: at most ${FLOWS_PER_USER_MAX}. Finish some, or wait ten minutes`);
    const flowId = this.#crypto.uuid();
    this.#sql.run(
      "INSERT INTO oauth_flows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      flowId,
      this.#hash(state),
      flow.uid,
      flow.kind,
      flow.provider,
      flow.accountKey,
      flow.label,
      flow.authorizationEndpoint,
      flow.tokenEndpoint,
      flow.clientId,
      flow.redirectUri,
      flow.scope,
      flow.resource,
      this.#crypto.seal(`${PURPOSE}/${flowId}`, JSON.stringify(flow.secrets)),
      flow.issuer,
      flow.isIssRequired ? 1 : 0,
      flow.serverId,
      now,
      now + FLOW_MS,
    );
    return { ...flow, flowId, createdAt: now, expiresAt: now + FLOW_MS };
  }

  /** Those that have not expired, newest first. Without a uid, those of all users. */
  list(uid: number | undefined, now: number): OAuthFlowSummary[] {
    return this.#sql
      .all(
        `SELECT * FROM oauth_flows WHERE expires_at > ?1 AND (?2 IS NULL OR uid = ?2) ORDER BY created_at DESC, flow_id`,
        now,
        uid ?? null,
      )
      .map(toSummary);
  }

  /** The flow of a callback with this state, unless it has expired. */
  find(state: string, now: number): OAuthFlow | undefined {
    const row = this.#sql.get("SELECT * FROM oauth_flows WHERE state_hash = ? AND expires_at > ?", this.#hash(state), now);
    return row && this.#fromRow(row);
  }

  /** Returns whether it was still there. */
  delete(flowId: string): boolean {
    return this.#sql.run("DELETE FROM oauth_flows WHERE flow_id = ?", flowId) > 0;
  }

  deleteOfServer(serverId: string): void {
    this.#sql.run("DELETE FROM oauth_flows WHERE server_id = ?", serverId);
  }

  prune(now: number): void {
    this.#sql.run("DELETE FROM oauth_flows WHERE expires_at <= ?", now);
  }

  nextPruneAt(): number | null {
    const due = this.#sql.get("SELECT min(expires_at) AS due FROM oauth_flows")?.due;
    return due == null ? null : Number(due);
  }

  #fromRow(row: SqlRow): OAuthFlow {
    const summary = toSummary(row);
    return {
      ...summary,
      secrets: JSON.parse(this.#crypto.unseal(`${PURPOSE}/${summary.flowId}`, String(row.secrets))) as FlowSecrets,
      issuer: row.issuer as string | null,
      isIssRequired: row.iss_required === 1,
      serverId: row.server_id as string | null,
    };
  }

  #hash(state: string): string {
    return toHex(this.#crypto.sha256(`oauth state ${state}`));
  }
}

function toSummary(row: SqlRow): OAuthFlowSummary {
  return {
    flowId: String(row.flow_id),
    uid: Number(row.uid),
    kind: row.kind as OAuthConnectionKind,
    provider: String(row.provider),
    accountKey: String(row.account_key),
    label: row.label as string | null,
    authorizationEndpoint: String(row.authorization_endpoint),
    tokenEndpoint: String(row.token_endpoint),
    clientId: String(row.client_id),
    redirectUri: String(row.redirect_uri),
    scope: row.scope as string | null,
    resource: row.resource as string | null,
    createdAt: Number(row.created_at),
    expiresAt: Number(row.expires_at),
  };
}
