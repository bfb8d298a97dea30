// How much each user stores. What repositories hold their own databases know: it is told when each is next asked.

export const usage = {
  version: 13,
  statements: [
    `CREATE TABLE usage (
       uid INTEGER PRIMARY KEY, file_bytes INTEGER NOT NULL, part_bytes INTEGER NOT NULL, repo_bytes INTEGER NOT NULL) STRICT`,
    "INSERT INTO usage SELECT uid, sum(size + 512), 0, 0 FROM files GROUP BY uid",
    // Uploads that are under way or were interrupted.
    "CREATE TABLE upload_parts (part TEXT PRIMARY KEY, uid INTEGER NOT NULL, bytes INTEGER NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    // NULL: it was not asked yet.
    "ALTER TABLE repositories ADD COLUMN bytes INTEGER",
  ],
} as const;
