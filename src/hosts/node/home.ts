// The data directory: private, locked by one gateway at a time, with the key for secrets at rest.

import { closeSync, existsSync, fchmodSync, fstatSync, mkdirSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { syncFolder } from "./folders.ts";
import { checkDataDirectory } from "./home-check.ts";
import { isOwnedByUs, replaceFile } from "../shared/own-files.ts";
import { readRunningGateway, type RunningGateway, runningFile } from "./running.ts";
import { journalFolder } from "./journal/segment.ts";
import { errcode } from "./sql-file.ts";

const SQLITE_BUSY = 5;
const WATCH_EVERY_MS = 2_000;

/** A problem the operator must fix; shown as one line without a stack. */
export class OperatorError extends Error {}

export class Home {
  readonly path: string;
  readonly #lock: DatabaseSync;

  constructor(path: string) {
    this.path = path;
    try {
      makeFolder(path);
      checkDataDirectory(path);
      makePrivate(path);
    } catch (error) {
      throw new OperatorError(`Cannot use the data directory ${path}: ${(error as Error).message}`);
    }
    this.#lock = this.#takeLock();
  }

  get databaseFile(): string {
    return join(this.path, "kernel.db");
  }

  get blobsFolder(): string {
    return join(this.path, "blobs");
  }

  get reposFolder(): string {
    return join(this.path, "repos");
  }

  get logFile(): string {
    const folder = join(this.path, "log");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return join(folder, "gateway.log");
  }

  /** Made once. Sealed values cannot be read without it, so it belongs in every backup. */
  readOrMakeSecretKey(): Uint8Array {
    const file = join(this.path, "secret.key");
    if (!existsSync(file)) {
      replaceFile(file, randomBytes(32), { isSynced: true });
      syncFolder(this.path);
    }
    const key = readFileSync(file);
    if (key.length !== 32) throw new OperatorError(`${file} is damaged: restore it from a backup`);
    return new Uint8Array(key);
  }

  /**
   * Calls `onGone` when the path no longer leads to the database file that was opened, or when the journal is gone. The gateway would
   * keep writing to the unlinked file, and every acknowledged change would be gone at the next start. Returns a function that stops
   * the check.
   */
  watchFiles(journal: { isInPlace: boolean }, onGone: (path: string) => void): () => void {
    const opened = fileId(this.databaseFile);
    const isGone = () => {
      try {
        return fileId(this.databaseFile) !== opened;
      } catch {
        // A failed stat does not prove that the file is gone.
        return false;
      }
    };
    const check = () => {
      if (isGone()) onGone(this.databaseFile);
      else if (!journal.isInPlace) onGone(journalFolder(this.path));
    };
    const timer = setInterval(check, WATCH_EVERY_MS).unref();
    return () => clearInterval(timer);
  }

  /** Publishes the gateway's address for other commands on this machine. */
  writeRunningFile(running: RunningGateway): void {
    replaceFile(runningFile(this.path), `${JSON.stringify(running)}\n`);
  }

  release(): void {
    rmSync(runningFile(this.path), { force: true });
    this.#lock.close();
  }

  /** A file lock that the system releases when the process dies, however it dies. */
  #takeLock(): DatabaseSync {
    const file = join(this.path, "gateway.lock");
    const lock = new DatabaseSync(file);
    try {
      lock.exec("PRAGMA journal_mode = MEMORY; PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
      return lock;
    } catch (error) {
      lock.close();
      if (errcode(error) !== SQLITE_BUSY) throw new OperatorError(`Cannot lock ${file}: ${(error as Error).message}`);
      const other = readRunningGateway(this.path);
      throw new OperatorError(
        `Another gateway uses ${this.path}${other ? ` (process ${other.pid}, ${other.url})` : ""}: stop it first, or choose another directory with --home`,
      );
    }
  }
}

/** Works on the open handle, so that it changes the directory it checked. */
function makePrivate(path: string): void {
  const handle = openSync(path, "r");
  try {
    const found = fstatSync(handle, { bigint: true });
    if (isOwnedByUs(found) && (found.mode & 0o777n) !== 0o700n) fchmodSync(handle, 0o700);
  } finally {
    closeSync(handle);
  }
}

/** Makes parents one by one: Node's recursive mkdir never returns on file systems that allow no folders, such as /proc. */
function makeFolder(path: string): void {
  const existing = statSync(path, { throwIfNoEntry: false });
  if (existing?.isDirectory()) return;
  if (existing !== undefined) throw new Error(`${path} is not a directory`);
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another gateway that is starting at the same time has made it.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Device and inode, which identify a file under any name; null if there is none. */
function fileId(file: string): string | null {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? null : `${stats.dev}:${stats.ino}`;
}
