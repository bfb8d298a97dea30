// Calls that were stopped while their device was offline, so that it can be told to cancel them when it reconnects. Owns cancellations.

import type { Sql } from "../../ports/sql.ts";

/** As long as a device keeps the key of a call in its ledger. */
const KEEP_MS = 24 * 60 * 60 * 1000;

export class Cancellations {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  add(deviceId: string, key: string, now: number): void {
    this.#sql.run("INSERT OR REPLACE INTO cancellations VALUES (?, ?, ?)", deviceId, key, now);
  }

  /** Removes and returns the keys of the stopped calls. */
  takeByDevice(deviceId: string): string[] {
    const rows = this.#sql.all("SELECT key FROM cancellations WHERE device_id = ?", deviceId);
    if (rows.length > 0) this.#sql.run("DELETE FROM cancellations WHERE device_id = ?", deviceId);
    return rows.map((row) => String(row.key));
  }

  prune(now: number): void {
    this.#sql.run("DELETE FROM cancellations WHERE created_at <= ?", now - KEEP_MS);
  }

  nextPruneAt(): number | null {
    const oldest = this.#sql.get("SELECT min(created_at) AS oldest FROM cancellations")?.oldest;
    return oldest == null ? null : Number(oldest) + KEEP_MS;
  }
}
