// The Sql port over the object's own SQLite. The output gate is the platform's: nothing leaves the object before its writes are
// on disk, and if a write is lost the platform restarts the object. Most rules of the port are the platform's own; this file
// refuses only values that the platform would silently convert.

import { type Sql, type SqlRow, type SqlValue, StorageError } from "../../ports/sql.ts";

export class CloudflareSql implements Sql {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  all(query: string, ...bindings: SqlValue[]): SqlRow[] {
    return this.#exec(query, bindings);
  }

  get(query: string, ...bindings: SqlValue[]): SqlRow | undefined {
    return this.#exec(query, bindings)[0];
  }

  run(query: string, ...bindings: SqlValue[]): number {
    this.#exec(query, bindings);
    // The cursor's rowsWritten also counts index rows.
    return Number(this.#exec("SELECT changes() AS changed", [])[0]?.changed);
  }

  transaction<T>(body: () => T): T {
    return this.#storage.transactionSync(body);
  }

  /** The platform has no relaxed lane: every row is durable before anything leaves. */
  runRelaxed<T>(body: () => T): T {
    return body();
  }

  async waitUntilDurable(): Promise<void> {
    try {
      await this.#storage.sync();
    } catch (error) {
      throw new StorageError(false, error);
    }
  }

  #exec(query: string, bindings: readonly SqlValue[]): SqlRow[] {
    for (const value of bindings) checkBinding(value);
    try {
      const cursor = this.#storage.sql.exec(query, ...bindings);
      // Read completely: an open cursor would see later writes.
      return Array.from(cursor, toRow);
    } catch (error) {
      throw asStorageError(error) ?? error;
    }
  }
}

function toRow(stored: Record<string, SqlStorageValue>): SqlRow {
  const row: SqlRow = {};
  for (const [column, value] of Object.entries(stored)) row[column] = value instanceof ArrayBuffer ? new Uint8Array(value) : value;
  return row;
}

/** The platform would store true as the text "true", undefined and NaN as NULL, and round an integer above 2^53. */
function checkBinding(value: unknown): void {
  if (typeof value === "number") {
    if (Number.isNaN(value)) throw new Error("SQL: cannot bind NaN");
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) throw new Error("SQL: an integer above 2^53");
  } else if (typeof value !== "string" && value !== null && !(value instanceof Uint8Array)) {
    throw new Error(`SQL: cannot bind a ${typeof value}`);
  }
}

/** The platform reports SQLite's result code only at the end of its message. */
function asStorageError(error: unknown): StorageError | null {
  const message = error instanceof Error ? error.message : "";
  if (/\bSQLITE_FULL\b/.test(message)) return new StorageError(true, error);
  return /\bSQLITE_IOERR/.test(message) ? new StorageError(false, error) : null;
}
