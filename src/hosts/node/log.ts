// The Log port: pino's JSON lines into a private file that is rotated, or to standard output.

import { closeSync, existsSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import pino from "pino";
import { type Log, type LogFields, SECRET_FIELDS } from "../../ports/log.ts";

const BYTES_MAX = 10 * 1024 * 1024;
const FILES_MAX = 5;
const ROTATE_EVERY_MS = 10_000;
const STDOUT = 1;

/** Each line is with the system when the call that made it returns: there is nothing to flush. */
export function nodeLog(file: string | null, level: string): Log {
  const destination = new Destination(file);
  const logger = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, redact: { paths: SECRET_FIELDS, censor: "[redacted]" } },
    destination,
  );
  if (file !== null) setInterval(() => attempt(() => rotate(file, () => destination.reopen())), ROTATE_EVERY_MS).unref();
  const line = (how: "debug" | "info" | "warn" | "error") => (message: string, fields?: LogFields) => logger[how](fields ?? {}, message);
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
}

/**
 * Lines are few, and an asynchronous destination loses the last ones, which tell why a gateway stopped. Pino's own
 * synchronous one ends the process where the disk is full, or waits for ever: here lines are lost and nothing else, and
 * the first one that is taken again says how many.
 */
class Destination {
  readonly #file: string | null;
  #fd: number;
  #lost = 0;
  /** Only a part of the last line was taken. */
  #isTorn = false;

  constructor(file: string | null) {
    this.#file = file;
    this.#fd = file === null ? STDOUT : open(file);
  }

  write(line: string): void {
    if (this.#lost > 0 && this.#put(lostLine(this.#lost))) this.#lost = 0;
    if (!this.#put(line)) this.#lost++;
  }

  reopen(): void {
    if (this.#file === null) return;
    const before = this.#fd;
    this.#fd = open(this.#file);
    this.#isTorn = false;
    closeSync(before);
  }

  #put(line: string): boolean {
    const bytes = Buffer.from(this.#isTorn ? `\n${line}` : line);
    return attempt(() => {
      this.#isTorn = writeSync(this.#fd, bytes) < bytes.length;
      return !this.#isTorn;
    });
  }
}

function open(file: string): number {
  return openSync(file, "a", 0o600);
}

function lostLine(lost: number): string {
  return `${JSON.stringify({ level: pino.levels.values.warn, time: new Date().toISOString(), lost, msg: "lines were lost: the log took none" })}\n`;
}

/** False for what the log cannot do now: there is nowhere to say so. */
function attempt(action: () => boolean | void): boolean {
  try {
    return action() !== false;
  } catch {
    return false;
  }
}

function rotate(file: string, reopen: () => void): void {
  if (!existsSync(file) || statSync(file).size < BYTES_MAX) return;
  for (let at = FILES_MAX - 1; at >= 1; at--) if (existsSync(`${file}.${at}`)) renameSync(`${file}.${at}`, `${file}.${at + 1}`);
  renameSync(file, `${file}.1`);
  reopen();
}
