// The Log port: pino's JSON lines into a private file that is rotated, or to standard output.

import pino from "pino";
import { type Log, type LogFields, SECRET_FIELDS } from "../../ports/log.ts";
import { LogFile } from "./log-file.ts";

/** Each line is with the system when the call that made it returns: there is nothing to flush. */
export function nodeLog(file: string | null, level: string): Log {
  const logger = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, redact: { paths: SECRET_FIELDS, censor: "[redacted]" } },
    // Pino's own synchronous destination ends the process where the disk is full, or waits for ever.
    new LogFile(file, lostLine),
  );
  const line = (how: "debug" | "info" | "warn" | "error") => (message: string, fields?: LogFields) => logger[how](fields ?? {}, message);
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
}

function lostLine(lost: number): string {
  return `${JSON.stringify({ level: pino.levels.values.warn, time: new Date().toISOString(), lost, msg: "lines were lost: the log took none" })}\n`;
}
