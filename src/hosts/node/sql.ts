// A SQLite file that makes its own batches durable: each is one transaction, committed with a sync of the disk. For repositories,
// whose threads share nothing with the gateway's.

import { StorageError } from "../../ports/sql.ts";
import { crashAt, failCommitIfDue } from "./faults.ts";
import { SqlFile } from "./sql-file.ts";

const LAZY_COMMIT_MS = 250;

export class NodeSql extends SqlFile {
  #lazyTimer: NodeJS.Timeout | undefined;

  constructor(path: string, fatal: (error: unknown) => void) {
    super(path, "full", fatal);
  }

  override commit(): void {
    if (!this.hasBatch) return;
    clearTimeout(this.#lazyTimer);
    this.closeBatch(this.lostBatch ?? this.#tryCommit())();
  }

  override close(): void {
    this.commit();
    this.database.close();
  }

  protected override beginBatch(): void {
    this.database.exec("BEGIN");
  }

  protected override scheduleEnd(): void {
    clearTimeout(this.#lazyTimer);
    setImmediate(() => this.commit());
  }

  protected override scheduleLazyEnd(): void {
    this.#lazyTimer = setTimeout(() => this.commit(), LAZY_COMMIT_MS).unref();
  }

  #tryCommit(): StorageError | null {
    try {
      crashAt("before-commit");
      failCommitIfDue(this.isHoldingFrames);
      this.database.exec("COMMIT");
      crashAt("after-commit");
      return null;
    } catch (error) {
      if (this.database.isTransaction) this.database.exec("ROLLBACK");
      return this.asStorageError(error) ?? new StorageError(false, error);
    }
  }
}
