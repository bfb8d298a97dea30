// The Sql port on an in-memory SQLite, with the batches of the Node host but without timers: the driver of the world decides when
// a batch is committed, fails, or is lost in a crash. Its rules and lanes are those of src/hosts/node/sql.ts.

import { DatabaseSync, type StatementSync } from "node:sqlite";
import { type Sql, SQL_BINDINGS_MAX, SQL_VALUE_BYTES_MAX, type SqlRow, type SqlValue, StorageError } from "../../../src/ports/sql.ts";

export type Batch = "none" | "relaxed" | "open";

export class MemorySql implements Sql {
  readonly #database = new DatabaseSync(":memory:", { enableForeignKeyConstraints: true });
  readonly #statements = new Map<string, StatementSync>();
  readonly #onBatch: (batch: "relaxed" | "open") => void;
  #failed: () => void = () => {};
  #batch: Batch = "none";
  #inRelaxed = false;
  #depth = 0;
  #waiting: ((failure: StorageError | null) => void)[] = [];

  /** `onBatch` is called when a batch opens, relaxed or not, so that a commit can be scheduled. */
  constructor(onBatch: (batch: "relaxed" | "open") => void = () => {}) {
    this.#onBatch = onBatch;
  }

  get batch(): Batch {
    return this.#batch;
  }

  /** Whether frames must wait for the open batch. */
  get holds(): boolean {
    return this.#batch === "open";
  }

  all(query: string, ...bindings: SqlValue[]): SqlRow[] {
    return this.#prepare(query, true, bindings).all(...bindings) as SqlRow[];
  }

  get(query: string, ...bindings: SqlValue[]): SqlRow | undefined {
    return this.#prepare(query, true, bindings).get(...bindings) as SqlRow | undefined;
  }

  run(query: string, ...bindings: SqlValue[]): number {
    const statement = this.#prepare(query, false, bindings);
    this.#begin();
    return Number(statement.run(...bindings).changes);
  }

  transaction<T>(body: () => T): T {
    // A read-only transaction must not open a batch, so there is a savepoint only inside a batch that is already open. Otherwise
    // the whole batch belongs to this transaction, and undoing it is a rollback.
    const savepoint = this.#batch === "none" ? null : `s${this.#depth}`;
    const before = this.#batch;
    if (savepoint !== null) this.#database.exec(`SAVEPOINT ${savepoint}`);
    this.#depth++;
    try {
      const value = body();
      if (savepoint !== null) this.#database.exec(`RELEASE ${savepoint}`);
      return value;
    } catch (error) {
      if (savepoint !== null) this.#database.exec(`ROLLBACK TO ${savepoint}; RELEASE ${savepoint}`);
      else if (before === "none" && this.#database.isTransaction) this.#database.exec("ROLLBACK; BEGIN");
      throw error;
    } finally {
      this.#depth--;
    }
  }

  runRelaxed<T>(body: () => T): T {
    const outer = this.#inRelaxed;
    this.#inRelaxed = true;
    try {
      return body();
    } finally {
      this.#inRelaxed = outer;
    }
  }

  waitUntilDurable(): Promise<void> {
    if (!this.holds) return Promise.resolve();
    return new Promise((resolve, reject) => this.whenBatchEnds((failure) => (failure === null ? resolve() : reject(failure))));
  }

  whenBatchEnds(end: (failure: StorageError | null) => void): void {
    this.#waiting.push(end);
  }

  /** `failed` is called when a batch was lost, after those who waited for it. */
  onFailure(failed: () => void): void {
    this.#failed = failed;
  }

  commit(fault: "none" | "full" | "io" = "none"): void {
    if (this.#batch === "none") return;
    this.#database.exec(fault === "none" ? "COMMIT" : "ROLLBACK");
    const failure = fault === "none" ? null : new StorageError(fault === "full", new Error("the simulated disk"));
    this.#batch = "none";
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const end of waiting) end(failure);
    if (failure !== null) this.#failed();
  }

  /** As if the gateway crashed: uncommitted rows are lost, and promises that waited for them never settle. */
  crash(): void {
    if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
    this.#batch = "none";
    this.#depth = 0;
    this.#waiting = [];
  }

  /** For checks that the port's rules forbid, such as pragmas. */
  inspect(query: string): SqlRow[] {
    return this.#database.prepare(query).all() as SqlRow[];
  }

  close(): void {
    this.#database.close();
  }

  #begin(): void {
    if (this.#batch === "none") {
      if (!this.#database.isTransaction) this.#database.exec("BEGIN");
      this.#batch = "relaxed";
      if (this.#inRelaxed) this.#onBatch("relaxed");
    }
    if (this.#batch === "relaxed" && !this.#inRelaxed) {
      this.#batch = "open";
      this.#onBatch("open");
    }
  }

  #prepare(query: string, isRead: boolean, bindings: readonly SqlValue[]): StatementSync {
    if (isRead !== /^\s*(?:SELECT|WITH)\b/i.test(query))
      throw new Error(`SQL: ${isRead ? "all and get are for SELECT" : "run is not for SELECT"}`);
    if (/^\s*(?:BEGIN|COMMIT|END|ROLLBACK|SAVEPOINT|RELEASE|PRAGMA|ATTACH|DETACH|VACUUM)\b/i.test(query))
      throw new Error("SQL: transactions and pragmas belong to the port");
    if (bindings.length > SQL_BINDINGS_MAX) throw new Error(`SQL: ${bindings.length} bindings (at most ${SQL_BINDINGS_MAX})`);
    for (const value of bindings) checkBinding(value);
    let statement = this.#statements.get(query);
    if (statement === undefined) {
      statement = this.#database.prepare(query);
      this.#statements.set(query, statement);
    }
    return statement;
  }
}

function checkBinding(value: SqlValue): void {
  if (typeof value === "number") {
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) throw new Error("SQL: an integer above 2^53");
  } else if (typeof value === "string" || value instanceof Uint8Array) {
    const size = typeof value === "string" ? Buffer.byteLength(value) : value.length;
    if (size > SQL_VALUE_BYTES_MAX) throw new Error("SQL: a value over 2 MB");
  } else if (value !== null) {
    throw new Error(`SQL: cannot bind a ${typeof value}`);
  }
}
