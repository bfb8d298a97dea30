// The model calls of each user that failed since the last that was answered. Owns model_failures.

import type { Sql } from "../../ports/sql.ts";

/** `count` of them in a row; `error` and `at` are of the last. */
export type ModelFailure = { uid: number; error: string; count: number; at: number };

export type ModelFailureReads = Pick<ModelFailures, "list">;

const ERROR_CHARS_MAX = 500;
/** Settings that decide which model is asked and how. */
const CHOICE = /^(?:config|users\/(\d+))\/ai\/(?:fallback\/)?(?:provider|model|api_key|base_url)$/;

export class ModelFailures {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Newest first; everybody's for no uid. */
  list(uid?: number): ModelFailure[] {
    const rows =
      uid === undefined
        ? this.#sql.all("SELECT * FROM model_failures ORDER BY at DESC, uid")
        : this.#sql.all("SELECT * FROM model_failures WHERE uid = ?", uid);
    return rows.map((row) => ({ uid: Number(row.uid), error: String(row.error), count: Number(row.count), at: Number(row.at) }));
  }

  failed(uid: number, error: string, now: number): void {
    this.#sql.run(
      "INSERT INTO model_failures VALUES (?1, ?2, 1, ?3) ON CONFLICT (uid) DO UPDATE SET error = ?2, count = count + 1, at = ?3",
      uid,
      error.replaceAll(/\s+/g, " ").trim().slice(0, ERROR_CHARS_MAX),
      now,
    );
  }

  answered(uid: number): void {
    this.#sql.run("DELETE FROM model_failures WHERE uid = ?", uid);
  }

  /** What failed may be another model than the one that is asked from now on. */
  settingChanged(key: string): void {
    const [changes, uid] = CHOICE.exec(key) ?? [];
    if (uid !== undefined) this.answered(Number(uid));
    else if (changes !== undefined) this.#sql.run("DELETE FROM model_failures");
  }
}
