// A process's own database: what was said, what is to be done, and how far that is. Whatever a run needs to go on after a
// crash is here; memory holds nothing that cannot be lost.

import { migrate as migrateBy, type Migration } from "../ports/migrate.ts";
import type { Sql } from "../ports/sql.ts";

const initial: Migration = {
  version: 1,
  statements: [
    "CREATE TABLE self (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID",
    `CREATE TABLE conversations (
       id TEXT PRIMARY KEY, generation INTEGER NOT NULL, status TEXT NOT NULL, title TEXT, first INTEGER NOT NULL, next INTEGER NOT NULL,
       overflow TEXT NOT NULL, compact_at REAL NOT NULL, keep_last INTEGER NOT NULL, policy_at INTEGER NOT NULL,
       created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    // A message's place in its conversation is a number without gaps, so that any page is found at once.
    `CREATE TABLE messages (
       id INTEGER PRIMARY KEY AUTOINCREMENT, conversation_id TEXT NOT NULL, place INTEGER NOT NULL, run_id TEXT, role TEXT NOT NULL,
       content TEXT NOT NULL, created_at INTEGER NOT NULL, UNIQUE (conversation_id, place)) STRICT`,
    // A run is a message that is to be answered: it waits, is worked on, and ends, in this order and each once.
    `CREATE TABLE runs (
       run_id TEXT PRIMARY KEY, number INTEGER NOT NULL UNIQUE, conversation_id TEXT NOT NULL, state TEXT NOT NULL,
       reason TEXT NOT NULL, message TEXT, joined_to TEXT, lease_until INTEGER, created_at INTEGER NOT NULL, started_at INTEGER,
       ended_at INTEGER, outcome TEXT) STRICT, WITHOUT ROWID`,
    "CREATE INDEX runs_open ON runs (state, number)",
    `CREATE TABLE calls (
       call_id TEXT PRIMARY KEY, run_id TEXT NOT NULL, message_id INTEGER NOT NULL, position INTEGER NOT NULL, tool TEXT NOT NULL, syscall TEXT,
       args TEXT NOT NULL, state TEXT NOT NULL, again INTEGER NOT NULL, request_id TEXT, is_error INTEGER, output TEXT, images TEXT,
       created_at INTEGER NOT NULL, ended_at INTEGER)
       STRICT, WITHOUT ROWID`,
    "CREATE INDEX calls_of ON calls (run_id, message_id, position)",
    `CREATE TABLE segments (
       id TEXT PRIMARY KEY, conversation_id TEXT NOT NULL, generation INTEGER NOT NULL, from_id INTEGER NOT NULL, to_id INTEGER NOT NULL,
       archive_path TEXT NOT NULL, summary_id INTEGER, created_at INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    // What followers are told, in order: whoever was away asks for all after the last number it has seen.
    "CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT, signal TEXT NOT NULL, payload TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT",
    `CREATE TABLE usage (
       message_id INTEGER PRIMARY KEY, run_id TEXT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL, input INTEGER NOT NULL,
       output INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL, cost REAL NOT NULL, at INTEGER NOT NULL) STRICT`,
  ],
};

export function migrate(sql: Sql): void {
  migrateBy(sql, [initial]);
}
