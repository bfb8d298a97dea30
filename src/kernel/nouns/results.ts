// Results of writes that carried a key, kept for a day in the transaction of the write itself, so that a client's
// retry after a cut gets the first result and changes nothing. Owns idempotency. What was asked is kept as a digest, and
// sealed: arguments may hold a password, and a bare digest would let whoever reads the file guess at it without scrypt.

import { toHex } from "../../lib/hex.ts";
import { fail } from "../../lib/sys-error.ts";
import type { Crypto } from "../../ports/crypto.ts";
import type { Sql } from "../../ports/sql.ts";
import type { Req } from "../../protocol/frames.ts";
import { LIMITS } from "../../protocol/limits.ts";

const PURPOSE = "idempotency";
const REQUEST_PURPOSE = "idempotency:request";
/** Rows removed at a time: a day's worth at once would keep everybody waiting. */
const PRUNE_STEP = 1_000;

export class Results {
  readonly #sql: Sql;
  readonly #crypto: Crypto;
  /** No fewer than the keys each user has: counting a quarter of a million at every write would take too long. */
  readonly #counts = new Map<number, number>();

  constructor(sql: Sql, crypto: Crypto) {
    this.#sql = sql;
    this.#crypto = crypto;
  }

  /** The first result of this request, or undefined where there was none. */
  find(uid: number, frame: Req, now: number): { data: unknown } | undefined {
    const row = this.#sql.get(
      "SELECT request, result, sealed FROM idempotency WHERE uid = ? AND key = ? AND created_at > ?",
      uid,
      frame.key!,
      now - LIMITS.idempotencyKeyMs,
    );
    if (row === undefined) return undefined;
    if (this.#crypto.open(REQUEST_PURPOSE, String(row.request)) !== this.#digest(frame)) fail(409, "This key was used for another request");
    const text = String(row.result);
    return { data: JSON.parse(row.sealed === 1 ? this.#crypto.open(PURPOSE, text) : text) };
  }

  store(uid: number, frame: Req, data: unknown, secret: boolean, now: number): void {
    this.#count(uid);
    const text = JSON.stringify(data);
    this.#sql.run(
      "INSERT OR REPLACE INTO idempotency VALUES (?, ?, ?, ?, ?, ?)",
      uid,
      frame.key!,
      this.#crypto.seal(REQUEST_PURPOSE, this.#digest(frame)),
      secret ? this.#crypto.seal(PURPOSE, text) : text,
      secret ? 1 : 0,
      now,
    );
  }

  /** Removes some of what is too old; true when there is no more of it. */
  prune(now: number): boolean {
    const removed = this.#sql.run(
      "DELETE FROM idempotency WHERE (uid, key) IN (SELECT uid, key FROM idempotency WHERE created_at <= ? LIMIT ?)",
      now - LIMITS.idempotencyKeyMs,
      PRUNE_STEP,
    );
    if (removed === PRUNE_STEP) return false;
    this.#counts.clear();
    return true;
  }

  /** When there is something to remove. */
  nextPruneAt(): number | null {
    const oldest = this.#sql.get("SELECT min(created_at) AS oldest FROM idempotency")?.oldest;
    return oldest == null ? null : Number(oldest) + LIMITS.idempotencyKeyMs;
  }

  /** What a lost transaction counted stays counted until the next sweep is done. */
  #count(uid: number): void {
    const count = this.#counts.get(uid) ?? Number(this.#sql.get("SELECT count(*) AS count FROM idempotency WHERE uid = ?", uid)?.count);
    if (count >= LIMITS.idempotencyKeysPerUser)
      fail(429, `Too many requests with a key: at most ${LIMITS.idempotencyKeysPerUser} within 24 hours`);
    this.#counts.set(uid, count + 1);
  }

  #digest(frame: Req): string {
    return toHex(this.#crypto.sha256(JSON.stringify([frame.call, frame.args])));
  }
}
