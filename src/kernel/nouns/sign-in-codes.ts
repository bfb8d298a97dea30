// Codes with which a person signs in on another device. Owns sign_in_codes. Only a hash of a code is stored. A user has one code at a time:
// a new one replaces the one before. A code is used once: its hash is deleted in the transaction that makes the token.

import { toBase64Url } from "../../lib/base64.ts";
import { toHex } from "../../lib/hex.ts";
import type { Crypto } from "../../ports/crypto.ts";
import type { Sql, SqlRow } from "../../ports/sql.ts";

export const SIGN_IN_CODE_MS = 3 * 60 * 1000;
/** How long the browser that has made a code can ask what became of it. */
const KEPT_MS = 60 * 60 * 1000;
const VALUE_BYTES = 16;

export type SignInCode = {
  codeId: string;
  uid: number;
  /** The token with which its maker was signed in; null if that was a password. */
  madeWith: string | null;
  /** The latest end of the token that it gives; null if its maker's token has none. */
  tokenEndsAt: number | null;
  createdAt: number;
  expiresAt: number;
  /** The token that it gave; null until it is used. */
  tokenId: string | null;
};

export type NewSignInCode = Pick<SignInCode, "codeId" | "createdAt" | "expiresAt"> & { code: string };

export type SignInCodeReads = Pick<SignInCodes, "find" | "findOpen">;

export class SignInCodes {
  readonly #sql: Sql;
  readonly #crypto: Pick<Crypto, "randomBytes" | "uuid" | "sha256">;

  constructor(sql: Sql, crypto: Pick<Crypto, "randomBytes" | "uuid" | "sha256">) {
    this.#sql = sql;
    this.#crypto = crypto;
  }

  make(maker: Pick<SignInCode, "uid" | "madeWith" | "tokenEndsAt">, now: number): NewSignInCode {
    const code = toBase64Url(this.#crypto.randomBytes(VALUE_BYTES));
    const codeId = this.#crypto.uuid();
    const expiresAt = now + SIGN_IN_CODE_MS;
    this.#sql.run(
      "INSERT OR REPLACE INTO sign_in_codes VALUES (?, ?, ?, ?, ?, ?, ?, NULL)",
      maker.uid,
      codeId,
      this.#hash(code),
      maker.madeWith,
      maker.tokenEndsAt,
      now,
      expiresAt,
    );
    return { codeId, code, createdAt: now, expiresAt };
  }

  find(codeId: string): SignInCode | undefined {
    const row = this.#sql.get("SELECT * FROM sign_in_codes WHERE code_id = ?", codeId);
    return row && fromRow(row);
  }

  /** The code with this value, if it is neither used nor expired. */
  findOpen(code: string, now: number): SignInCode | undefined {
    const row = this.#sql.get("SELECT * FROM sign_in_codes WHERE code_hash = ? AND expires_at > ?", this.#hash(code), now);
    return row && fromRow(row);
  }

  markUsed(codeId: string, tokenId: string): void {
    this.#sql.run("UPDATE sign_in_codes SET code_hash = NULL, token_id = ? WHERE code_id = ?", tokenId, codeId);
  }

  removeOf(uid: number): void {
    this.#sql.run("DELETE FROM sign_in_codes WHERE uid = ?", uid);
  }

  prune(now: number): void {
    this.#sql.run("DELETE FROM sign_in_codes WHERE expires_at <= ?", now - KEPT_MS);
  }

  nextPruneAt(): number | null {
    const expiresAt = this.#sql.get("SELECT min(expires_at) AS at FROM sign_in_codes")?.at;
    return expiresAt == null ? null : Number(expiresAt) + KEPT_MS;
  }

  #hash(code: string): string {
    return `$code-sha256$${toHex(this.#crypto.sha256(code))}`;
  }
}

function fromRow(row: SqlRow): SignInCode {
  return {
    codeId: String(row.code_id),
    uid: Number(row.uid),
    madeWith: row.made_with as string | null,
    tokenEndsAt: row.token_ends_at as number | null,
    createdAt: Number(row.created_at),
    expiresAt: Number(row.expires_at),
    tokenId: row.token_id as string | null,
  };
}
