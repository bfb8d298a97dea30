// Failed model calls of each user since the last successful one. Owns model_failures.

import { Cache } from "../../lib/cache.ts";
import type { Sql } from "../../ports/sql.ts";

/** `count` failures in a row; `error` and `at` belong to the last one. */
export type ModelFailure = { uid: number; error: string; count: number; at: number };

export type ModelFailureReads = Pick<ModelFailures, "list">;

const ERROR_CHARS_MAX = 500;
/** Settings that decide which model is called and how. */
const CHOICE = /^(?:config|users\/(\d+))\/ai\/(?:fallback\/)?(?:provider|model|api_key|base_url)$/;

const CACHE_MAX = 1024;

export class ModelFailures {
  readonly #sql: Sql;
  /** Users who have no failures: every answer clears them. A rollback of rows must call `clearCaches`. */
  readonly #clean = new Cache<number, true>(CACHE_MAX);

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Newest first. Without a uid, those of all users. */
  list(uid?: number): ModelFailure[] {
    const rows =
      uid === undefined
        ? this.#sql.all("SELECT * FROM model_failures ORDER BY at DESC, uid")
        : this.#sql.all("SELECT * FROM model_failures WHERE uid = ?", uid);
    return rows.map((row) => ({ uid: Number(row.uid), error: String(row.error), count: Number(row.count), at: Number(row.at) }));
  }

  clearCaches(): void {
    this.#clean.clear();
  }

  recordFailure(uid: number, error: string, now: number): void {
    this.#clean.delete(uid);
    this.#sql.run(
      "INSERT INTO model_failures VALUES (?1, ?2, 1, ?3) ON CONFLICT (uid) DO UPDATE SET error = ?2, count = count + 1, at = ?3",
      uid,
      error.replaceAll(/\s+/g, " ").trim().slice(0, ERROR_CHARS_MAX),
      now,
    );
  }

  clear(uid: number): void {
    if (this.#clean.find(uid)) return;
    this.#sql.run("DELETE FROM model_failures WHERE uid = ?", uid);
    this.#clean.set(uid, true);
  }

  /** The settings may now select another model than the one that failed. */
  onSettingChanged(key: string): void {
    const [changes, uid] = CHOICE.exec(key) ?? [];
    if (uid !== undefined) this.clear(Number(uid));
    else if (changes !== undefined) this.#sql.run("DELETE FROM model_failures");
  }
}
