// The Sql port over node:sqlite, and the output gate. Writes of one turn of the event loop share one transaction,
// which is committed at the end of the turn with a sync of the disk; while it is open, nothing leaves (`holds`).
// Rows of the relaxed lane wait in an open transaction for the next such commit, or for a lazy one, and hold nothing.
//
// One connection per file. The rules of Durable Objects' SQL are enforced here, so that code which runs on Node runs
// there too.

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
import { commitFault, crashPoint, smallDisk } from "./faults.ts";

const LAZY_COMMIT_MS = 250;
const STATEMENTS_MAX = 500;

const SQLITE_FULL = 13;
const SQLITE_IOERR = 10;
/** No room for the memory in which readers and writers of the log meet. No data is written there. */
const SQLITE_IOERR_SHMSIZE = SQLITE_IOERR | (19 << 8);

type Prepared = { statement: StatementSync; columns: string[]; bindings: number };

/** What happens to those who wait for a batch. */
export type BatchEnd = (failure: StorageError | null) => void;

export class NodeSql implements Sql {
  readonly #database: DatabaseSync;
  readonly #fatal: (error: unknown) => void;
  readonly #soon: (commit: () => void) => void;
  readonly #reads = new Map<string, Prepared>();
  readonly #writes = new Map<string, Prepared>();
  #batch: "none" | "relaxed" | "open" = "none";
  #lazy: NodeJS.Timeout | undefined;
  #inRelaxed = false;
  /** Savepoints asked for, and those really begun: one begins only when something is written inside it. */
  #depth = 0;
  #begun = 0;
  #waiting: BatchEnd[] = [];
  #failed: () => void = () => {};
  /** Set while a batch is open that SQLite has given up. */
  #lost: StorageError | null = null;

  /** `fatal` is told of errors after which the file must not be trusted without a restart. `soon` calls back at the end of the turn. */
  constructor(path: string, fatal: (error: unknown) => void, soon: (commit: () => void) => void = setImmediate) {
    this.#fatal = fatal;
    this.#soon = soon;
    this.#database = opened(path);
  }

  /** Whether frames must wait for the batch that is open. */
  get holds(): boolean {
    return this.#batch === "open";
  }

  all(query: string, ...bindings: SqlValue[]): SqlRow[] {
    const { statement, columns } = this.#read(query, bindings);
    const rows = this.#looking(() => statement.all(...bindings) as unknown as SqlValue[][]);
    return rows.map((values) => toRow(columns, values));
  }

  get(query: string, ...bindings: SqlValue[]): SqlRow | undefined {
    const { statement, columns } = this.#read(query, bindings);
    const values = this.#looking(() => statement.get(...bindings) as unknown as SqlValue[] | undefined);
    return values && toRow(columns, values);
  }

