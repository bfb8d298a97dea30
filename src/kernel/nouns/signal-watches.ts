// Watches: a process that is told when another one emits a signal. Owns signal_watches, signal_events and signal_deliveries. A match is
// stored in the transaction that records the event, and removed once the process has its message.

import { Cache } from "../../lib/cache.ts";
import type { Crypto } from "../../ports/crypto.ts";
import type { Sql, SqlRow, SqlValue } from "../../ports/sql.ts";

export type WatchState =
  | "active"
  /** It watches for one signal, which has come and is being delivered. */
  | "matched"
  | "failed";

export type SignalWatchRow = {
  /** One that replaces another has the same watchId, and is another row. */
  rowId: number;
  watchId: string;
  uid: number;
  /** The process that is told. */
  pid: string;
  signal: string;
  /** The process whose signals it waits for; null for any other process of the user. */
  sourcePid: string | null;
  key: string | null;
  once: boolean;
  state: WatchState;
  error: string | null;
  createdAt: number;
  updatedAt: number;
  /** 0 for one that was replaced or removed, and has matched what is not yet delivered. */
  expiresAt: number;
};

/** data: what the process wants to be told with the signal. It may be large, so matching does not read it. */
export type WatchWithData = SignalWatchRow & { data: unknown };

export type NewWatch = Pick<WatchWithData, "uid" | "pid" | "signal" | "sourcePid" | "key" | "data" | "once" | "expiresAt">;

/** A signal that was matched; `payload` is the beginning of its JSON. */
export type SignalEvent = { sourcePid: string; signal: string; payload: string; isCut: boolean };

export type NewDelivery = {
  eventId: number;
  watch: Pick<SignalWatchRow, "rowId" | "uid" | "pid">;
  /** Of the process's run; the same for each try, so that the message arrives once. */
  runId: string;
  matchedAt: number;
};

/** A signal that a process has to be told of. */
export type SignalDelivery = Omit<NewDelivery, "watch"> & { deliveryId: number; watch: WatchWithData; event: SignalEvent };

export type SignalWatchReads = Pick<
  SignalWatches,
  "list" | "count" | "sizeOf" | "match" | "countDeliveries" | "listWaitingProcesses" | "findDelivery"
>;

const CACHE_MAX = 1_024;
const PRUNE_BATCH = 1_000;
const MINUTE_MS = 60_000;
const NO_MATCH: readonly SignalWatchRow[] = [];
const WITHOUT_DATA =
  "row_id, watch_id, uid, pid, signal, source_pid, key, once, state, error, created_at, updated_at, expires_at, window_at, window_count";
