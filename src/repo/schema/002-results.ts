// Results of writes that carried an idempotency key, stored in the transaction of the write itself.

export const results = {
  version: 2,
  statements: [
    `CREATE TABLE results (
       key TEXT PRIMARY KEY, request TEXT NOT NULL, result TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    "CREATE INDEX results_age ON results (created_at)",
  ],
} as const;
