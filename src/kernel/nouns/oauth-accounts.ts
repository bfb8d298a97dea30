// OAuth accounts of users. Owns oauth_accounts. Tokens and the client's secret are sealed and leave this file only for the one part that
// sends them (kernel/oauth). Every change of the tokens counts up `generation`, so that a refresh replaces only the tokens it was made from.

import { fail } from "../../lib/sys-error.ts";
import type { Crypto } from "../../ports/crypto.ts";
import type { Sql, SqlRow } from "../../ports/sql.ts";
import type { OAuthAccountSummary, OAuthConnectionKind } from "../../protocol/oauth-records.ts";
import type { TokenAuth } from "./oauth-flows.ts";

const ACCOUNTS_PER_USER_MAX = 200;
const PURPOSE = "oauth-account";

export type AccountSecrets = { accessToken: string; refreshToken: string | null; clientSecret: string | null; tokenAuth: TokenAuth };
export type OAuthAccount = Omit<OAuthAccountSummary, "usedBy">;
/** What is needed to get new tokens. */
export type OAuthCredential = { accountId: string; tokenEndpoint: string; generation: number; secrets: AccountSecrets };
export type TokenChange = { secrets: AccountSecrets; tokenType: string; expiresAt: number | null; scope: string | null };
export type NewOAuthAccount = TokenChange &
  Pick<OAuthAccount, "uid" | "kind" | "provider" | "accountKey" | "label" | "resource" | "clientId" | "metadata"> & {
    tokenEndpoint: string;
  };

export type OAuthAccountReads = Pick<OAuthAccounts, "list" | "get">;

export class OAuthAccounts {
  readonly #sql: Sql;
  readonly #crypto: Crypto;

  constructor(sql: Sql, crypto: Crypto) {
    this.#sql = sql;
    this.#crypto = crypto;
  }

  /** Signing in again to the same account replaces its tokens. Returns its id. */
  put(account: NewOAuthAccount, now: number): string {
    const { uid, kind, provider, accountKey } = account;
    const known = this.#sql.get(
      "SELECT account_id FROM oauth_accounts WHERE uid = ? AND kind = ? AND provider = ? AND account_key = ?",
      uid,
      kind,
      provider,
      accountKey,
    );
    const count = Number(this.#sql.get("SELECT count(*) AS count FROM oauth_accounts WHERE uid = ?", uid)?.count);
    if (known === undefined && count >= ACCOUNTS_PER_USER_MAX)
      fail(409, `Too many accounts: at most ${ACCOUNTS_PER_USER_MAX} per user. Forget some first`);
    const accountId = known === undefined ? this.#crypto.uuid() : String(known.account_id);
    this.#sql.run(
      `INSERT INTO oauth_accounts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 1, 'active', ?13, ?14, ?15, ?15, NULL)
       ON CONFLICT (account_id) DO UPDATE SET label = ?6, scope = ?7, resource = ?8, token_endpoint = ?9, client_id = ?10, token_type = ?11,
         secrets = ?12, generation = generation + 1, state = 'active', expires_at = ?13, metadata = ?14, updated_at = ?15`,
      accountId,
      uid,
      kind,
      provider,
      accountKey,
      account.label,
      account.scope,
      account.resource,
      account.tokenEndpoint,
      account.clientId,
      account.tokenType,
      this.#seal(accountId, account.secrets),
      account.expiresAt,
      JSON.stringify(account.metadata),
      now,
    );
    return accountId;
  }

  /** Last changed first. Without a uid, those of all users. */
  list(uid?: number): OAuthAccount[] {
    return this.#sql
      .all("SELECT * FROM oauth_accounts WHERE ?1 IS NULL OR uid = ?1 ORDER BY updated_at DESC, account_id", uid ?? null)
      .map(fromRow);
  }

  get(accountId: string): OAuthAccount | undefined {
    const row = this.#sql.get("SELECT * FROM oauth_accounts WHERE account_id = ?", accountId);
    return row && fromRow(row);
  }

  /** Throws UnsealError if the gateway's key was replaced. */
  credentialOf(accountId: string): OAuthCredential | undefined {
    const row = this.#sql.get("SELECT * FROM oauth_accounts WHERE account_id = ?", accountId);
    if (row === undefined) return undefined;
    const secrets = JSON.parse(this.#crypto.unseal(`${PURPOSE}/${accountId}`, String(row.secrets))) as AccountSecrets;
    return { accountId, tokenEndpoint: String(row.token_endpoint), generation: Number(row.generation), secrets };
  }

  /** Returns false if the tokens have been replaced since they were read, or the account is gone. */
  replaceTokens({ accountId, generation }: OAuthCredential, { secrets, tokenType, expiresAt, scope }: TokenChange, now: number): boolean {
    const changed = this.#sql.run(
      `UPDATE oauth_accounts SET secrets = ?, generation = generation + 1, state = 'active', token_type = ?, expires_at = ?,
         scope = coalesce(?, scope), updated_at = ? WHERE account_id = ? AND generation = ?`,
      this.#seal(accountId, secrets),
      tokenType,
      expiresAt,
      scope,
      now,
      accountId,
      generation,
    );
    return changed > 0;
  }

  /** The provider no longer accepts these tokens. */
  markNeedsLogin({ accountId, generation }: Pick<OAuthCredential, "accountId" | "generation">, now: number): boolean {
    const changed = this.#sql.run(
      "UPDATE oauth_accounts SET state = 'needs_login', updated_at = ? WHERE account_id = ? AND generation = ? AND state <> 'needs_login'",
      now,
      accountId,
      generation,
    );
    return changed > 0;
  }

  recordUse(accountId: string, now: number): void {
    this.#sql.run("UPDATE oauth_accounts SET last_used_at = ? WHERE account_id = ?", now, accountId);
  }

  /** Those that were made for one MCP server, at whichever provider. */
  deleteOfServer(uid: number, serverId: string): void {
    this.#sql.run("DELETE FROM oauth_accounts WHERE uid = ? AND kind = 'mcp-server' AND account_key = ?", uid, serverId);
  }

  delete(accountId: string): void {
    this.#sql.run("DELETE FROM oauth_accounts WHERE account_id = ?", accountId);
  }

  #seal(accountId: string, secrets: AccountSecrets): string {
    return this.#crypto.seal(`${PURPOSE}/${accountId}`, JSON.stringify(secrets));
  }
}

function fromRow(row: SqlRow): OAuthAccount {
  return {
    accountId: String(row.account_id),
    uid: Number(row.uid),
    kind: row.kind as OAuthConnectionKind,
    provider: String(row.provider),
    accountKey: String(row.account_key),
    label: row.label as string | null,
    scope: row.scope as string | null,
    resource: row.resource as string | null,
    clientId: String(row.client_id),
    tokenType: String(row.token_type),
    expiresAt: row.expires_at as number | null,
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    lastUsedAt: row.last_used_at as number | null,
    metadata: JSON.parse(String(row.metadata)) as Record<string, unknown>,
    state: row.state as OAuthAccount["state"],
  };
}
