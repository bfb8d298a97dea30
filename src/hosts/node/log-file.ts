// Writes log lines to a private file that is rotated, or to standard output. The gateway's log and the device daemon's use it, so
// it imports nothing that a device has no use for.

import { type BigIntStats, closeSync, existsSync, fstatSync, lstatSync, readSync, renameSync, writeSync } from "node:fs";
import { isOwnedByUs, isOwnPlainFile, openToAppend, openToRead } from "../shared/own-files.ts";

export type LogLimits = {
  /** A file of this size is rotated before the next line. */
  bytesMax: number;
  /** How many rotated files are kept: FILE.1, the newest, to FILE.n. */
  filesMax: number;
};

export const LOG_LIMITS: LogLimits = { bytesMax: 10 * 1024 * 1024, filesMax: 5 };
const STDOUT = 1;
const NEWLINE = 10;

/**
 * Writes are synchronous: lines are few, and an asynchronous file would lose the last ones, which say why a program stopped. Each
 * line has reached the operating system when the call returns. On a full disk only log lines are lost, and before the next
 * successful line comes one that says how many.
 */
export class LogFile {
  readonly #file: string | null;
  readonly #limits: LogLimits;
  readonly #lostLine: (lost: number) => string;
  #fd = STDOUT;
  #lostCount = 0;
  /** The last line was written only in part, perhaps by a program that was killed. */
  #isTorn = false;

  constructor(file: string | null, lostLine: (lost: number) => string, limits: LogLimits = LOG_LIMITS) {
    this.#file = file;
    this.#limits = limits;
    this.#lostLine = lostLine;
    if (file !== null) this.#open(file);
  }

  write(line: string): void {
    if (this.#file !== null) attempt(() => this.#rotateIfFull(this.#file!));
    if (this.#lostCount > 0 && this.#tryWrite(this.#lostLine(this.#lostCount))) this.#lostCount = 0;
    if (!this.#tryWrite(line)) this.#lostCount++;
  }

  #tryWrite(line: string): boolean {
    const bytes = Buffer.from(this.#isTorn ? `\n${line}` : line);
    return attempt(() => {
      this.#isTorn = writeSync(this.#fd, bytes) < bytes.length;
      return !this.#isTorn;
    });
  }

  #open(file: string): void {
    this.#fd = openToAppend(file, isLogTarget);
    this.#isTorn = endsMidLine(file, this.#fd);
  }

  #rotateIfFull(file: string): void {
    const { size, ino, nlink } = fstatSync(this.#fd);
    if (size < this.#limits.bytesMax && nlink > 0) return;
    // Another program that writes to the same file may have rotated it already, or it was removed.
    if (lstatSync(file, { throwIfNoEntry: false })?.ino === ino) rotate(file, this.#limits.filesMax);
    const before = this.#fd;
    this.#open(file);
    closeSync(before);
  }
}

/** Plain files of our own, and pipes and devices that only this user or the system could have put there. */
function isLogTarget(found: BigIntStats): boolean {
  const isSpecial = found.isFIFO() || found.isCharacterDevice();
  return isOwnPlainFile(found) || (isSpecial && (isOwnedByUs(found) || found.uid === 0n));
}

function rotate(file: string, filesMax: number): void {
  for (let at = filesMax - 1; at >= 1; at--) if (existsSync(`${file}.${at}`)) renameSync(`${file}.${at}`, `${file}.${at + 1}`);
  renameSync(file, `${file}.1`);
}

/** Whether the file ends in the middle of a line. Only for plain files: others have no end. */
function endsMidLine(file: string, fd: number): boolean {
  const stats = fstatSync(fd);
  if (!stats.isFile() || stats.size === 0) return false;
  const last = new Uint8Array(1);
  const handle = openToRead(file);
  readSync(handle, last, 0, 1, stats.size - 1);
  closeSync(handle);
  return last[0] !== NEWLINE;
}

/** False if the log cannot do it now: there is nowhere to report that. */
function attempt(action: () => boolean | void): boolean {
  try {
    return action() !== false;
  } catch {
    return false;
  }
}
