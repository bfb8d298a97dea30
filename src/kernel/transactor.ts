// One write, one transaction. What a write wants done afterwards (close a socket, send a signal) is kept aside and
// handed back with its value: the caller answers first and then lets it happen, and a write that throws leaves none.

import type { Sql } from "../ports/sql.ts";

export type Written<T> = { value: T; after: readonly (() => void)[] };

const NOTHING: readonly (() => void)[] = [];

export class Transactor {
  readonly #sql: Sql;
  readonly #undone: () => void;
  #after: (() => void)[] | null = null;

  /** `undone` is told when rows were taken back, so that whatever was remembered of them is forgotten. */
  constructor(sql: Sql, undone: () => void) {
    this.#sql = sql;
    this.#undone = undone;
  }

  run<T>(body: () => T): Written<T> {
    return this.#inside(() => this.#sql.transaction(body));
  }

  relaxed<T>(body: () => T): Written<T> {
    return this.#inside(() => this.#sql.relaxed(() => this.#sql.transaction(body)));
  }

  /** To be done once the present write has been answered. */
  after(action: () => void): void {
    if (this.#after === null) throw new Error("after() is for the inside of a write");
    this.#after.push(action);
  }

  #inside<T>(transaction: () => T): Written<T> {
    const outer = this.#after;
    this.#after = [];
    try {
      const value = transaction();
      return { value, after: this.#after.length === 0 ? NOTHING : this.#after };
    } catch (error) {
      this.#undone();
      throw error;
    } finally {
      this.#after = outer;
    }
  }
}
