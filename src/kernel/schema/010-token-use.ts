// Tokens that expire when unused, and the model failures that sys.doctor reports.

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

export const tokenUse = {
  version: 10,
  statements: [
    // 1: the token ends after a year without use. 0: it ends only at expires_at, if that is set.
    "ALTER TABLE auth_tokens ADD COLUMN ends_unused INTEGER NOT NULL DEFAULT 0",
    // When a token that was never used ends.
    "ALTER TABLE auth_tokens ADD COLUMN first_use_by INTEGER",
    // Tokens of machines and services got an expiry of one year that nobody chose. Those that have expired stay expired.
    `UPDATE auth_tokens SET expires_at = NULL, ends_unused = 1
       WHERE kind IN ('node', 'service') AND expires_at = created_at + ${YEAR_MS} AND expires_at > unixepoch() * 1000`,
    "CREATE TABLE model_failures (uid INTEGER PRIMARY KEY, error TEXT NOT NULL, count INTEGER NOT NULL, at INTEGER NOT NULL) STRICT",
  ],
} as const;
