// The Sql port over one SQLite file, without the way its writes become durable. All writes of one turn of the event loop are one
// batch; until it is durable, no frame leaves (`isHoldingFrames`). Rows of the relaxed lane wait for the next batch, or for a later one of
// their own, and hold no frame. NodeSql (sql.ts) syncs the file itself at the end of a batch, JournaledSql a journal that files share.
//
// One connection per file. It enforces the rules of Durable Objects' SQL, so that code which runs on Node runs there too.

import { DatabaseSync, type StatementSync } from "node:sqlite";
import {
  type Sql,
  SQL_BINDINGS_MAX,
  SQL_STATEMENT_BYTES_MAX,
  SQL_VALUE_BYTES_MAX,
  type SqlRow,
  type SqlValue,
  StorageError,
} from "../../ports/sql.ts";
import { diskLimitPragmas } from "./faults.ts";

const STATEMENTS_MAX = 500;

export const SQLITE_FULL = 13;
const SQLITE_IOERR = 10;
/** No space for the shared-memory file of the write-ahead log, which holds no data. */
const SQLITE_IOERR_SHMSIZE = SQLITE_IOERR | (19 << 8);

type PreparedQuery = { statement: StatementSync; columns: string[]; bindings: number };

/** Called when a batch has ended, for those who wait for it. */
export type OnBatchEnd = (failure: StorageError | null) => void;

/** `full`: each commit is synced. `normal`: a power failure may undo the last commits, but never a part of one. */
export type Synchronous = "full" | "normal";

export abstract class SqlFile implements Sql {
  protected readonly database: DatabaseSync;
  readonly #fatal: (error: unknown) => void;
  readonly #reads = new Map<string, PreparedQuery>();
  readonly #writes = new Map<string, PreparedQuery>();
  #batch: "none" | "relaxed" | "open" = "none";
  #isRelaxed = false;
  /** Requested savepoints, and those really opened: one is opened only when something is written inside it. */
  #depth = 0;
  #openSavepoints = 0;
  #waiting: OnBatchEnd[] = [];
  /** Those who wait for the batch before, which is being synced; null if nobody has to wait for it. */
  #syncing: OnBatchEnd[] | null = null;
  #batchNumber = 0;
  #notifyFailure: () => void = () => {};
  /** Set while a batch is open that SQLite has already rolled back. */
  #lostBatch: StorageError | null = null;

  /** `fatal` is called with errors after which the file must not be trusted before a restart. */
  constructor(path: string, synchronous: Synchronous, fatal: (error: unknown) => void) {
    this.#fatal = fatal;
    this.database = openDatabase(path, synchronous);
  }

  /** Whether frames must wait: for the open batch, or for the one that is being synced. */
  get isHoldingFrames(): boolean {
    return this.#batch === "open" || this.#syncing !== null;
  }

  /** The number of the batch that `whenBatchEnds` waits for. */
  get awaitedBatch(): number {
    return this.#batch === "open" ? this.#batchNumber : this.#batchNumber - 1;
  }

  /** Whether anything was written that is in no ended batch. */
  get hasBatch(): boolean {
    return this.#batch !== "none";
  }

  all(query: string, ...bindings: SqlValue[]): SqlRow[] {
    const { statement, columns } = this.#prepareRead(query, bindings);
    const rows = this.convertErrors(() => statement.all(...bindings) as unknown as SqlValue[][]);
    return rows.map((values) => toRow(columns, values));
  }

  get(query: string, ...bindings: SqlValue[]): SqlRow | undefined {
    const { statement, columns } = this.#prepareRead(query, bindings);
    const values = this.convertErrors(() => statement.get(...bindings) as unknown as SqlValue[] | undefined);
    return values && toRow(columns, values);
  }

