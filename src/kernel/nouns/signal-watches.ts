// Watches: a process that is told when another one emits a signal. Owns signal_watches and signal_deliveries. A match is stored together
// with the event that it matched, and removed once the process has its message.

import { Cache } from "../../lib/cache.ts";
import type { Crypto } from "../../ports/crypto.ts";
import type { Sql, SqlRow } from "../../ports/sql.ts";

export type WatchState =
  | "active"
  /** It watches for one signal, which has come and is being delivered. */
  | "matched"
  | "failed";

export type SignalWatchRow = {
  watchId: string;
  uid: number;
  /** The process that is told. */
  pid: string;
  signal: string;
  /** The process whose signals it waits for; null for any other process of the user. */
  sourcePid: string | null;
  key: string | null;
  /** What the process wants to be told with the signal. */
  data: unknown;
  once: boolean;
  state: WatchState;
  error: string | null;
  createdAt: number;
  updatedAt: number;
  expiresAt: number;
};

export type NewWatch = Pick<SignalWatchRow, "uid" | "pid" | "signal" | "sourcePid" | "key" | "data" | "once" | "expiresAt">;

/** A signal that a process has to be told of. */
export type SignalDelivery = {
  deliveryId: number;
  watchId: string;
  pid: string;
  uid: number;
  /** Of the process's run; the same for each try, so that the message arrives once. */
  runId: string;
  text: string;
  matchedAt: number;
};

export type SignalWatchReads = Pick<SignalWatches, "list" | "count" | "match" | "listDueDeliveries" | "nextDeliveryAt">;

const CACHE_MAX = 1_024;
const PRUNE_BATCH = 1_000;
const MINUTE_MS = 60_000;
const NO_MATCH: readonly SignalWatchRow[] = [];

export class SignalWatches {
  readonly #sql: Sql;
  readonly #crypto: Crypto;
  /** Active watches by user and signal: each event of a process asks for them. A rollback of rows must call `clearCaches`. */
  readonly #active = new Cache<string, readonly SignalWatchRow[]>(CACHE_MAX);

  constructor(sql: Sql, crypto: Crypto) {
    this.#sql = sql;
    this.#crypto = crypto;
  }

  clearCaches(): void {
    this.#active.clear();
  }

