// Issued tokens. Owns auth_tokens. Only a hash of the value is stored; the value is returned once. A token ends at its expiry; without
// one, after a year without use. A token with an open connection is in use.

import { toBase64Url } from "../../lib/base64.ts";
import { toHex } from "../../lib/hex.ts";
import { fail } from "../../lib/sys-error.ts";
import { isTokenLive } from "../../lib/token-end.ts";
import type { Crypto } from "../../ports/crypto.ts";
import type { Sql, SqlRow } from "../../ports/sql.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { IssuedToken, Role, TokenKind, TokenSummary } from "../../protocol/records.ts";

export const ROLE_OF: Record<TokenKind, Role> = { node: "driver", service: "service", user: "user" };

/** How long a token without an expiry stays valid unused. */
export const UNUSED_MS = 365 * 24 * 60 * 60 * 1000;

const VALUE_BYTES = 32;
const PREFIX_CHARS = 16;

export type TokenReads = Pick<Tokens, "list" | "get" | "findLive">;

export type NewToken = {
  uid: number;
  kind: TokenKind;
  label: string | null;
  allowedDeviceId: string | null;
  /** Undefined: ends after a year without use. Null: never ends. */
  expiresAt: number | null | undefined;
  /** The token ends if it is not used for the first time within this time. */
  firstUseWithinMs?: number | undefined;
};

export class Tokens {
  readonly #sql: Sql;
  readonly #crypto: Crypto;

  constructor(sql: Sql, crypto: Crypto) {
    this.#sql = sql;
    this.#crypto = crypto;
  }

  make({ expiresAt, firstUseWithinMs, ...token }: NewToken, now: number): IssuedToken {
    this.#makeRoom(token.uid, now);
    const value = `gsv_${token.kind}_${toBase64Url(this.#crypto.randomBytes(VALUE_BYTES))}`;
    const tokenId = this.#crypto.uuid();
    this.#sql.run(
      "INSERT INTO auth_tokens VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, NULL, NULL, ?, ?)",
      tokenId,
      token.uid,
      token.kind,
      token.label,
      this.#hash(value),
      value.slice(0, PREFIX_CHARS),
      ROLE_OF[token.kind],
      token.allowedDeviceId,
      now,
      expiresAt ?? null,
      expiresAt === undefined ? 1 : 0,
      firstUseWithinMs === undefined ? null : now + firstUseWithinMs,
    );
    const { lastUsedAt: _, revokedAt: __, revokedReason: ___, ...issued } = this.get(tokenId)!;
    return { ...issued, token: value };
  }

  /** Newest first. Without a uid, those of all users. */
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
  findLive(value: string, now: number): TokenSummary | undefined {
    const row = this.#sql.get("SELECT * FROM auth_tokens WHERE token_hash = ?", this.#hash(value));
    const token = row && fromRow(row);
    return token !== undefined && isTokenLive(token, now) ? token : undefined;
  }

  revoke(tokenId: string, reason: string | null, now: number): void {
    this.#sql.run("UPDATE auth_tokens SET revoked_at = ?, revoked_reason = ? WHERE token_id = ?", now, reason, tokenId);
  }

  /** Revokes every token of a user that is not revoked yet, and returns their ids. */
  revokeAll(uid: number, reason: string, now: number): string[] {
    const rows = this.#sql.all("SELECT token_id FROM auth_tokens WHERE uid = ? AND revoked_at IS NULL", uid);
    for (const row of rows) this.revoke(String(row.token_id), reason, now);
    return rows.map((row) => String(row.token_id));
  }

  recordUse(tokenIds: readonly string[], now: number): void {
    this.#sql.run(
      "UPDATE auth_tokens SET last_used_at = ? WHERE token_id IN (SELECT value FROM json_each(?))",
      now,
      JSON.stringify(tokenIds),
    );
  }

  /** Deletes tokens whose first use is overdue: nobody misses them. */
  prune(now: number): void {
    this.#sql.run("DELETE FROM auth_tokens WHERE last_used_at IS NULL AND first_use_by <= ?", now);
  }

  nextPruneAt(): number | null {
    const due = this.#sql.get("SELECT min(first_use_by) AS due FROM auth_tokens WHERE last_used_at IS NULL")?.due;
    return due == null ? null : Number(due);
  }

  /** Deletes ended tokens, oldest first, before a new one is refused. */
  #makeRoom(uid: number, now: number): void {
    const count = Number(this.#sql.get("SELECT count(*) AS count FROM auth_tokens WHERE uid = ?", uid)?.count);
    const excess = count + 1 - LIMITS.tokensPerUser;
    if (excess <= 0) return;
    const deleted = this.#sql.run(
      `DELETE FROM auth_tokens WHERE token_id IN
         (SELECT token_id FROM auth_tokens WHERE uid = ?1 AND (revoked_at IS NOT NULL OR expires_at <= ?2
            OR (last_used_at IS NULL AND first_use_by <= ?2) OR (ends_unused = 1 AND coalesce(last_used_at, created_at) <= ?3))
          ORDER BY created_at LIMIT ?4)`,
      uid,
      now,
      now - UNUSED_MS,
      excess,
    );
    if (deleted < excess) fail(409, `Too many tokens: at most ${LIMITS.tokensPerUser} per user. Revoke some first`);
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
    endsUnusedAt: expiresIfUnusedAt(row),
    revokedAt: row.revoked_at as number | null,
    revokedReason: row.revoked_reason as string | null,
  };
}

function expiresIfUnusedAt({ ends_unused, first_use_by, last_used_at, created_at }: SqlRow): number | null {
  const unused = ends_unused === 1 ? Number(last_used_at ?? created_at) + UNUSED_MS : Infinity;
  const first = last_used_at === null && first_use_by !== null ? Number(first_use_by) : Infinity;
  const end = Math.min(unused, first);
  return end === Infinity ? null : end;
}
