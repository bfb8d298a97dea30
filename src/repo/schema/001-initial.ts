// Objects, refs, the commit index, and the quarantine of packs that are still arriving.

export const initial = {
  version: 1,
  statements: [
    // An object's bytes are `chunks` rows of the table chunks, starting at id `first`; kind is git's own number.
    `CREATE TABLE objects (
       oid TEXT PRIMARY KEY, kind INTEGER NOT NULL, size INTEGER NOT NULL, first INTEGER NOT NULL,
       chunks INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    "CREATE TABLE chunks (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT",
    `CREATE TABLE incoming (
       push INTEGER NOT NULL, oid TEXT NOT NULL, kind INTEGER NOT NULL, size INTEGER NOT NULL, first INTEGER NOT NULL,
       chunks INTEGER NOT NULL, PRIMARY KEY (push, oid)) STRICT, WITHOUT ROWID`,
    "CREATE TABLE refs (name TEXT PRIMARY KEY, oid TEXT NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE head (only INTEGER PRIMARY KEY CHECK (only = 1), ref TEXT NOT NULL) STRICT",
    // depth is the distance from the root along first parents; jump is an ancestor on that line, chosen so that log n jumps
    // reach any of them. generation is larger than that of every parent.
    `CREATE TABLE commits (
       oid TEXT PRIMARY KEY, tree TEXT NOT NULL, parents TEXT NOT NULL, generation INTEGER NOT NULL,
       depth INTEGER NOT NULL, jump TEXT NOT NULL) STRICT, WITHOUT ROWID`,
    "INSERT INTO head VALUES (1, 'refs/heads/main')",
  ],
} as const;
