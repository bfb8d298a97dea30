// Results of writes with an idempotency key, stored in the transaction of the write and kept for a day, so that a client's retry after a
// disconnect gets the first result and changes nothing. Owns idempotency. The request is stored as a sealed digest: arguments may
// contain a password, and with a plain digest a reader of the file could guess it without scrypt.

import { toHex } from "../../lib/hex.ts";
import { fail } from "../../lib/sys-error.ts";
import { type Crypto, UnsealError } from "../../ports/crypto.ts";
import type { Sql } from "../../ports/sql.ts";
import type { Req } from "../../protocol/frames.ts";
import { LIMITS } from "../../protocol/limits.ts";

const PURPOSE = "idempotency";
const REQUEST_PURPOSE = "idempotency:request";
/** Rows per prune step: removing a day's rows at once would block everybody. */
const PRUNE_STEP = 1_000;

export class Results {
  readonly #sql: Sql;
  readonly #crypto: Crypto;
  /**
   * How many live keys each user has, stored after `since`; never too few. Counting a quarter of a million rows on every write would take
   * too long, so only the keys that have expired since the last count are counted and subtracted.
   */
  readonly #counts = new Map<number, { count: number; since: number }>();

  constructor(sql: Sql, crypto: Crypto) {
    this.#sql = sql;
    this.#crypto = crypto;
  }

  /** The first result of this request, or undefined if there is none. */
  find(uid: number, frame: Req, now: number): { data: unknown } | undefined {
    const row = this.#sql.get(
      "SELECT request, result, sealed FROM idempotency WHERE uid = ? AND key = ? AND created_at > ?",
      uid,
      frame.key!,
      now - LIMITS.idempotencyKeyMs,
    );
    if (row === undefined) return undefined;
    if (this.#unseal(REQUEST_PURPOSE, row.request) !== this.#digest(frame)) fail(409, "This key was used for another request");
    const text = row.sealed === 1 ? this.#unseal(PURPOSE, row.result) : String(row.result);
    try {
      return { data: JSON.parse(text) };
    } catch {
      return failUnreadable();
    }
  }

  store(uid: number, frame: Req, data: unknown, secret: boolean, now: number): void {
    this.#reserve(uid, now);
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

  /** Removes a batch of expired rows; true when none is left. */
  prune(now: number): boolean {
    // Update the counts first: rows that are deleted now cannot be counted later.
    for (const uid of this.#counts.keys()) this.#countLive(uid, now);
    const removed = this.#sql.run(
      "DELETE FROM idempotency WHERE (uid, key) IN (SELECT uid, key FROM idempotency WHERE created_at <= ? LIMIT ?)",
      now - LIMITS.idempotencyKeyMs,
      PRUNE_STEP,
    );
    if (removed === PRUNE_STEP) return false;
    this.#counts.clear();
    return true;
  }

  /** When the oldest row expires. */
  nextPruneAt(): number | null {
    const oldest = this.#sql.get("SELECT min(created_at) AS oldest FROM idempotency")?.oldest;
    return oldest == null ? null : Number(oldest) + LIMITS.idempotencyKeyMs;
  }

  /** Counts one more key or fails. The key of a transaction that is rolled back stays counted until the next prune is done. */
  #reserve(uid: number, now: number): void {
    const live = this.#countLive(uid, now);
    if (live.count >= LIMITS.idempotencyKeysPerUser)
      fail(429, `Too many requests with a key: at most ${LIMITS.idempotencyKeysPerUser} within 24 hours`);
    live.count++;
  }

  #countLive(uid: number, now: number): { count: number; since: number } {
    const since = now - LIMITS.idempotencyKeyMs;
    const known = this.#counts.get(uid);
    // If the clock was set back, keys that were subtracted are live again.
    if (known === undefined || known.since > since) {
      const counted = { count: this.#countBetween(uid, since, Number.MAX_SAFE_INTEGER), since };
      this.#counts.set(uid, counted);
      return counted;
    }
    if (since > known.since) Object.assign(known, { count: known.count - this.#countBetween(uid, known.since, since), since });
    return known;
  }

  /** The number of keys stored after one time, up to and including another. */
  #countBetween(uid: number, after: number, until: number): number {
    const query = "SELECT count(*) AS count FROM idempotency WHERE uid = ? AND created_at > ? AND created_at <= ?";
    return Number(this.#sql.get(query, uid, after, until)?.count);
  }

  #unseal(purpose: string, sealed: unknown): string {
    try {
      return this.#crypto.unseal(purpose, String(sealed));
    } catch (error) {
      if (!(error instanceof UnsealError)) throw error;
      return failUnreadable();
    }
  }

  #digest(frame: Req): string {
    return toHex(this.#crypto.sha256(JSON.stringify([frame.call, frame.args])));
  }
}

/** The key was used, by this request or another, and the outcome cannot be known any more. */
function failUnreadable(): never {
  fail(409, "This key was used, and its result can no longer be read: check what happened, then call again with another key", {
    outcome: "unknown",
  });
}
