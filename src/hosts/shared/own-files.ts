// Opens and replaces our own files in places where somebody else may have planted a symbolic link, a hard link, a pipe or a
// directory. None of those is followed, waited for or written to. The gateway, the device daemon and the CLI use it, so it
// imports nothing that one of them has no use for.

import {
  type BigIntStats,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";

const { O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_RDWR, O_WRONLY } = constants;
/**
 * Windows has neither flag, so the opened file is also compared with the one that was checked. O_NONBLOCK keeps the open of a
 * pipe from blocking.
 */
const GUARD_FLAGS = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const TRIES = 10;

export type FileId = Pick<BigIntStats, "dev" | "ino">;

export function isSameFile(one: FileId, other: FileId): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

/** A plain file without further hard links that belongs to this user. */
export function isOwnPlainFile(found: BigIntStats): boolean {
  return found.isFile() && found.nlink === 1n && isOwnedByUs(found);
}

/** Ours, and nobody else may read or write it. */
export function isPrivate(found: BigIntStats): boolean {
  return isOwnedByUs(found) && (process.platform === "win32" || (found.mode & 0o077n) === 0n);
}

export function isOwnedByUs({ uid }: BigIntStats): boolean {
  const own = process.getuid?.();
  return own === undefined || uid === BigInt(own);
}

/** Whether this name still leads to the file that was opened. */
export async function isStillSameFile(file: string, opened: FileId): Promise<boolean> {
  const found = await lstat(file, { bigint: true }).catch(() => null);
  return found !== null && isSameFile(found, opened);
}

/** Opens a new file for reading and writing; fails if anything has that name, even a dangling link. */
export function openNew(file: string): Promise<FileHandle> {
  return open(file, O_RDWR | O_CREAT | O_EXCL | GUARD_FLAGS, 0o600);
}

/** Opens an existing file for reading and writing; null if it is not a private file of our own. */
export async function openPrivate(file: string): Promise<FileHandle | null> {
  const seen = await lstat(file, { bigint: true }).catch(() => null);
  if (seen === null || !isOwnPlainFile(seen) || !isPrivate(seen)) return null;
  const handle = await open(file, O_RDWR | GUARD_FLAGS).catch(() => null);
  const opened = await handle?.stat({ bigint: true });
  if (handle === null || opened === undefined) return null;
  if (isSameFile(opened, seen) && isOwnPlainFile(opened) && isPrivate(opened)) return handle;
  await handle.close();
  return null;
}

/** Opens our own file for appending and creates it if there is none; `isAccepted` says what else may have the name. */
export function openToAppend(file: string, isAccepted: (found: BigIntStats) => boolean = isOwnPlainFile): number {
  for (let tries = 1; ; tries++) {
    try {
      return openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | GUARD_FLAGS, 0o600);
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error;
    }
    try {
      return openChecked(file, O_WRONLY | O_APPEND, isAccepted);
    } catch (error) {
      // Another program has just rotated it.
      if (!hasCode(error, "ENOENT") || tries === TRIES) throw error;
    }
  }
}

export function openToRead(file: string): number {
  return openChecked(file, O_RDONLY, isOwnPlainFile);
}

/** Null if there is none. */
export function readOwnFile(file: string): string | null {
  let handle: number;
  try {
    handle = openToRead(file);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
  try {
    return readFileSync(handle, "utf8");
  } finally {
    closeSync(handle);
  }
}

/** Replaces a file atomically, with that mode from the start. A link with the file's name is replaced, not followed. */
export function replaceFile(file: string, content: string | Uint8Array, { mode = 0o600, isSynced = false } = {}): void {
  const temporary = `${file}.${process.pid}.new`;
  // Left by a killed program with the same pid.
  rmSync(temporary, { force: true });
  const handle = openSync(temporary, O_RDWR | O_CREAT | O_EXCL | GUARD_FLAGS, 0o600);
  try {
    writeFileSync(handle, content);
    fchmodSync(handle, mode);
    if (isSynced) fsyncSync(handle);
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(handle);
  }
}

function openChecked(file: string, flags: number, isAccepted: (found: BigIntStats) => boolean): number {
  const seen = lstatSync(file, { bigint: true });
  if (!isAccepted(seen)) throw notOwnError(file);
  const handle = openSync(file, flags | GUARD_FLAGS);
  const opened = fstatSync(handle, { bigint: true });
  if (isSameFile(opened, seen) && isAccepted(opened)) return handle;
  closeSync(handle);
  throw notOwnError(file);
}

function notOwnError(file: string): Error {
  return new Error(`${file} is a link, has a second name, is not a regular file or belongs to another user. Move it away`);
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
