// The file that a journal appends to: written at once, synced in another thread or, if somebody has to wait for it, in this one.

import { closeSync, fdatasync, fdatasyncSync, ftruncateSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { StorageError } from "../../../ports/sql.ts";
import { crashAt } from "../faults.ts";
import { syncFolder } from "../folders.ts";
import { isNoSpace } from "../system-errors.ts";
import { type Entry, HEADER, RecordEncoder } from "./record.ts";

const NAME = /^\d{12}\.log$/;

export class Segment {
  readonly #handle: number;
  /** For `syncNow`: the system reports an error once per handle, and a sync that runs in another thread may get it first. */
  readonly #ownSyncHandle: number;
  readonly #fatal: (error: unknown) => void;
  readonly #encoder = new RecordEncoder();
  readonly path: string;
  readonly number: number;
  /** The files it has entries of. */
  readonly files = new Set<string>();
  #size = 0;
  #runningSyncs = 0;
  #isClosed = false;

  /** `fatal` is called with errors after which the state of the disk is unknown. */
  constructor(folder: string, number: number, fatal: (error: unknown) => void) {
    this.#fatal = fatal;
    this.number = number;
    this.path = join(folder, `${String(number).padStart(12, "0")}.log`);
    this.#handle = openSync(this.path, "wx", 0o600);
    try {
      this.#write(HEADER);
      fdatasyncSync(this.#handle);
      syncFolder(folder);
      this.#ownSyncHandle = openSync(this.path, "r+");
    } catch (error) {
      closeSync(this.#handle);
      rmSync(this.path, { force: true });
      throw error;
    }
  }

  get size(): number {
    return this.#size;
  }

  /** Throws a StorageError if the disk is full; then nothing of it is in the file. */
  append(entries: readonly Entry[]): void {
    const before = this.#size;
    const { bytes, keep } = this.#encoder.encode(entries);
    try {
      crashAt("mid-append", () => this.#write(bytes.subarray(0, bytes.length / 2)));
      this.#write(bytes);
    } catch (error) {
      throw this.#undo(before, error);
    }
    keep();
    for (const { file } of entries) this.files.add(file);
  }

  /** Calls `done` when everything that was appended is on disk. */
  sync(done: () => void): void {
    crashAt("before-sync");
    this.#runningSyncs++;
    fdatasync(this.#handle, (error) => {
      this.#runningSyncs--;
      if (error !== null) return this.#fatal(error);
      if (this.#isClosed && this.#runningSyncs === 0) closeSync(this.#handle);
      done();
    });
  }

  syncNow(): void {
    crashAt("before-sync");
    try {
      fdatasyncSync(this.#ownSyncHandle);
    } catch (error) {
      this.#fatal(error);
      throw new StorageError(false, error);
    }
  }

  read(): Buffer {
    return readFileSync(this.path);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeSync(this.#ownSyncHandle);
    if (this.#runningSyncs === 0) closeSync(this.#handle);
  }

  remove(): void {
    this.close();
    rmSync(this.path, { force: true });
  }

  /** A batch that was refused must not come back at the next start, so the disk has to confirm that it is gone. */
  #undo(size: number, error: unknown): StorageError {
    if (isNoSpace(error)) {
      try {
        ftruncateSync(this.#handle, size);
        fdatasyncSync(this.#handle);
        this.#size = size;
        return new StorageError(true, error);
      } catch (failure) {
        this.#fatal(failure);
        return new StorageError(false, failure);
      }
    }
    this.#fatal(error);
    return new StorageError(false, error);
  }

  #write(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length;) {
      const written = writeSync(this.#handle, bytes, done, bytes.length - done, this.#size);
      done += written;
      this.#size += written;
    }
  }
}

export function journalFolder(root: string): string {
  return join(root, "journal");
}

/** The segments of a folder, oldest first. */
export function listSegments(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => NAME.test(name))
    .toSorted()
    .map((name) => join(folder, name));
}

export function numberOfSegment(path: string): number {
  return Number.parseInt(path.slice(-"000000000000.log".length), 10);
}
