// Tokens that end when nobody uses them, and the model failures that sys.doctor tells of.

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

export const tokenUse = {
  version: 10,
  statements: [
    // 1: ends after a year without use. 0: only expires_at, if anything, ends it.
    "ALTER TABLE auth_tokens ADD COLUMN ends_unused INTEGER NOT NULL DEFAULT 0",
    // Of a token that nobody has used yet: when it ends.
    "ALTER TABLE auth_tokens ADD COLUMN first_use_by INTEGER",
    // Nobody chose the year that tokens of machines and services had. One that is over stays over.
    `UPDATE auth_tokens SET expires_at = NULL, ends_unused = 1
       WHERE kind IN ('node', 'service') AND expires_at = created_at + ${YEAR_MS} AND expires_at > unixepoch() * 1000`,
    "CREATE TABLE model_failures (uid INTEGER PRIMARY KEY, error TEXT NOT NULL, count INTEGER NOT NULL, at INTEGER NOT NULL) STRICT",
  ],
} as const;
