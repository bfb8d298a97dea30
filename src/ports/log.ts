// Log lines and counters for the operator. A line is a message and named fields; secrets are never fields.

export type LogFields = Record<string, string | number | boolean | null | undefined>;

/** Fields that hosts redact, in case one is passed by mistake. */
export const SECRET_FIELDS = ["password", "token", "secret", "apiKey", "api_key", "authorization", "cookie", "code"];

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** Counters for the operator's metrics page. A host without one passes empty functions. */
export interface Meter {
  /** One answered request. */
  countCall(name: string, code: number, ms: number): void;
  /** Something was refused or discarded; `reason` comes from a short fixed list. */
  countDropped(reason: string): void;
}