/** The one watch of a process with a key, even if it has expired. */
const OF_KEY = "WHERE pid = ? AND key = ? AND expires_at > 0";
const HAS_NO_DELIVERY = "NOT EXISTS (SELECT 1 FROM signal_deliveries WHERE watch_row = row_id)";

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

  /** A watch of the same process with the same key is replaced by one with its id. What it has matched is still delivered. */
  put(watch: NewWatch, now: number): { watchId: string; created: boolean; createdAt: number } {
    const { uid, pid, signal, sourcePid, key, data, once, expiresAt } = watch;
    this.#forget(watch);
    const json = data === undefined ? null : JSON.stringify(data);
    const row = key === null ? undefined : this.#sql.get(`SELECT * FROM signal_watches ${OF_KEY}`, pid, key);
    if (row !== undefined) {
      this.#forget(fromRow(row));
      this.#sql.run("UPDATE signal_watches SET expires_at = 0 WHERE row_id = ?", Number(row.row_id));
    }
    this.#removeOver(uid, now);
    // One that has expired does not exist, though its row may remain for a while.
    const known = row !== undefined && Number(row.expires_at) > now ? row : undefined;
    const [watchId, createdAt] = known === undefined ? [this.#crypto.uuid(), now] : [String(known.watch_id), Number(known.created_at)];
    this.#sql.run(
      `INSERT INTO signal_watches (watch_id, uid, pid, signal, source_pid, key, once, state, error, created_at, updated_at, expires_at,
         window_at, window_count, data_size, data) VALUES (?, ?, ?, ?, ?, ?, ?, 'active', NULL, ?, ?, ?, ?, ?, ?, ?)`,
      watchId,
      uid,
      pid,
      signal,
      sourcePid,
      key,
      Number(once),
      createdAt,
      now,
      expiresAt,
      Number(known?.window_at ?? 0),
      Number(known?.window_count ?? 0),
      json?.length ?? 0,
      json,
    );
    return { watchId, created: known === undefined, createdAt };
  }

  find(rowId: number): SignalWatchRow | undefined {
    const row = this.#sql.get(`SELECT ${WITHOUT_DATA} FROM signal_watches WHERE row_id = ?`, rowId);
    return row && fromRow(row);
  }

  /** Whether a process has a watch with this key. */
  has(pid: string, key: string | null, now: number): boolean {
    return key !== null && this.#sql.get(`SELECT 1 AS one FROM signal_watches ${OF_KEY} AND expires_at > ?`, pid, key, now) !== undefined;
  }

  /** Of a user, or of one of their processes. */
  count(uid: number, pid: string | undefined, now: number): number {
    const [where, ...bindings] = makeFilter(uid, pid, now);
    return Number(this.#sql.get(`SELECT count(*) AS count FROM signal_watches ${where}`, ...bindings)?.count);
  }

  /** What the states of a user's watches are together, including those that are kept only for what they have matched. */
  sizeOf(uid: number): number {
    return Number(this.#sql.get("SELECT sum(data_size) AS size FROM signal_watches WHERE uid = ?", uid)?.size ?? 0);
  }

  /** Oldest first. The first one, and then as many as have states of `chars` together. */
  list(uid: number, pid: string | undefined, page: { limit: number; offset: number; chars: number }, now: number): WatchWithData[] {
    const [where, ...bindings] = makeFilter(uid, pid, now);
    const read = (columns: string, limit: number) =>
      this.#sql.all(
        `SELECT ${columns} FROM signal_watches ${where} ORDER BY created_at, row_id LIMIT ? OFFSET ?`,
        ...bindings,
        limit,
        page.offset,
      );
    let size = 0;
    const count = read("data_size", page.limit).filter((row, at) => (size += Number(row.data_size)) <= page.chars || at === 0).length;
    return read("*", count).map(withData);
  }

  /** Returns how many were removed. Signals that were matched before are still delivered. */
  remove(uid: number, pid: string | undefined, by: { watchId: string } | { key: string }, now: number): number {
    this.clearCaches();
    const [column, value] = "watchId" in by ? ["watch_id", by.watchId] : ["key", by.key];
    const [where, ...bindings] = makeFilter(uid, pid, now);
    const removed = this.#sql.run(`UPDATE signal_watches SET expires_at = 0 ${where} AND ${column} = ?`, ...bindings, value);
    this.#removeOver(uid, now);
    return removed;
  }

  /** The watches that a signal matches, the oldest first. No process is told of its own signals. */
  match(uid: number, signal: string, sourcePid: string, now: number): readonly SignalWatchRow[] {
    const active = this.#active.get(cacheKey({ uid, signal }), () => {
      const rows = this.#sql.all(
        `SELECT ${WITHOUT_DATA} FROM signal_watches WHERE uid = ? AND signal = ? AND state = 'active' AND expires_at > 0
         ORDER BY created_at, row_id`,
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
    const { rowId, once } = watch;
    if (once) {
      this.#forget(watch);
      this.#sql.run("UPDATE signal_watches SET state = 'matched', updated_at = ? WHERE row_id = ?", now, rowId);
      return 1;
    }
    const minute = Math.floor(now / MINUTE_MS);
    this.#sql.run(
      `UPDATE signal_watches SET window_count = CASE window_at WHEN ?2 THEN window_count + 1 ELSE 1 END, window_at = ?2 WHERE row_id = ?1`,
      rowId,
      minute,
    );
    return Number(this.#sql.get("SELECT window_count AS count FROM signal_watches WHERE row_id = ?", rowId)?.count);
  }

  markFailed(watch: Pick<SignalWatchRow, "rowId" | "uid" | "signal">, error: string, now: number): void {
    this.#forget(watch);
    this.#sql.run("UPDATE signal_watches SET state = 'failed', error = ?, updated_at = ? WHERE row_id = ?", error, now, watch.rowId);
  }

  /** Stores a signal once, however many processes are told of it. Returns its id. */
  addEvent({ sourcePid, signal, payload, isCut }: SignalEvent): number {
    const eventId = Number(this.#sql.get("SELECT coalesce(max(event_id), 0) + 1 AS id FROM signal_events")?.id);
    this.#sql.run("INSERT INTO signal_events VALUES (?, ?, ?, ?, ?)", eventId, sourcePid, signal, payload, Number(isCut));
    return eventId;
  }

  addDelivery({ eventId, watch, runId, matchedAt }: NewDelivery): void {
    this.#sql.run(
      "INSERT INTO signal_deliveries (event_id, watch_row, uid, pid, run_id, matched_at) VALUES (?, ?, ?, ?, ?, ?)",
      eventId,
      watch.rowId,
      watch.uid,
      watch.pid,
      runId,
      matchedAt,
    );
  }

  countDeliveries(uid: number): number {
    return Number(this.#sql.get("SELECT count(*) AS count FROM signal_deliveries WHERE uid = ?", uid)?.count);
  }

  /** The processes that have yet to be told of something. */
  listWaitingProcesses(): { uid: number; pid: string }[] {
    const rows = this.#sql.all("SELECT uid, pid FROM signal_deliveries GROUP BY uid, pid ORDER BY min(delivery_id)");
    return rows.map(({ uid, pid }) => ({ uid: Number(uid), pid: String(pid) }));
  }

  /** What a process is told of next: its signals stay in their order. */
  findDelivery(uid: number, pid: string): SignalDelivery | undefined {
    const row = this.#sql.get("SELECT * FROM signal_deliveries WHERE uid = ? AND pid = ? ORDER BY delivery_id LIMIT 1", uid, pid);
    if (row === undefined) return undefined;
    const event = this.#sql.get("SELECT * FROM signal_events WHERE event_id = ?", Number(row.event_id))!;
    const watch = this.#sql.get("SELECT * FROM signal_watches WHERE row_id = ?", Number(row.watch_row))!;
    return {
      deliveryId: Number(row.delivery_id),
      eventId: Number(row.event_id),
      runId: String(row.run_id),
      matchedAt: Number(row.matched_at),
      watch: withData(watch),
      event: {
        sourcePid: String(event.source_pid),
        signal: String(event.signal),
        payload: String(event.payload),
        isCut: event.is_cut === 1,
      },
    };
  }

  /** The process has its message, or will never get it. A watch that is kept only for this goes: returns whether it did. */
  endDelivery({ deliveryId, eventId, watch }: Pick<SignalDelivery, "deliveryId" | "eventId" | "watch">): boolean {
    this.#sql.run("DELETE FROM signal_deliveries WHERE delivery_id = ?", deliveryId);
    this.#sql.run(
      "DELETE FROM signal_events WHERE event_id = ?1 AND NOT EXISTS (SELECT 1 FROM signal_deliveries WHERE event_id = ?1)",
      eventId,
    );
    // It was not active, so no cache has it.
    const removed = this.#sql.run(
      `DELETE FROM signal_watches WHERE row_id = ? AND (state = 'matched' OR expires_at = 0) AND ${HAS_NO_DELIVERY}`,
      watch.rowId,
    );
    return removed > 0;
  }

  prune(now: number): boolean {
    this.clearCaches();
    const removed = this.#sql.run(
      `DELETE FROM signal_watches WHERE row_id IN (SELECT row_id FROM signal_watches WHERE expires_at <= ? AND ${HAS_NO_DELIVERY} LIMIT ?)`,
      now,
      PRUNE_BATCH,
    );
    return removed < PRUNE_BATCH;
  }

  nextPruneAt(): number | null {
    const due = this.#sql.get("SELECT min(expires_at) AS due FROM signal_watches")?.due;
    return due == null ? null : Number(due);
  }

  /** Removes what does not exist for the user any more, and has matched nothing that is not yet delivered. */
  #removeOver(uid: number, now: number): void {
    this.#sql.run(`DELETE FROM signal_watches WHERE uid = ? AND expires_at <= ? AND ${HAS_NO_DELIVERY}`, uid, now);
  }

  /** Only the list that a watch is in: a user may have many others, and each event would read them again. */
  #forget(watch: Pick<SignalWatchRow, "uid" | "signal">): void {
    this.#active.delete(cacheKey(watch));
  }
}

function cacheKey({ uid, signal }: Pick<SignalWatchRow, "uid" | "signal">): string {
  return `${uid} ${signal}`;
}

function makeFilter(uid: number, pid: string | undefined, now: number): [where: string, ...bindings: SqlValue[]] {
  const where = "WHERE uid = ? AND expires_at > ?";
  return pid === undefined ? [where, uid, now] : [`${where} AND pid = ?`, uid, now, pid];
}

function withData(row: SqlRow): WatchWithData {
  return { ...fromRow(row), data: row.data === null ? undefined : (JSON.parse(String(row.data)) as unknown) };
}

function fromRow(row: SqlRow): SignalWatchRow {
  return {
    rowId: Number(row.row_id),
    watchId: String(row.watch_id),
    uid: Number(row.uid),
    pid: String(row.pid),
    signal: String(row.signal),
    sourcePid: row.source_pid as string | null,
    key: row.key as string | null,
    once: row.once === 1,
    state: row.state as WatchState,
    error: row.error as string | null,
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    expiresAt: Number(row.expires_at),
  };
}
