// Results of writes that carried a key, kept for a day in the transaction of the write itself, so that a client's
// retry after a cut gets the first result and changes nothing. Owns idempotency. What was asked is kept as a digest, and
// sealed: arguments may hold a password, and a bare digest would let whoever reads the file guess at it without scrypt.

import { toHex } from "../../lib/hex.ts";
import { fail } from "../../lib/sys-error.ts";
import { type Crypto, UnsealError } from "../../ports/crypto.ts";
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
  /**
   * How many keys each user has that still count, and no fewer: those stored after `since`. Counting a quarter of a million at
   * every write would take too long, so only what has become too old in between is counted and taken off.
   */
  readonly #counts = new Map<number, { count: number; since: number }>();

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
    if (this.#open(REQUEST_PURPOSE, row.request) !== this.#digest(frame)) fail(409, "This key was used for another request");
    const text = row.sealed === 1 ? this.#open(PURPOSE, row.result) : String(row.result);
    try {
      return { data: JSON.parse(text) };
    } catch {
      return failUnreadable();
    }
  }

  store(uid: number, frame: Req, data: unknown, secret: boolean, now: number): void {
    this.#count(uid, now);
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
    // What goes now cannot be counted afterwards.
    for (const uid of this.#counts.keys()) this.#live(uid, now);
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
  #count(uid: number, now: number): void {
    const live = this.#live(uid, now);
    if (live.count >= LIMITS.idempotencyKeysPerUser)
      fail(429, `Too many requests with a key: at most ${LIMITS.idempotencyKeysPerUser} within 24 hours`);
    live.count++;
  }

  #live(uid: number, now: number): { count: number; since: number } {
    const since = now - LIMITS.idempotencyKeyMs;
    const known = this.#counts.get(uid);
    // A clock that was set back makes keys count again which were taken off.
    if (known === undefined || known.since > since) {
      const counted = { count: this.#between(uid, since, Number.MAX_SAFE_INTEGER), since };
      this.#counts.set(uid, counted);
      return counted;
    }
    if (since > known.since) Object.assign(known, { count: known.count - this.#between(uid, known.since, since), since });
    return known;
  }

  /** Stored after one moment, and not after the other. */
  #between(uid: number, after: number, until: number): number {
    const query = "SELECT count(*) AS count FROM idempotency WHERE uid = ? AND created_at > ? AND created_at <= ?";
    return Number(this.#sql.get(query, uid, after, until)?.count);
  }

  #open(purpose: string, sealed: unknown): string {
    try {
      return this.#crypto.open(purpose, String(sealed));
    } catch (error) {
      if (!(error instanceof UnsealError)) throw error;
      return failUnreadable();
    }
  }

  #digest(frame: Req): string {
    return toHex(this.#crypto.sha256(JSON.stringify([frame.call, frame.args])));
  }
}

/** The key was used, by this request or by another, and nobody can tell any more what came of it. */
function failUnreadable(): never {
  fail(409, "This key was used, and what came of it cannot be read any more: look at what is there, then call again with another key", {
    outcome: "unknown",
  });
}