  run(query: string, ...bindings: SqlValue[]): number {
    const { statement } = this.#prepare(this.#writes, query, bindings);
    if (this.#lostBatch !== null) throw this.#lostBatch;
    this.#begin();
    try {
      const { changes } = statement.run(...bindings);
      this.onWrite(query, bindings);
      return Number(changes);
    } catch (error) {
      const failure = this.asStorageError(error);
      // On a full disk SQLite may roll back the whole transaction, including other writes of this turn.
      if (!this.database.isTransaction) {
        this.#lostBatch = failure ?? new StorageError(false, error);
        this.onLostTransaction();
      }
      throw this.#lostBatch ?? failure ?? error;
    }
  }

  transaction<T>(body: () => T): T {
    this.#depth++;
    try {
      const value = body();
      this.#endSavepoint("RELEASE");
      return value;
    } catch (error) {
      this.#endSavepoint("ROLLBACK TO");
      throw error;
    }
  }

  runRelaxed<T>(body: () => T): T {
    const outer = this.#isRelaxed;
    this.#isRelaxed = true;
    try {
      return body();
    } finally {
      this.#isRelaxed = outer;
    }
  }

  waitUntilDurable(): Promise<void> {
    if (!this.isHoldingFrames) return Promise.resolve();
    return new Promise((resolve, reject) => this.whenBatchEnds((failure) => (failure === null ? resolve() : reject(failure))));
  }

  /** Call only while `isHoldingFrames`. */
  whenBatchEnds(end: OnBatchEnd): void {
    if (this.#batch === "open" || this.#syncing === null) this.#waiting.push(end);
    else this.#syncing.push(end);
  }

  /** `notify` is called when a batch was lost, after those who waited for it. */
  onFailure(notify: () => void): void {
    this.#notifyFailure = notify;
  }

  /** Ends the open batch now instead of at the end of the turn. */
  abstract commit(): void;

  abstract close(): void;

  /** The first write of a batch. */
  protected abstract beginBatch(): void;
  /** Arranges the end of a batch that somebody waits for: at the end of the turn. */
  protected abstract scheduleEnd(): void;
  /** Arranges the end of a batch that nobody waits for. */
  protected abstract scheduleLazyEnd(): void;

  protected onWrite(_query: string, _bindings: SqlValue[]): void {}
  protected onSavepoint(_verb: "SAVEPOINT" | "ROLLBACK TO", _depth: number): void {}
  protected onLostTransaction(): void {}

  protected get lostBatch(): StorageError | null {
    return this.#lostBatch;
  }

  /** Ends the batch. The returned function tells those who wait; whatever they write belongs to the next batch. */
  protected closeBatch(failure: StorageError | null): () => void {
    const waiting = this.#takeBatch();
    return () => {
      for (const end of waiting) end(failure);
      if (failure !== null) this.#notifyFailure();
    };
  }

  /** The batch is written, and the next one may begin before it is synced. */
  protected moveBatchToSync(): void {
    const isAwaited = this.#batch === "open";
    const waiting = this.#takeBatch();
    this.#syncing = isAwaited ? waiting : null;
  }

  /** The batch is synced. The returned function tells those who wait. */
  protected finishSync(): () => void {
    const waiting = this.#syncing ?? [];
    this.#syncing = null;
    return () => {
      for (const end of waiting) end(null);
    };
  }

  #takeBatch(): OnBatchEnd[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#lostBatch = null;
    this.#batch = "none";
    this.#batchNumber++;
    return waiting;
  }

  protected asStorageError(error: unknown): StorageError | null {
    if (isDiskFullError(error)) return new StorageError(true, error);
    if (((errcode(error) ?? 0) & 0xff) !== SQLITE_IOERR) return null;
    // After a failed sync the state of the disk is unknown, so the gateway must not continue.
    this.#fatal(error);
    return new StorageError(false, error);
  }

  /** The first read of a file creates the shared memory of its readers, which fails on a full disk. */
  protected convertErrors<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw this.asStorageError(error) ?? error;
    }
  }

  #begin(): void {
    if (this.#batch === "none") {
      this.beginBatch();
      this.#batch = "relaxed";
      if (this.#isRelaxed) this.scheduleLazyEnd();
    }
    if (this.#batch === "relaxed" && !this.#isRelaxed) {
      this.#batch = "open";
      this.scheduleEnd();
    }
    while (this.#openSavepoints < this.#depth) {
      this.#openSavepoints++;
      this.#runSavepoint("SAVEPOINT");
    }
  }

  #endSavepoint(how: "RELEASE" | "ROLLBACK TO"): void {
    if (this.#openSavepoints === this.#depth) {
      if (this.#lostBatch === null && how === "ROLLBACK TO") this.#runSavepoint(how);
      if (this.#lostBatch === null) this.#runSavepoint("RELEASE");
      this.#openSavepoints--;
    }
    this.#depth--;
  }

  #runSavepoint(verb: "SAVEPOINT" | "RELEASE" | "ROLLBACK TO"): void {
    const query = `${verb} s${this.#openSavepoints}`;
    let prepared = this.#writes.get(query);
    if (prepared === undefined) {
      prepared = { statement: this.database.prepare(query), columns: [], bindings: 0 };
      this.#writes.set(query, prepared);
    }
    prepared.statement.run();
    if (verb !== "RELEASE") this.onSavepoint(verb, this.#openSavepoints);
  }

  #prepareRead(query: string, bindings: readonly SqlValue[]): PreparedQuery {
    return this.#prepare(this.#reads, query, bindings);
  }

  #prepare(known: Map<string, PreparedQuery>, query: string, bindings: readonly SqlValue[]): PreparedQuery {
    let prepared = known.get(query);
    if (prepared === undefined) {
      checkStatement(query, known === this.#reads);
      const statement = this.convertErrors(() => this.database.prepare(query));
      statement.setReturnArrays(true);
      prepared = { statement, columns: statement.columns().map((column) => column.name), bindings: countBindings(query) };
      if (known.size >= STATEMENTS_MAX) known.clear();
      known.set(query, prepared);
    }
    checkBindings(prepared.bindings, bindings);
    return prepared;
  }
}

