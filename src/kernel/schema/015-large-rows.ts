// Turns tables whose rows may be large into rowid tables. A table without rowids is one b-tree ordered by its key, and a lookup next
// to a large row reads that row whole: one user's settings of a megabyte made every read of a setting take milliseconds.

import { rebuildTable } from "../../ports/migrate.ts";

export const largeRows = {
  version: 15,
  statements: [
    ...rebuildTable("config_kv", "key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL, sealed INTEGER NOT NULL"),
    ...rebuildTable(
      "idempotency",
      `uid INTEGER NOT NULL, key TEXT NOT NULL, request TEXT NOT NULL, result TEXT NOT NULL, sealed INTEGER NOT NULL,
       created_at INTEGER NOT NULL, PRIMARY KEY (uid, key)`,
    ),
    "CREATE INDEX idempotency_age ON idempotency (created_at)",
    "CREATE INDEX idempotency_share ON idempotency (uid, created_at)",
    ...rebuildTable("file_contents", "hash TEXT NOT NULL PRIMARY KEY, content BLOB NOT NULL"),
    ...rebuildTable(
      "processes",
      `pid TEXT NOT NULL PRIMARY KEY, uid INTEGER NOT NULL, profile TEXT NOT NULL, parent_pid TEXT, label TEXT, username TEXT NOT NULL,
       home TEXT NOT NULL, cwd TEXT NOT NULL, workspace_id TEXT, context_files TEXT NOT NULL, state TEXT NOT NULL, active_run_id TEXT,
       active_conversation_id TEXT, queued_count INTEGER NOT NULL, last_active_at INTEGER, created_at INTEGER NOT NULL,
       busy INTEGER NOT NULL, heard_seq INTEGER NOT NULL`,
    ),
    "CREATE INDEX processes_of ON processes (uid, created_at)",
    "CREATE INDEX processes_busy ON processes (busy) WHERE busy = 1",
    ...rebuildTable(
      "approvals",
      `request_id TEXT NOT NULL PRIMARY KEY, uid INTEGER NOT NULL, pid TEXT NOT NULL, kind TEXT NOT NULL, run_id TEXT NOT NULL,
       conversation_id TEXT NOT NULL, call_id TEXT NOT NULL, tool_name TEXT NOT NULL, syscall TEXT NOT NULL, args TEXT NOT NULL,
       target TEXT NOT NULL, cwd TEXT NOT NULL, digest TEXT NOT NULL, tags TEXT NOT NULL, why TEXT NOT NULL, state TEXT NOT NULL,
       created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, decided_at INTEGER, decided_by INTEGER, reason TEXT, told INTEGER NOT NULL`,
    ),
    "CREATE INDEX approvals_of ON approvals (pid, state, created_at)",
    "CREATE INDEX approvals_user ON approvals (uid, created_at)",
    "CREATE INDEX approvals_call ON approvals (pid, call_id)",
    "CREATE INDEX approvals_run ON approvals (run_id)",
    "CREATE INDEX approvals_untold ON approvals (told) WHERE told = 0",
    "CREATE INDEX approvals_due ON approvals (state, expires_at)",
    ...rebuildTable(
      "process_sessions",
      `session_id TEXT NOT NULL PRIMARY KEY, pid TEXT NOT NULL, uid INTEGER NOT NULL, target TEXT NOT NULL, command TEXT NOT NULL,
       run_id TEXT NOT NULL, conversation_id TEXT NOT NULL, awaited INTEGER NOT NULL, started_at INTEGER NOT NULL`,
    ),
    "CREATE INDEX process_sessions_of ON process_sessions (pid, started_at)",
  ],
} as const;
