// How much each user stores. The sizes of repositories are in their own databases, and are recorded when each is next asked.

export const usage = {
  version: 13,
  statements: [
    `CREATE TABLE usage (
       uid INTEGER PRIMARY KEY, file_bytes INTEGER NOT NULL, part_bytes INTEGER NOT NULL, repo_bytes INTEGER NOT NULL) STRICT`,
    "INSERT INTO usage SELECT uid, sum(size + 512), 0, 0 FROM files GROUP BY uid",
    // Uploads that are running or were interrupted.
    "CREATE TABLE upload_parts (part TEXT PRIMARY KEY, uid INTEGER NOT NULL, bytes INTEGER NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    // NULL until the repository has been asked.
    "ALTER TABLE repositories ADD COLUMN bytes INTEGER",
  ],
} as const;
