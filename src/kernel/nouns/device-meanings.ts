// Whose device each user means by a plain name. Owns device_meanings. Once a user has used a name for one owner's device, it never comes
// to mean another owner's because somebody shares or removes a device. OWNER@ID is always unambiguous.

import { Cache } from "../../lib/cache.ts";
import type { Sql } from "../../ports/sql.ts";
import { LIMITS } from "../../protocol/limits.ts";

/** Names per user; beyond that the oldest are deleted, which only the user can cause. */
export const MEANINGS_MAX = 10 * LIMITS.devicesPerUser;

const CACHE_MAX = 1024;

export class DeviceMeanings {
  readonly #sql: Sql;
  /** Every routed call needs them. A rollback of rows must call `clearCaches`. */
  readonly #owners = new Cache<string, number | null>(CACHE_MAX);

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  ownerOf(uid: number, name: string): number | null {
    return this.#owners.get(`${uid} ${name}`, () => {
      const row = this.#sql.get("SELECT owner_uid FROM device_meanings WHERE uid = ? AND name = ?", uid, name);
      return row === undefined ? null : Number(row.owner_uid);
    });
  }

  clearCaches(): void {
    this.#owners.clear();
  }

  set(uid: number, name: string, ownerUid: number): void {
    if (this.ownerOf(uid, name) === ownerUid) return;
    this.clearCaches();
    this.#sql.run("INSERT OR REPLACE INTO device_meanings VALUES (?, ?, ?)", uid, name, ownerUid);
    this.#sql.run(
      `DELETE FROM device_meanings WHERE uid = ?1
         AND rowid IN (SELECT rowid FROM device_meanings WHERE uid = ?1 ORDER BY rowid DESC LIMIT -1 OFFSET ?2)`,
      uid,
      MEANINGS_MAX,
    );
  }
}