export function openDatabase(path: string, synchronous: Synchronous): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { enableForeignKeyConstraints: true });
    const sync = `synchronous = ${synchronous}`;
    for (const pragma of ["journal_mode = WAL", sync, "fullfsync = 1", "temp_store = MEMORY", ...diskLimitPragmas()])
      database.exec(`PRAGMA ${pragma}`);
    if (path !== ":memory:") checkSqlite(database, synchronous);
    return database;
  } catch (error) {
    database?.close();
    throw isDiskFullError(error) ? new StorageError(true, error) : error;
  }
}

/** Refuses a SQLite that is known to lose or truncate data. It checks the loaded library, not Node's version. */
function checkSqlite(database: DatabaseSync, synchronous: Synchronous): void {
  const version = String(database.prepare("SELECT sqlite_version() AS v").get()?.v);
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  const number = major * 1_000_000 + minor * 1000 + patch;
  const hasBackport = (number >= 3_050_007 && number < 3_051_000) || (number >= 3_044_006 && number < 3_045_000);
  if (number < 3_051_003 && !hasBackport)
    throw new Error(`SQLite ${version} can corrupt a database in WAL mode: use a Node with SQLite 3.51.3 or newer`);
  const text = "a\0b";
  if (database.prepare("SELECT ? AS t").get(text)?.t !== text)
    throw new Error("This Node cuts text at a NUL when it reads from SQLite: use Node 24.16 or newer");
  const pragma = (name: string) => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
  if (pragma("journal_mode") !== "wal" || pragma("synchronous") !== (synchronous === "full" ? 2 : 1))
    throw new Error("The data directory does not support SQLite's write-ahead log: put it on a local disk");
}

function isDiskFullError(error: unknown): boolean {
  const code = errcode(error) ?? 0;
  return (code & 0xff) === SQLITE_FULL || code === SQLITE_IOERR_SHMSIZE;
}

function toRow(columns: readonly string[], values: readonly SqlValue[]): SqlRow {
  const row: SqlRow = {};
  for (let at = 0; at < columns.length; at++) row[columns[at]!] = values[at]!;
  return row;
}

function checkStatement(query: string, isRead: boolean): void {
  const bare = query.replace(/'(?:[^']|'')*'/g, "''").trim();
  if (bare.length > SQL_STATEMENT_BYTES_MAX) throw new Error("SQL: the statement is too long");
  if (/;\s*\S/.test(bare)) throw new Error("SQL: one statement at a time");
  if (/^(?:BEGIN|COMMIT|END|ROLLBACK|SAVEPOINT|RELEASE|PRAGMA|ATTACH|DETACH|VACUUM)\b/i.test(bare))
    throw new Error("SQL: transactions and pragmas belong to the port");
  // Only a commit would check it, after the write was promised.
  if (/\bDEFERRABLE\b/i.test(bare)) throw new Error("SQL: constraints are checked by the statement");
  if (isRead !== /^(?:SELECT|WITH)\b/i.test(bare))
    throw new Error(`SQL: ${isRead ? "all and get are for SELECT" : "run is not for SELECT"}`);
}

function countBindings(query: string): number {
  const marks = query.replace(/'(?:[^']|'')*'/g, "").match(/\?\d*/g) ?? [];
  return marks.reduce((most, mark, at) => Math.max(most, mark === "?" ? at + 1 : Number(mark.slice(1))), 0);
}

function checkBindings(wanted: number, bindings: readonly SqlValue[]): void {
  if (bindings.length !== wanted || wanted > SQL_BINDINGS_MAX)
    throw new Error(`SQL: ${bindings.length} bindings for ${wanted} places (at most ${SQL_BINDINGS_MAX})`);
  for (const value of bindings) {
    if (typeof value === "number") {
      if (Number.isInteger(value) && !Number.isSafeInteger(value)) throw new Error("SQL: an integer above 2^53");
    } else if (typeof value === "string") {
      if (value.length > SQL_VALUE_BYTES_MAX / 3 && Buffer.byteLength(value) > SQL_VALUE_BYTES_MAX)
        throw new Error("SQL: a value over 2 MB");
    } else if (value instanceof Uint8Array) {
      if (value.length > SQL_VALUE_BYTES_MAX) throw new Error("SQL: a value over 2 MB");
    } else if (value !== null) {
      throw new Error(`SQL: cannot bind a ${typeof value}`);
    }
  }
}

/** SQLite's own error code. */
export function errcode(error: unknown): number | undefined {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number" ? error.errcode : undefined;
}