  run(query: string, ...bindings: SqlValue[]): number {
    const { statement } = this.#prepare(this.#writes, query, bindings);
    if (this.#lost !== null) throw this.#lost;
    this.#begin();
    try {
      return Number(statement.run(...bindings).changes);
    } catch (error) {
      const failure = this.#asStorageError(error);
      // On a full disk SQLite may give up the whole transaction, and with it what others wrote in this turn.
      if (!this.#database.isTransaction) this.#lost = failure ?? new StorageError(false, error);
      throw failure ?? error;
    }
  }

  transaction<T>(body: () => T): T {
    this.#depth++;
    try {
      const value = body();
      this.#leave("RELEASE");
      return value;
    } catch (error) {
      this.#leave("ROLLBACK TO");
      throw error;
    }
  }

  relaxed<T>(body: () => T): T {
    const outer = this.#inRelaxed;
    this.#inRelaxed = true;
    try {
      return body();
    } finally {
      this.#inRelaxed = outer;
    }
  }

  durable(): Promise<void> {
    if (!this.holds) return Promise.resolve();
    return new Promise((resolve, reject) => this.whenBatchEnds((failure) => (failure === null ? resolve() : reject(failure))));
  }

  /** Only while `holds`. */
  whenBatchEnds(end: BatchEnd): void {
    this.#waiting.push(end);
  }

  /** Told when a batch was lost, after those who waited for it. */
  onFailure(failed: () => void): void {
    this.#failed = failed;
  }

  /** Commits what is open now rather than at the end of the turn. */
  commit(): void {
    if (this.#batch === "none") return;
    clearTimeout(this.#lazy);
    const failure = this.#lost ?? this.#tryCommit();
    this.#lost = null;
    this.#batch = "none";
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const end of waiting) end(failure);
    if (failure !== null) this.#failed();
  }

  close(): void {
    this.commit();
    this.#database.close();
  }

  /** The first look at a file makes the memory that its readers share, and there may be no room for that. */
  #looking<T>(look: () => T): T {
    try {
      return look();
    } catch (error) {
      throw this.#asStorageError(error) ?? error;
    }
  }

  #tryCommit(): StorageError | null {
    try {
      crashPoint("before-commit");
      commitFault(this.#batch === "open");
      this.#database.exec("COMMIT");
      crashPoint("after-commit");
      return null;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      return this.#asStorageError(error) ?? new StorageError(false, error);
    }
  }

  #begin(): void {
    if (this.#batch === "none") {
      this.#database.exec("BEGIN");
      this.#batch = "relaxed";
      if (this.#inRelaxed) this.#lazy = setTimeout(() => this.commit(), LAZY_COMMIT_MS).unref();
    }
    if (this.#batch === "relaxed" && !this.#inRelaxed) {
      this.#batch = "open";
      clearTimeout(this.#lazy);
      this.#soon(() => this.commit());
    }
    while (this.#begun < this.#depth) {
      this.#begun++;
      this.#savepoint("SAVEPOINT");
    }
  }

  #leave(how: "RELEASE" | "ROLLBACK TO"): void {
    if (this.#begun === this.#depth) {
      if (this.#lost === null && how === "ROLLBACK TO") this.#savepoint(how);
      if (this.#lost === null) this.#savepoint("RELEASE");
      this.#begun--;
    }
    this.#depth--;
  }

  #savepoint(verb: "SAVEPOINT" | "RELEASE" | "ROLLBACK TO"): void {
    const query = `${verb} s${this.#begun}`;
    let prepared = this.#writes.get(query);
    if (prepared === undefined) {
      prepared = { statement: this.#database.prepare(query), columns: [], bindings: 0 };
      this.#writes.set(query, prepared);
    }
    prepared.statement.run();
  }

  #read(query: string, bindings: readonly SqlValue[]): Prepared {
    return this.#prepare(this.#reads, query, bindings);
  }

  #prepare(known: Map<string, Prepared>, query: string, bindings: readonly SqlValue[]): Prepared {
    let prepared = known.get(query);
    if (prepared === undefined) {
      checkStatement(query, known === this.#reads);
      const statement = this.#looking(() => this.#database.prepare(query));
      statement.setReturnArrays(true);
      prepared = { statement, columns: statement.columns().map((column) => column.name), bindings: countBindings(query) };
      if (known.size >= STATEMENTS_MAX) known.clear();
      known.set(query, prepared);
    }
    checkBindings(prepared.bindings, bindings);
    return prepared;
  }

  #asStorageError(error: unknown): StorageError | null {
    if (isFull(error)) return new StorageError(true, error);
    if (((errcode(error) ?? 0) & 0xff) !== SQLITE_IOERR) return null;
    // After a failed sync nobody knows what is on disk: going on would be guessing.
    this.#fatal(error);
    return new StorageError(false, error);
  }
}

function opened(path: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { enableForeignKeyConstraints: true });
    for (const pragma of ["journal_mode = WAL", "synchronous = FULL", "fullfsync = 1", "temp_store = MEMORY", ...smallDisk()])
      database.exec(`PRAGMA ${pragma}`);
    if (path !== ":memory:") probe(database);
    return database;
  } catch (error) {
    database?.close();
    throw isFull(error) ? new StorageError(true, error) : error;
  }
}

/** Refuses a SQLite that is known to lose or cut data. Judged by the library that is loaded, not by Node's version. */
function probe(database: DatabaseSync): void {
  const version = String(database.prepare("SELECT sqlite_version() AS v").get()?.v);
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  const number = major * 1_000_000 + minor * 1000 + patch;
  const hasBackport = (number >= 3_050_007 && number < 3_051_000) || (number >= 3_044_006 && number < 3_045_000);
  if (number < 3_051_003 && !hasBackport)
    throw new Error(`SQLite ${version} can corrupt a database in WAL mode: use a Node that brings 3.51.3 or newer`);
  const text = "a\0b";
  if (database.prepare("SELECT ? AS t").get(text)?.t !== text)
    throw new Error("This Node cuts text at a NUL when it reads from SQLite: use Node 24.16 or newer");
  const pragma = (name: string) => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
  if (pragma("journal_mode") !== "wal" || pragma("synchronous") !== 2)
    throw new Error("The data directory does not support SQLite's write-ahead log: put it on a local disk");
}

function isFull(error: unknown): boolean {
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

/** SQLite's own number for what went wrong. */
export function errcode(error: unknown): number | undefined {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number" ? error.errcode : undefined;
}
