// The Log port: pino's JSON lines into a private file that is rotated, or to standard output.

import { existsSync, renameSync, statSync } from "node:fs";
import pino from "pino";
import { type Log, type LogFields, SECRET_FIELDS } from "../../ports/log.ts";

const BYTES_MAX = 10 * 1024 * 1024;
const FILES_MAX = 5;
const ROTATE_EVERY_MS = 10_000;

export type NodeLog = Log & { flush(): void };

export function nodeLog(file: string | null, level: string): NodeLog {
  // Lines are few, and an asynchronous destination loses the last ones, which tell why a gateway stopped.
  const destination = pino.destination({ dest: file ?? 1, sync: true, mode: 0o600 });
  const logger = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, redact: { paths: SECRET_FIELDS, censor: "[redacted]" } },
    destination,
  );
  if (file !== null) setInterval(() => rotate(file, () => destination.reopen()), ROTATE_EVERY_MS).unref();
  const line = (how: "debug" | "info" | "warn" | "error") => (message: string, fields?: LogFields) => logger[how](fields ?? {}, message);
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error"), flush: () => destination.flushSync() };
}

function rotate(file: string, reopen: () => void): void {
  if (!existsSync(file) || statSync(file).size < BYTES_MAX) return;
  for (let at = FILES_MAX - 1; at >= 1; at--) if (existsSync(`${file}.${at}`)) renameSync(`${file}.${at}`, `${file}.${at + 1}`);
  renameSync(file, `${file}.1`);
  reopen();
}
