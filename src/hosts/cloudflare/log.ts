// The Log port: JSON lines on the console, where the platform collects them.

import type { Log, LogFields } from "../../ports/log.ts";

/** Names whose values never reach a line, should one ever be passed by mistake. The Node host keeps the same list. */
const SECRETS = new Set(["password", "token", "secret", "apiKey", "api_key", "authorization", "cookie", "code"]);

export function cloudflareLog(): Log {
  const line = (level: "debug" | "info" | "warn" | "error") => (message: string, fields?: LogFields) =>
    console[level](JSON.stringify({ level, ...fields, msg: message }, censor));
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
}

function censor(name: string, value: unknown): unknown {
  return SECRETS.has(name) ? "[redacted]" : value;
}
