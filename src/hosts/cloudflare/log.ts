// The Log port: JSON lines on the console, where the platform collects them.

import { type Log, type LogFields, SECRET_FIELDS } from "../../ports/log.ts";

export function makeCloudflareLog(): Log {
  const line = (level: "debug" | "info" | "warn" | "error") => (message: string, fields?: LogFields) =>
    console[level](JSON.stringify({ level, ...fields, msg: message }, censor));
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
}

function censor(name: string, value: unknown): unknown {
  return SECRET_FIELDS.includes(name) ? "[redacted]" : value;
}
