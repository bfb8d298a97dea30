// Timers as rows with a due time, so that they survive a restart. Owns timers. The kernel asks the clock for one wake at the earliest due
// time. A wake may be late or come twice, so the row is deleted before the work, and a second wake finds nothing to do.

import type { Sql } from "../../ports/sql.ts";

export class Timers {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  arm(kind: string, key: string, dueAt: number): void {
    this.#sql.run("INSERT INTO timers VALUES (?, ?, ?) ON CONFLICT (kind, key) DO UPDATE SET due_at = excluded.due_at", kind, key, dueAt);
  }

  dueAt(kind: string, key: string): number | null {
    const row = this.#sql.get("SELECT due_at FROM timers WHERE kind = ? AND key = ?", kind, key);
    return row === undefined ? null : Number(row.due_at);
  }

  cancel(kind: string, key: string): void {
    this.#sql.run("DELETE FROM timers WHERE kind = ? AND key = ?", kind, key);
  }

  /** Removes the timers of a kind that are due, and returns their keys. */
  takeDue(kind: string, now: number): string[] {
    const rows = this.#sql.all("SELECT key FROM timers WHERE kind = ? AND due_at <= ? ORDER BY due_at LIMIT 100", kind, now);
    for (const row of rows) this.cancel(kind, String(row.key));
    return rows.map((row) => String(row.key));
  }

  nextDueAt(kind: string): number | null {
    const due = this.#sql.get("SELECT min(due_at) AS due FROM timers WHERE kind = ?", kind)?.due;
    return due == null ? null : Number(due);
  }
}
