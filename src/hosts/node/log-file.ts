// Lines that are kept: in a private file that is rotated, or on standard output. Used by the gateway's log and the device
// daemon's, and loads nothing that a device has no use for.

import { type BigIntStats, closeSync, existsSync, fstatSync, lstatSync, readSync, renameSync, writeSync } from "node:fs";
import { isOurs, isOwn, openToAppend, openToRead } from "./own-files.ts";

export type LogLimits = {
  /** A file that has this much is put aside before the next line. */
  bytesMax: number;
  /** How many of those are kept: FILE.1, the youngest, to FILE.n. */
  filesMax: number;
};

export const LOG_LIMITS: LogLimits = { bytesMax: 10 * 1024 * 1024, filesMax: 5 };
const STDOUT = 1;
const NEWLINE = 10;

/**
 * Lines are few, and an asynchronous file loses the last ones, which tell why a program stopped: each is with the system
 * when the call that wrote it returns. Where the disk is full, lines are lost and nothing else, and the first one that is
 * taken again follows a line that says how many.
 */
export class LogFile {
  readonly #file: string | null;
  readonly #limits: LogLimits;
  readonly #lostLine: (lost: number) => string;
  #fd = STDOUT;
  #lost = 0;
  /** Only a part of the last line was taken, perhaps of a program that was killed. */
  #isTorn = false;

  constructor(file: string | null, lostLine: (lost: number) => string, limits: LogLimits = LOG_LIMITS) {
    this.#file = file;
    this.#limits = limits;
    this.#lostLine = lostLine;
    if (file !== null) this.#open(file);
  }

  write(line: string): void {
    if (this.#file !== null) attempt(() => this.#makeRoom(this.#file!));
    if (this.#lost > 0 && this.#put(this.#lostLine(this.#lost))) this.#lost = 0;
    if (!this.#put(line)) this.#lost++;
  }

  #put(line: string): boolean {
    const bytes = Buffer.from(this.#isTorn ? `\n${line}` : line);
    return attempt(() => {
      this.#isTorn = writeSync(this.#fd, bytes) < bytes.length;
      return !this.#isTorn;
    });
  }

  #open(file: string): void {
    this.#fd = openToAppend(file, isForLines);
    this.#isTorn = endsWithin(file, this.#fd);
  }

  #makeRoom(file: string): void {
    const { size, ino, nlink } = fstatSync(this.#fd);
    if (size < this.#limits.bytesMax && nlink > 0) return;
    // Where another program writes to the same file, it may have put it aside already; or somebody removed it.
    if (lstatSync(file, { throwIfNoEntry: false })?.ino === ino) rotate(file, this.#limits.filesMax);
    const before = this.#fd;
    this.#open(file);
    closeSync(before);
  }
}

/** Besides files, pipes and devices that nobody but this user and the system could have put there. */
function isForLines(found: BigIntStats): boolean {
  const isSpecial = found.isFIFO() || found.isCharacterDevice();
  return isOwn(found) || (isSpecial && (isOurs(found) || found.uid === 0n));
}

function rotate(file: string, filesMax: number): void {
  for (let at = filesMax - 1; at >= 1; at--) if (existsSync(`${file}.${at}`)) renameSync(`${file}.${at}`, `${file}.${at + 1}`);
  renameSync(file, `${file}.1`);
}

/** Whether the file ends in the middle of a line. Asked of plain files only: others have no end. */
function endsWithin(file: string, fd: number): boolean {
  const stats = fstatSync(fd);
  if (!stats.isFile() || stats.size === 0) return false;
  const last = new Uint8Array(1);
  const reading = openToRead(file);
  readSync(reading, last, 0, 1, stats.size - 1);
  closeSync(reading);
  return last[0] !== NEWLINE;
}

/** False for what the log cannot do now: there is nowhere to say so. */
function attempt(action: () => boolean | void): boolean {
  try {
    return action() !== false;
  } catch {
    return false;
  }
}
