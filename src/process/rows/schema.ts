// The database of a process: what was said, what is to be done, and its progress. It holds everything a run needs to continue
// after a crash; memory holds nothing that may not be lost.

import { migrate as migrateBy, type Migration, rebuildTable } from "../../ports/migrate.ts";
import type { Sql } from "../../ports/sql.ts";
import { DEFAULT_CONVERSATION } from "./conversations.ts";

const initial: Migration = {
  version: 1,
  statements: [
    "CREATE TABLE self (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID",
    `CREATE TABLE conversations (
       id TEXT PRIMARY KEY, generation INTEGER NOT NULL, status TEXT NOT NULL, title TEXT, first INTEGER NOT NULL, next INTEGER NOT NULL,
       overflow TEXT NOT NULL, compact_at REAL NOT NULL, keep_last INTEGER NOT NULL, policy_at INTEGER NOT NULL,
       created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, context TEXT) STRICT, WITHOUT ROWID`,
    // The places of a conversation have no gaps, so any page is found by one index lookup.
    `CREATE TABLE messages (
       id INTEGER PRIMARY KEY AUTOINCREMENT, conversation_id TEXT NOT NULL, place INTEGER NOT NULL, run_id TEXT, role TEXT NOT NULL,
       content TEXT NOT NULL, created_at INTEGER NOT NULL, UNIQUE (conversation_id, place)) STRICT`,
    // A run is a message that must be answered: it waits, becomes active and ends, in this order and each once.
    `CREATE TABLE runs (
       run_id TEXT PRIMARY KEY, number INTEGER NOT NULL UNIQUE, conversation_id TEXT NOT NULL, state TEXT NOT NULL,
       reason TEXT NOT NULL, message TEXT, joined_to TEXT, lease_until INTEGER, created_at INTEGER NOT NULL, started_at INTEGER,
       ended_at INTEGER, outcome TEXT, compactions INTEGER NOT NULL DEFAULT 0, budget_request TEXT,
       paused_at INTEGER, paused_ms INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID`,
    "CREATE INDEX runs_open ON runs (state, number)",
    `CREATE TABLE calls (
       call_id TEXT PRIMARY KEY, run_id TEXT NOT NULL, message_id INTEGER NOT NULL, position INTEGER NOT NULL, tool TEXT NOT NULL, syscall TEXT,
       args TEXT NOT NULL, state TEXT NOT NULL, again INTEGER NOT NULL, request_id TEXT, is_error INTEGER, output TEXT, images TEXT,
       created_at INTEGER NOT NULL, ended_at INTEGER)
       STRICT, WITHOUT ROWID`,
    "CREATE INDEX calls_of ON calls (run_id, message_id, position)",
    `CREATE TABLE segments (
       id TEXT PRIMARY KEY, conversation_id TEXT NOT NULL, generation INTEGER NOT NULL, from_id INTEGER NOT NULL, to_id INTEGER NOT NULL,
       live_through_id INTEGER NOT NULL, archive_path TEXT NOT NULL, summary_id INTEGER, created_at INTEGER NOT NULL,
       number INTEGER NOT NULL UNIQUE) STRICT, WITHOUT ROWID`,
    "CREATE INDEX segments_of ON segments (conversation_id, number)",
    "CREATE INDEX segments_summary ON segments (summary_id)",
    // Events for followers, in order: a follower that was disconnected asks for those after the last number it has seen.
    "CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT, signal TEXT NOT NULL, payload TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT",
    `CREATE TABLE usage (
       number INTEGER PRIMARY KEY, message_id INTEGER NOT NULL, run_id TEXT, provider TEXT NOT NULL, model TEXT NOT NULL, input INTEGER NOT NULL,
       output INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL, cost REAL NOT NULL, at INTEGER NOT NULL) STRICT`,
    "CREATE INDEX usage_of ON usage (message_id)",
    // Sums, stored beside the rows they add up: budgets are checked before every model call, however long the history is.
    "CREATE TABLE spent (scope TEXT PRIMARY KEY, total TEXT NOT NULL, since TEXT) STRICT, WITHOUT ROWID",
  ],
};

