// What a stopped run leaves behind: background commands of its process, and calls to cancel when their device reconnects.

export const stops = {
  version: 9,
  statements: [
    // `awaited`: the run has done nothing else since it learned that the command is still running.
    `CREATE TABLE process_sessions (
       session_id TEXT PRIMARY KEY, pid TEXT NOT NULL, uid INTEGER NOT NULL, target TEXT NOT NULL, command TEXT NOT NULL, run_id TEXT NOT NULL,
       conversation_id TEXT NOT NULL, awaited INTEGER NOT NULL, started_at INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    "CREATE INDEX process_sessions_of ON process_sessions (pid, started_at)",
    `CREATE TABLE cancellations (
       device_id TEXT NOT NULL, key TEXT NOT NULL, created_at INTEGER NOT NULL, PRIMARY KEY (device_id, key)) STRICT, WITHOUT ROWID`,
  ],
} as const;
