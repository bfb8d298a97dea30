// Issued tokens. Owns auth_tokens. Only a hash of the value is ever stored; the value is returned once.

import { toBase64Url } from "../../lib/base64.ts";
import { toHex } from "../../lib/hex.ts";
import { fail } from "../../lib/sys-error.ts";
import type { Crypto } from "../../ports/crypto.ts";
import type { Sql, SqlRow } from "../../ports/sql.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { IssuedToken, Role, TokenKind, TokenSummary } from "../../protocol/records.ts";

export const ROLE_OF: Record<TokenKind, Role> = { node: "driver", service: "service", user: "user" };

const DAY_MS = 24 * 60 * 60 * 1000;
/** How long a token lives where its creator says nothing. */
export const LIFETIME_MS: Record<TokenKind, number> = { node: 365 * DAY_MS, service: 365 * DAY_MS, user: 90 * DAY_MS };

const VALUE_BYTES = 32;
const PREFIX_CHARS = 16;

export type TokenReads = Pick<Tokens, "list" | "get" | "match">;

export type NewToken = {
  uid: number;
  kind: TokenKind;
  label: string | null;
  allowedDeviceId: string | null;
  expiresAt: number | null;
};

export class Tokens {
  readonly #sql: Sql;
  readonly #crypto: Crypto;

  constructor(sql: Sql, crypto: Crypto) {
    this.#sql = sql;
    this.#crypto = crypto;
  }

  create(token: NewToken, now: number): IssuedToken {
    this.#makeRoom(token.uid, now);
    const value = `gsv_${token.kind}_${toBase64Url(this.#crypto.bytes(VALUE_BYTES))}`;
    const tokenId = this.#crypto.uuid();
    const tokenPrefix = value.slice(0, PREFIX_CHARS);
    const allowedRole = ROLE_OF[token.kind];
    this.#sql.run(
      "INSERT INTO auth_tokens VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, NULL, NULL)",
      tokenId,
      token.uid,
      token.kind,
      token.label,
      this.#hash(value),
      tokenPrefix,
      allowedRole,
      token.allowedDeviceId,
      now,
      token.expiresAt,
    );
    return { tokenId, token: value, tokenPrefix, allowedRole, createdAt: now, ...token };
  }

  /** Newest first; everybody's for no uid. */
  list(uid?: number): TokenSummary[] {
    const rows =
      uid === undefined
        ? this.#sql.all("SELECT * FROM auth_tokens ORDER BY created_at DESC, token_id")
        : this.#sql.all("SELECT * FROM auth_tokens WHERE uid = ? ORDER BY created_at DESC, token_id", uid);
    return rows.map(fromRow);
  }

  get(tokenId: string): TokenSummary | undefined {
    const row = this.#sql.get("SELECT * FROM auth_tokens WHERE token_id = ?", tokenId);
    return row && fromRow(row);
  }

  /** The live token with this value, if there is one. */
  match(value: string, now: number): TokenSummary | undefined {
    const row = this.#sql.get("SELECT * FROM auth_tokens WHERE token_hash = ?", this.#hash(value));
    if (row === undefined || row.revoked_at !== null) return undefined;
    if (row.expires_at !== null && Number(row.expires_at) <= now) return undefined;
    return fromRow(row);
  }

  revoke(tokenId: string, reason: string | null, now: number): void {
    this.#sql.run("UPDATE auth_tokens SET revoked_at = ?, revoked_reason = ? WHERE token_id = ?", now, reason, tokenId);
  }

  /** Every live token of a user; the ids of those that ended. */
  revokeAll(uid: number, reason: string, now: number): string[] {
    const rows = this.#sql.all("SELECT token_id FROM auth_tokens WHERE uid = ? AND revoked_at IS NULL", uid);
    for (const row of rows) this.revoke(String(row.token_id), reason, now);
    return rows.map((row) => String(row.token_id));
  }

  used(tokenId: string, now: number): void {
    this.#sql.run("UPDATE auth_tokens SET last_used_at = ? WHERE token_id = ?", now, tokenId);
  }

  /** Tokens that have ended, oldest first, are forgotten before a new one is refused. */
  #makeRoom(uid: number, now: number): void {
    const count = Number(this.#sql.get("SELECT count(*) AS count FROM auth_tokens WHERE uid = ?", uid)?.count);
    const tooMany = count + 1 - LIMITS.tokensPerUser;
    if (tooMany <= 0) return;
    const forgotten = this.#sql.run(
      `DELETE FROM auth_tokens WHERE token_id IN
         (SELECT token_id FROM auth_tokens WHERE uid = ? AND (revoked_at IS NOT NULL OR expires_at <= ?) ORDER BY created_at LIMIT ?)`,
      uid,
      now,
      tooMany,
    );
    if (forgotten < tooMany) fail(409, `Too many tokens: at most ${LIMITS.tokensPerUser} per user. Revoke some first`);
  }

  #hash(value: string): string {
    return `$token-sha256$${toHex(this.#crypto.sha256(value))}`;
  }
}

function fromRow(row: SqlRow): TokenSummary {
  return {
    tokenId: String(row.token_id),
    uid: Number(row.uid),
    kind: row.kind as TokenKind,
    label: row.label as string | null,
    tokenPrefix: String(row.token_prefix),
    allowedRole: row.allowed_role as Role | null,
    allowedDeviceId: row.allowed_device_id as string | null,
    createdAt: Number(row.created_at),
    lastUsedAt: row.last_used_at as number | null,
    expiresAt: row.expires_at as number | null,
    revokedAt: row.revoked_at as number | null,
    revokedReason: row.revoked_reason as string | null,
  };
}
