// The data directory: private, locked by one gateway at a time, with the key for secrets at rest.

import { closeSync, existsSync, fchmodSync, fstatSync, mkdirSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { syncFolder } from "./folders.ts";
import { mustBeForUs } from "./home-check.ts";
import { isOurs, replaceFile } from "./own-files.ts";
import { readRunning, type Running, runningFile } from "./running.ts";
import { errcode } from "./sql.ts";

const SQLITE_BUSY = 5;
const WATCH_EVERY_MS = 2_000;

/** Something the operator must put right; shown as one line without a stack. */
export class OperatorError extends Error {}

export class Home {
  readonly path: string;
  readonly #lock: DatabaseSync;

  constructor(path: string) {
    this.path = path;
    try {
      makeFolder(path);
      mustBeForUs(path);
      makePrivate(path);
    } catch (error) {
      throw new OperatorError(`Cannot use the data directory ${path}: ${(error as Error).message}`);
    }
    this.#lock = this.#takeLock();
  }

  get database(): string {
    return join(this.path, "kernel.db");
  }

  get blobs(): string {
    return join(this.path, "blobs");
  }

  get repos(): string {
    return join(this.path, "repos");
  }

  get processes(): string {
    return join(this.path, "processes");
  }

  get logFile(): string {
    const folder = join(this.path, "log");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return join(folder, "gateway.log");
  }

  /** Made once; without it sealed values cannot be read again, so it belongs into every backup. */
  secretKey(): Uint8Array {
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
   * Tells when the database is no longer the file that was opened: SQLite would go on writing to one that nobody can find
   * again, and everything it said yes to would be gone at the next start. Returns the way to stop looking.
   */
  watch(gone: () => void): () => void {
    const opened = identity(this.database);
    const isGone = () => {
      try {
        return identity(this.database) !== opened;
      } catch {
        // It cannot be looked at, which says nothing about whether it is there.
        return false;
      }
    };
    const watching = setInterval(() => isGone() && gone(), WATCH_EVERY_MS).unref();
    return () => clearInterval(watching);
  }

  /** Tells other commands on this machine where the gateway is. */
  announce(running: Running): void {
    replaceFile(runningFile(this.path), `${JSON.stringify(running)}\n`);
  }

  release(): void {
    rmSync(runningFile(this.path), { force: true });
    this.#lock.close();
  }

  /** A file lock that the system lets go of when the process dies, however it dies. */
  #takeLock(): DatabaseSync {
    const file = join(this.path, "gateway.lock");
    const lock = new DatabaseSync(file);
    try {
      lock.exec("PRAGMA journal_mode = MEMORY; PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
      return lock;
    } catch (error) {
      lock.close();
      if (errcode(error) !== SQLITE_BUSY) throw new OperatorError(`Cannot lock ${file}: ${(error as Error).message}`);
      const other = readRunning(this.path);
      throw new OperatorError(
        `Another gateway uses ${this.path}${other ? ` (process ${other.pid}, ${other.url})` : ""}: stop it first, or choose another directory with --home`,
      );
    }
  }
}

/** By what was opened, so that it is the directory that was looked at. */
function makePrivate(path: string): void {
  const handle = openSync(path, "r");
  try {
    const found = fstatSync(handle, { bigint: true });
    if (isOurs(found) && (found.mode & 0o777n) !== 0o700n) fchmodSync(handle, 0o700);
  } finally {
    closeSync(handle);
  }
}

/** With its parents, one by one: Node's own recursive way never returns where a file system makes no folders, as /proc. */
function makeFolder(path: string): void {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there?.isDirectory()) return;
  if (there !== undefined) throw new Error(`${path} is not a directory`);
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another gateway that starts at the same time has made it.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** What a file is called however it is named; null where there is none. */
function identity(file: string): string | null {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? null : `${stats.dev}:${stats.ino}`;
}
