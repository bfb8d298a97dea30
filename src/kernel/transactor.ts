// One write is one transaction. The actions that a write registers for later (close a socket, send a signal) are returned with its
// value: the caller answers first and then runs them. A write that throws leaves no actions.

import type { Sql } from "../ports/sql.ts";

export type TransactionResult<T> = { value: T; after: readonly (() => void)[] };

const NOTHING: readonly (() => void)[] = [];

export class Transactor {
  readonly #sql: Sql;
  readonly #onRollback: () => void;
  #after: (() => void)[] | null = null;

  /** `onRollback` is called after a rollback, so that caches of rows are cleared. */
  constructor(sql: Sql, onRollback: () => void) {
    this.#sql = sql;
    this.#onRollback = onRollback;
  }

  run<T>(body: () => T): TransactionResult<T> {
    return this.#collectAfter(() => this.#sql.transaction(body));
  }

  relaxed<T>(body: () => T): TransactionResult<T> {
    return this.#collectAfter(() => this.#sql.runRelaxed(() => this.#sql.transaction(body)));
  }

  /** Registers an action to run once the current write has been answered. */
  after(action: () => void): void {
    if (this.#after === null) throw new Error("after() may only be called inside a write");
    this.#after.push(action);
  }

  #collectAfter<T>(transaction: () => T): TransactionResult<T> {
    const outer = this.#after;
    this.#after = [];
    try {
      const value = transaction();
      return { value, after: this.#after.length === 0 ? NOTHING : this.#after };
    } catch (error) {
      this.#onRollback();
      throw error;
    } finally {
      this.#after = outer;
    }
  }
}
