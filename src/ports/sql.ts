// Synchronous SQL over the actor's own database. Both hosts have it, which is why kernel state is plain code without locks.
// Implementations enforce the stricter side's rules: at most 100 bindings, values of at most 2 MB, no BEGIN statements, integers
// up to 2^53, no booleans or bigints.

export type SqlValue = string | number | null | Uint8Array;
export type SqlRow = Record<string, SqlValue>;

export interface Sql {
  all(query: string, ...bindings: SqlValue[]): SqlRow[];
  get(query: string, ...bindings: SqlValue[]): SqlRow | undefined;
  /** The number of rows changed. */
  run(query: string, ...bindings: SqlValue[]): number;
  /** All or nothing. Nests: a throw undoes only what was written inside it. */
  transaction<T>(body: () => T): T;
  /**
   * For rows nobody was promised (presence, routes in flight): they commit with the next batch and hold no frame back. A crash
   * may lose them.
   */
  runRelaxed<T>(body: () => T): T;
  /** Resolves when everything written so far is on disk; rejects with a StorageError if that failed. */
  waitUntilDurable(): Promise<void>;
}

export const SQL_BINDINGS_MAX = 100;
export const SQL_VALUE_BYTES_MAX = 2_000_000;
export const SQL_STATEMENT_BYTES_MAX = 100_000;

/** The disk refused the write. Nothing of the transaction was kept. */
export class StorageError extends Error {
  readonly full: boolean;

  constructor(full: boolean, cause: unknown) {
    super(full ? "Storage is full: free some disk space and try again" : "Storage failed: the change was not saved", { cause });
    this.name = "StorageError";
    this.full = full;
  }
}
