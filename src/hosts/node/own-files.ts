// Opens and replaces files of our own where somebody else may have put something in their place: a link, a second name of
// another file, a pipe, a directory. None of those is followed, waited for or written to. Used by the gateway, the device
// daemon and the CLI, and loads nothing that any of them has no use for.

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
/** Windows has neither, which is why what was opened is also compared with what was looked at. Opening a pipe never waits. */
const GUARDED = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const TRIES = 10;

export type Identity = Pick<BigIntStats, "dev" | "ino">;

export function isSame(one: Identity, other: Identity): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

/** A plain file under this one name that belongs to this user. */
export function isOwn(found: BigIntStats): boolean {
  return found.isFile() && found.nlink === 1n && isOurs(found);
}

/** One that nobody else may read or write either. */
export function isPrivate(found: BigIntStats): boolean {
  return isOurs(found) && (process.platform === "win32" || (found.mode & 0o077n) === 0n);
}

export function isOurs({ uid }: BigIntStats): boolean {
  const own = process.getuid?.();
  return own === undefined || uid === BigInt(own);
}

/** Whether what has this name now is what was opened under it. */
export async function isStill(file: string, opened: Identity): Promise<boolean> {
  const found = await lstat(file, { bigint: true }).catch(() => null);
  return found !== null && isSame(found, opened);
}

/** For reading and writing; fails where anything has that name, even a link that leads nowhere. */
export function openNew(file: string): Promise<FileHandle> {
  return open(file, O_RDWR | O_CREAT | O_EXCL | GUARDED, 0o600);
}

/** The same of a file that is there; null where it is not a private one of our own. */
export async function openPrivate(file: string): Promise<FileHandle | null> {
  const seen = await lstat(file, { bigint: true }).catch(() => null);
  if (seen === null || !isOwn(seen) || !isPrivate(seen)) return null;
  const handle = await open(file, O_RDWR | GUARDED).catch(() => null);
  const opened = await handle?.stat({ bigint: true });
  if (handle === null || opened === undefined) return null;
  if (isSame(opened, seen) && isOwn(opened) && isPrivate(opened)) return handle;
  await handle.close();
  return null;
}

/** At the end of a file of our own, which is made where there is none; `isTaken` says what else may be there. */
export function openToAppend(file: string, isTaken: (found: BigIntStats) => boolean = isOwn): number {
  for (let tries = 1; ; tries++) {
    try {
      return openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | GUARDED, 0o600);
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error;
    }
    try {
      return openSeen(file, O_WRONLY | O_APPEND, isTaken);
    } catch (error) {
      // Another program has just put it aside.
      if (!hasCode(error, "ENOENT") || tries === TRIES) throw error;
    }
  }
}

export function openToRead(file: string): number {
  return openSeen(file, O_RDONLY, isOwn);
}

/** Null where there is none. */
export function readOwn(file: string): string | null {
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

/** Whole and in one step, with that mode from the first byte on. A link with the file's name is replaced, not followed. */
export function replaceFile(file: string, content: string | Uint8Array, { mode = 0o600, isSynced = false } = {}): void {
  const fresh = `${file}.${process.pid}.new`;
  // Left by a program that was killed and had the same number.
  rmSync(fresh, { force: true });
  const handle = openSync(fresh, O_RDWR | O_CREAT | O_EXCL | GUARDED, 0o600);
  try {
    writeFileSync(handle, content);
    fchmodSync(handle, mode);
    if (isSynced) fsyncSync(handle);
    renameSync(fresh, file);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  } finally {
    closeSync(handle);
  }
}

function openSeen(file: string, flags: number, isTaken: (found: BigIntStats) => boolean): number {
  const seen = lstatSync(file, { bigint: true });
  if (!isTaken(seen)) throw notOwn(file);
  const handle = openSync(file, flags | GUARDED);
  const opened = fstatSync(handle, { bigint: true });
  if (isSame(opened, seen) && isTaken(opened)) return handle;
  closeSync(handle);
  throw notOwn(file);
}

function notOwn(file: string): Error {
  return new Error(`${file} is a link, has a second name, is not a plain file or belongs to another user. Move it away`);
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