const stops: Migration = {
  version: 2,
  statements: [
    // `started_at`: when it began to run, after any wait for a person. `outcome`: denied or stopped.
    "ALTER TABLE calls ADD COLUMN started_at INTEGER",
    "ALTER TABLE calls ADD COLUMN outcome TEXT",
    // It waits until somebody resumes the queue.
    "ALTER TABLE runs ADD COLUMN on_hold INTEGER NOT NULL DEFAULT 0",
  ],
};

/** Exists before the first message: calls that name no conversation mean this one. */
function makeDefaultConversationMigration(now: number): Migration {
  return {
    version: 3,
    statements: [
      `INSERT OR IGNORE INTO conversations VALUES ('${DEFAULT_CONVERSATION}', 1, 'open', NULL, 0, 0, 'manual', 0.9, 80, 0, ${now}, ${now}, NULL)`,
    ],
  };
}

/** Messages and results may be large, and in a table without rowids a lookup reads the large rows on its way whole. */
const largeRows: Migration = {
  version: 4,
  statements: [
    ...rebuildTable(
      "runs",
      `run_id TEXT NOT NULL PRIMARY KEY, number INTEGER NOT NULL UNIQUE, conversation_id TEXT NOT NULL, state TEXT NOT NULL,
       reason TEXT NOT NULL, message TEXT, joined_to TEXT, lease_until INTEGER, created_at INTEGER NOT NULL, started_at INTEGER,
       ended_at INTEGER, outcome TEXT, compactions INTEGER NOT NULL DEFAULT 0, budget_request TEXT,
       paused_at INTEGER, paused_ms INTEGER NOT NULL DEFAULT 0, on_hold INTEGER NOT NULL DEFAULT 0`,
    ),
    "CREATE INDEX runs_open ON runs (state, number)",
    ...rebuildTable(
      "calls",
      `call_id TEXT NOT NULL PRIMARY KEY, run_id TEXT NOT NULL, message_id INTEGER NOT NULL, position INTEGER NOT NULL, tool TEXT NOT NULL,
       syscall TEXT, args TEXT NOT NULL, state TEXT NOT NULL, again INTEGER NOT NULL, request_id TEXT, is_error INTEGER, output TEXT,
       images TEXT, created_at INTEGER NOT NULL, ended_at INTEGER, started_at INTEGER, outcome TEXT`,
    ),
    "CREATE INDEX calls_of ON calls (run_id, message_id, position)",
  ],
};

/** Scripts that run or are suspended, with the memory of the suspended ones in parts, and the calls they wait for. */
const scripts: Migration = {
  version: 5,
  statements: [
    `CREATE TABLE scripts (
       call_id TEXT NOT NULL PRIMARY KEY, run_id TEXT NOT NULL, engine TEXT, wall_ms INTEGER NOT NULL, cpu_ms INTEGER NOT NULL)
       STRICT, WITHOUT ROWID`,
    "CREATE TABLE script_snapshots (call_id TEXT NOT NULL, part INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (call_id, part)) STRICT",
    `CREATE TABLE script_calls (
       call_id TEXT NOT NULL PRIMARY KEY, script_call_id TEXT NOT NULL, number INTEGER NOT NULL, syscall TEXT NOT NULL, args TEXT NOT NULL,
       request_id TEXT NOT NULL, is_sent INTEGER NOT NULL, started_at INTEGER) STRICT`,
  ],
};

/** What was set for one message only, so that its run has it after a crash. */
const runSettings: Migration = { version: 6, statements: ["ALTER TABLE runs ADD COLUMN settings TEXT"] };

/** Pinned conversations, those that schedules started, and messages that a rewind has removed. */
const conversationFacts: Migration = {
  version: 7,
  statements: [
    "ALTER TABLE conversations ADD COLUMN is_pinned INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE conversations ADD COLUMN started_by TEXT",
    "ALTER TABLE segments ADD COLUMN kind TEXT NOT NULL DEFAULT 'compaction'",
  ],
};

export function migrate(sql: Sql, now: number): void {
  migrateBy(sql, [initial, stops, makeDefaultConversationMigration(now), largeRows, scripts, runSettings, conversationFacts]);
}
