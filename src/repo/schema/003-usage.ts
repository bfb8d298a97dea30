// How many bytes a repository stores, including objects in quarantine.

export const usage = {
  version: 3,
  statements: [
    "CREATE TABLE usage (only INTEGER PRIMARY KEY CHECK (only = 1), bytes INTEGER NOT NULL) STRICT",
    "INSERT INTO usage SELECT 1, coalesce(sum(length(bytes) + 512), 0) FROM chunks",
  ],
} as const;
