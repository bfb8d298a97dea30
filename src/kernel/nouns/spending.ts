// What all processes of a user have used per day, and the total at which a person last extended the budget. Owns spending.

import { Cache } from "../../lib/cache.ts";
import type { Sql, SqlValue } from "../../ports/sql.ts";
import { NOTHING_SPENT, sumSpent } from "../../ports/usage.ts";
import type { SpendingAccount } from "../../process/loop/budget.ts";
import type { Spent } from "../../protocol/proc-records.ts";

export type DaySpent = { day: string; spent: Spent };

const CACHED_MAX = 1_000;
const KEEP_DAYS = 400;
const DAY_MS = 24 * 60 * 60 * 1000;

export class Spending {
  readonly #sql: Sql;
  /** Accounts of users and days: each step of a process needs one. A rollback of rows must call `clearCaches`. */
  readonly #accounts = new Cache<string, SpendingAccount>(CACHED_MAX);

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  clearCaches(): void {
    this.#accounts.clear();
  }

  /** Today's account, to which the user's budget applies. */
  readToday(uid: number, now: number): SpendingAccount {
    const day = dayOf(now);
    return this.#accounts.get(`${uid} ${day}`, () => {
      const row = this.#sql.get("SELECT total, since FROM spending WHERE uid = ? AND day = ?", uid, day);
      const parseSpent = (value: SqlValue | undefined): Spent => (value == null ? NOTHING_SPENT : (JSON.parse(String(value)) as Spent));
      return { total: parseSpent(row?.total), since: parseSpent(row?.since) };
    });
  }

  add(uid: number, more: Partial<Spent>, now: number): void {
    const { total: before, since } = this.readToday(uid, now);
    const total = sumSpent(before, more);
    const day = dayOf(now);
    this.#sql.run(
      "INSERT INTO spending VALUES (?1, ?2, ?3, NULL) ON CONFLICT (uid, day) DO UPDATE SET total = ?3",
      uid,
      day,
      JSON.stringify(total),
    );
    this.#accounts.set(`${uid} ${day}`, { total, since });
  }

  /** Allows the budget once more: what was used so far no longer counts against today's budget. */
  extendBudget(uid: number, now: number): void {
    const total = JSON.stringify(this.readToday(uid, now).total);
    this.clearCaches();
    this.#sql.run("INSERT INTO spending VALUES (?1, ?2, ?3, ?3) ON CONFLICT (uid, day) DO UPDATE SET since = ?3", uid, dayOf(now), total);
  }

  /** Newest first. */
  listDays(uid: number, count: number): DaySpent[] {
    return this.#sql
      .all("SELECT day, total FROM spending WHERE uid = ? ORDER BY day DESC LIMIT ?", uid, count)
      .map((row) => ({ day: String(row.day), spent: JSON.parse(String(row.total)) as Spent }));
  }

  prune(now: number): void {
    this.clearCaches();
    this.#sql.run("DELETE FROM spending WHERE day < ?", dayOf(now - KEEP_DAYS * DAY_MS));
  }

  nextPruneAt(): number | null {
    const oldest = this.#sql.get("SELECT min(day) AS oldest FROM spending")?.oldest;
    return oldest == null ? null : Date.parse(String(oldest)) + (KEEP_DAYS + 1) * DAY_MS;
  }
}

function dayOf(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}
