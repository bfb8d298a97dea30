// A SQLite file whose batches a journal makes durable. Its statements run in a transaction that stays open over many batches and is
// committed a second later; each batch is a savepoint in it, so that one that the journal refused can be undone alone. The version
// that is committed with the rows says which entries of the journal they contain.

import { join } from "node:path";
import { type SqlValue, StorageError } from "../../../ports/sql.ts";
import { SqlFile } from "../sql-file.ts";
import type { Journal, JournaledFile } from "./journal.ts";
import type { Entry, Write } from "./record.ts";
import { applyEntries, readVersion, writeVersion } from "./recover.ts";

const CACHE_KB = 2_000;

export class JournaledSql extends SqlFile implements JournaledFile {
  readonly name: string;
  readonly #journal: Journal;
  readonly #fatal: (error: unknown) => void;
  /** What the open batch wrote. */
  #writes: Write[] = [];
  /** How much of that was written before each open savepoint. */
  readonly #writesBefore: number[] = [];
  #version: number;
  #committedVersion: number;
  #uncommitted = 0;
  /** The last commit failed. Nothing more is promised until one succeeds, or the journal would grow without limit. */
  #isBlocked = false;

  /** `name` is the file's path below the data directory `root`; `cacheKb` limits the pages of it that stay in memory. */
  constructor(root: string, name: string, journal: Journal, fatal: (error: unknown) => void, cacheKb = CACHE_KB) {
    journal.finishClosing(name);
    super(join(root, name), "normal", fatal);
    this.name = name;
    this.#journal = journal;
    this.#fatal = fatal;
    // Rows must not reach the file before the journal has them.
    this.database.exec(`PRAGMA cache_spill = OFF; PRAGMA cache_size = -${cacheKb}`);
    try {
      this.#version = this.#committedVersion = this.convertErrors(() => readVersion(this.database));
    } catch (error) {
      this.database.close();
      throw error;
    }
  }

  get entry(): Entry | null {
    return this.#writes.length === 0 ? null : { file: this.name, version: this.#version + 1, writes: this.#writes };
  }

  get failure(): StorageError | null {
    return this.lostBatch;
  }

  get uncommitted(): number {
    return this.#uncommitted;
  }

  override commit(): void {
    this.#journal.flush();
  }

  /** If what is in the journal cannot be committed, the file stays open until it can. */
  override close(): void {
    this.commit();
    if (!this.commitJournaled()) return this.#journal.closeLater(this);
    this.#journal.forget(this);
    this.closeDatabase();
  }

  closeDatabase(): void {
    this.database.close();
  }

  dropBatch(failure: StorageError | null): () => void {
    // A lost batch has no savepoint any more.
    if (this.lostBatch === null) this.database.exec("ROLLBACK TO batch; RELEASE batch");
    this.#writes = [];
    if (this.#uncommitted === 0 && this.database.isTransaction) this.database.exec("ROLLBACK");
    return this.closeBatch(failure);
  }

  startSync(): void {
    this.database.exec("RELEASE batch");
    this.#version++;
    this.#uncommitted += this.#writes.length;
    this.#writes = [];
    this.moveBatchToSync();
  }

  endSync(): () => void {
    return this.finishSync();
  }

  commitJournaled(): boolean {
    if (this.#uncommitted === 0) return true;
    try {
      writeVersion(this.database, this.#version);
      this.database.exec("COMMIT");
    } catch (error) {
      if (this.asStorageError(error) === null) this.#fatal(error);
      if (!this.database.isTransaction) this.#applyAgain();
      this.#isBlocked = true;
      return false;
    }
    this.#committedVersion = this.#version;
    this.#uncommitted = 0;
    this.#isBlocked = false;
    return true;
  }

  protected override beginBatch(): void {
    if (this.#isBlocked) {
      this.#journal.flush();
      if (!this.commitJournaled()) throw new StorageError(true, "the database could not be committed");
    }
    if (!this.database.isTransaction) this.database.exec("BEGIN");
    this.database.exec("SAVEPOINT batch");
    this.#journal.beginBatch(this);
  }

  protected override scheduleEnd(): void {
    this.#journal.scheduleFlush();
  }

  protected override scheduleLazyEnd(): void {
    this.#journal.scheduleCommits();
  }

  protected override onWrite(query: string, bindings: readonly SqlValue[]): void {
    this.#writes.push([query, bindings]);
  }

  protected override onSavepoint(verb: "SAVEPOINT" | "ROLLBACK TO", depth: number): void {
    if (verb === "SAVEPOINT") this.#writesBefore[depth] = this.#writes.length;
    else this.#writes.length = this.#writesBefore[depth]!;
  }

  /** The rows of earlier batches went with the transaction. They are read in this turn as in any other. */
  protected override onLostTransaction(): void {
    this.#writes = [];
    this.#applyAgain();
    this.#journal.scheduleFlush();
  }

  #applyAgain(): void {
    if (this.#uncommitted === 0) return;
    try {
      this.database.exec("BEGIN");
      applyEntries(this.database, this.#journal.readEntries(this.name, this.#committedVersion));
    } catch (error) {
      this.#fatal(error);
    }
  }
}