  /** A watch of the same process with the same key is replaced, and keeps its id. */
  put(watch: NewWatch, now: number): { watchId: string; created: boolean; createdAt: number } {
    const { uid, pid, signal, sourcePid, key, data, once, expiresAt } = watch;
    this.#forget(watch);
    const json = data === undefined ? null : JSON.stringify(data);
    // One that has expired does not exist, though its row may remain for a while.
    this.#sql.run("DELETE FROM signal_watches WHERE pid = ? AND key = ? AND expires_at <= ?", pid, key, now);
    const known =
      key === null
        ? undefined
        : this.#sql.get("SELECT watch_id, uid, signal, created_at FROM signal_watches WHERE pid = ? AND key = ?", pid, key);
    if (known !== undefined) {
      const watchId = String(known.watch_id);
      this.#forget({ uid: Number(known.uid), signal: String(known.signal) });
      this.#sql.run(
        `UPDATE signal_watches SET uid = ?, signal = ?, source_pid = ?, data = ?, once = ?, state = 'active', error = NULL, updated_at = ?,
           expires_at = ? WHERE watch_id = ?`,
        uid,
        signal,
        sourcePid,
        json,
        Number(once),
        now,
        expiresAt,
        watchId,
      );
      return { watchId, created: false, createdAt: Number(known.created_at) };
    }
    const watchId = this.#crypto.uuid();
    this.#sql.run(
      "INSERT INTO signal_watches VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'active', NULL, ?, ?, ?, 0, 0)",
      watchId,
      uid,
      pid,
      signal,
      sourcePid,
      key,
      json,
      Number(once),
      now,
      now,
      expiresAt,
    );
    return { watchId, created: true, createdAt: now };
  }

  find(watchId: string): SignalWatchRow | undefined {
    const row = this.#sql.get("SELECT * FROM signal_watches WHERE watch_id = ?", watchId);
    return row && fromRow(row);
  }

  /** Whether a process has a watch with this key. */
  has(pid: string, key: string | null): boolean {
    return key !== null && this.#sql.get("SELECT 1 AS one FROM signal_watches WHERE pid = ? AND key = ?", pid, key) !== undefined;
  }

  count(uid: number, now: number): number {
    return Number(this.#sql.get("SELECT count(*) AS count FROM signal_watches WHERE uid = ? AND expires_at > ?", uid, now)?.count);
  }

  /** Oldest first. */
  list(uid: number, pid: string | undefined, now: number): SignalWatchRow[] {
    const query = "SELECT * FROM signal_watches WHERE uid = ?1 AND expires_at > ?2";
    const order = "ORDER BY created_at, watch_id";
    const rows =
      pid === undefined ? this.#sql.all(`${query} ${order}`, uid, now) : this.#sql.all(`${query} AND pid = ?3 ${order}`, uid, now, pid);
    return rows.map(fromRow);
  }

  /** Returns how many were removed. Signals that were matched before are still delivered. */
  remove(uid: number, pid: string | undefined, by: { watchId: string } | { key: string }): number {
    this.clearCaches();
    const [column, value] = "watchId" in by ? ["watch_id", by.watchId] : ["key", by.key];
    const whose = pid === undefined ? "" : "AND pid = ?3";
    return this.#sql.run(
      `DELETE FROM signal_watches WHERE uid = ?1 AND ${column} = ?2 ${whose}`,
      uid,
      value,
      ...(pid === undefined ? [] : [pid]),
    );
  }

  /** The watches that a signal matches, the oldest first. No process is told of its own signals. */
  match(uid: number, signal: string, sourcePid: string, now: number): readonly SignalWatchRow[] {
    const active = this.#active.get(cacheKey({ uid, signal }), () => {
      const rows = this.#sql.all(
        "SELECT * FROM signal_watches WHERE uid = ? AND signal = ? AND state = 'active' ORDER BY created_at, watch_id",
        uid,
        signal,
      );
      return rows.length === 0 ? NO_MATCH : rows.map(fromRow);
    });
    if (active.length === 0) return NO_MATCH;
    return active.filter(
      (watch) => (watch.sourcePid === null || watch.sourcePid === sourcePid) && watch.pid !== sourcePid && watch.expiresAt > now,
    );
  }

  /** Counts a match. Returns how many there were in this minute. */
  countMatch(watch: SignalWatchRow, now: number): number {
    const { watchId, once } = watch;
    if (once) {
      this.#forget(watch);
      this.#sql.run("UPDATE signal_watches SET state = 'matched', updated_at = ? WHERE watch_id = ?", now, watchId);
      return 1;
    }
    const minute = Math.floor(now / MINUTE_MS);
    this.#sql.run(
      `UPDATE signal_watches SET window_count = CASE window_at WHEN ?2 THEN window_count + 1 ELSE 1 END, window_at = ?2 WHERE watch_id = ?1`,
      watchId,
      minute,
    );
    return Number(this.#sql.get("SELECT window_count AS count FROM signal_watches WHERE watch_id = ?", watchId)?.count);
  }

  markFailed(watchId: string, error: string, now: number): void {
    this.clearCaches();
    this.#sql.run("UPDATE signal_watches SET state = 'failed', error = ?, updated_at = ? WHERE watch_id = ?", error, now, watchId);
  }

  addDelivery({ watchId, pid, uid, runId, text, matchedAt }: Omit<SignalDelivery, "deliveryId">): void {
    this.#sql.run(
      "INSERT INTO signal_deliveries (watch_id, pid, uid, run_id, text, matched_at, retry_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
      watchId,
      pid,
      uid,
      runId,
      text,
      matchedAt,
      matchedAt,
    );
  }

  /** In the order of the signals. */
  listDueDeliveries(now: number, limit: number): SignalDelivery[] {
    return this.#sql.all("SELECT * FROM signal_deliveries WHERE retry_at <= ? ORDER BY delivery_id LIMIT ?", now, limit).map((row) => ({
      deliveryId: Number(row.delivery_id),
      watchId: String(row.watch_id),
      pid: String(row.pid),
      uid: Number(row.uid),
      runId: String(row.run_id),
      text: String(row.text),
      matchedAt: Number(row.matched_at),
    }));
  }

  nextDeliveryAt(): number | null {
    const due = this.#sql.get("SELECT min(retry_at) AS due FROM signal_deliveries")?.due;
    return due == null ? null : Number(due);
  }

  /** All deliveries to a process wait, so that they stay in order. */
  postpone(pid: string, retryAt: number): void {
    this.#sql.run("UPDATE signal_deliveries SET retry_at = ? WHERE pid = ?", retryAt, pid);
  }

  /** The process has its message, or will never get it. A watch for one signal is done with it: true if it was removed. */
  endDelivery({ deliveryId, watchId }: Pick<SignalDelivery, "deliveryId" | "watchId">): boolean {
    this.#sql.run("DELETE FROM signal_deliveries WHERE delivery_id = ?", deliveryId);
    // It was not active, so no cache has it.
    return this.#sql.run("DELETE FROM signal_watches WHERE watch_id = ? AND state = 'matched'", watchId) > 0;
  }

  prune(now: number): boolean {
    this.clearCaches();
    const removed = this.#sql.run(
      "DELETE FROM signal_watches WHERE rowid IN (SELECT rowid FROM signal_watches WHERE expires_at <= ? LIMIT ?)",
      now,
      PRUNE_BATCH,
    );
    return removed < PRUNE_BATCH;
  }

  nextPruneAt(): number | null {
    const due = this.#sql.get("SELECT min(expires_at) AS due FROM signal_watches")?.due;
    return due == null ? null : Number(due);
  }

  /** Only the list that a watch is in: a user may have many others, and each event would read them again. */
  #forget(watch: Pick<SignalWatchRow, "uid" | "signal">): void {
    this.#active.delete(cacheKey(watch));
  }
}

function cacheKey({ uid, signal }: Pick<SignalWatchRow, "uid" | "signal">): string {
  return `${uid} ${signal}`;
}

function fromRow(row: SqlRow): SignalWatchRow {
  return {
    watchId: String(row.watch_id),
    uid: Number(row.uid),
    pid: String(row.pid),
    signal: String(row.signal),
    sourcePid: row.source_pid as string | null,
    key: row.key as string | null,
    ...(row.data === null ? { data: undefined } : { data: JSON.parse(String(row.data)) as unknown }),
    once: row.once === 1,
    state: row.state as WatchState,
    error: row.error as string | null,
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    expiresAt: Number(row.expires_at),
  };
}
