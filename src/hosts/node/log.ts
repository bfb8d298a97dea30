// The Log port: pino's JSON lines into a private file that is rotated, or to standard output.

import pino from "pino";
import { type Log, type LogFields, SECRET_FIELDS } from "../../ports/log.ts";
import { LogFile } from "./log-file.ts";

/** Each line has reached the operating system when the call returns, so there is nothing to flush. */
export function makeNodeLog(file: string | null, level: string): Log {
  const logger = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, redact: { paths: SECRET_FIELDS, censor: "[redacted]" } },
    // On a full disk, pino's own synchronous destination ends the process or blocks forever.
    new LogFile(file, formatLostLinesWarning),
  );
  const line = (method: "debug" | "info" | "warn" | "error") => (message: string, fields?: LogFields) =>
    logger[method](fields ?? {}, message);
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
}

function formatLostLinesWarning(lost: number): string {
  return `${JSON.stringify({ level: pino.levels.values.warn, time: new Date().toISOString(), lost, msg: "log lines were lost: the log could not be written" })}\n`;
}
