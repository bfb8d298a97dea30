// The gateway's file tree: names, owners and modes; small content in its own table, large content in Blobs under its hash.

export const files = {
  version: 2,
  statements: [
    `CREATE TABLE files (
       path TEXT PRIMARY KEY, parent TEXT NOT NULL, kind TEXT NOT NULL, uid INTEGER NOT NULL, gid INTEGER NOT NULL,
       mode INTEGER NOT NULL, size INTEGER NOT NULL, hash TEXT, modified_at INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    "CREATE INDEX files_parent ON files (parent)",
    "CREATE INDEX files_hash ON files (hash) WHERE hash IS NOT NULL",
    // A separate table, so that listing a directory does not read the content of its files.
    "CREATE TABLE file_contents (hash TEXT PRIMARY KEY, content BLOB NOT NULL) STRICT, WITHOUT ROWID",
    `INSERT INTO files VALUES
       ('/', '', 'directory', 0, 0, 493, 0, NULL, 0),
       ('/etc', '/', 'directory', 0, 0, 493, 0, NULL, 0),
       ('/home', '/', 'directory', 0, 0, 493, 0, NULL, 0),
       ('/root', '/', 'directory', 0, 0, 448, 0, NULL, 0),
       ('/tmp', '/', 'directory', 0, 0, 1023, 0, NULL, 0),
       ('/var', '/', 'directory', 0, 0, 493, 0, NULL, 0)`,
    "INSERT INTO files SELECT home, '/home', 'directory', uid, gid, 488, 0, NULL, 0 FROM passwd WHERE uid >= 1000",
  ],
} as const;
