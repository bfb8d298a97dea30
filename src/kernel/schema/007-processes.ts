// Agents: processes and their state, questions to people and their approvals, followers, and what each user's agents have used.
// The messages and calls of a process are in its own database.

export const processes = {
  version: 7,
  statements: [
    // `busy`: it may have work to do, so it is woken after a restart. `heard_seq`: the last of its events that the kernel recorded.
    `CREATE TABLE processes (
       pid TEXT PRIMARY KEY, uid INTEGER NOT NULL, profile TEXT NOT NULL, parent_pid TEXT, label TEXT, username TEXT NOT NULL, home TEXT NOT NULL,
       cwd TEXT NOT NULL, workspace_id TEXT, context_files TEXT NOT NULL, state TEXT NOT NULL, active_run_id TEXT, active_conversation_id TEXT,
       queued_count INTEGER NOT NULL, last_active_at INTEGER, created_at INTEGER NOT NULL, busy INTEGER NOT NULL, heard_seq INTEGER NOT NULL)
       STRICT, WITHOUT ROWID`,
    "CREATE INDEX processes_of ON processes (uid, created_at)",
    "CREATE INDEX processes_busy ON processes (busy) WHERE busy = 1",
    // A question to a person. `told`: the decision was delivered to the process.
    `CREATE TABLE approvals (
       request_id TEXT PRIMARY KEY, uid INTEGER NOT NULL, pid TEXT NOT NULL, kind TEXT NOT NULL, run_id TEXT NOT NULL, conversation_id TEXT NOT NULL,
       call_id TEXT NOT NULL, tool_name TEXT NOT NULL, syscall TEXT NOT NULL, args TEXT NOT NULL, target TEXT NOT NULL, cwd TEXT NOT NULL,
       digest TEXT NOT NULL, tags TEXT NOT NULL, why TEXT NOT NULL, state TEXT NOT NULL, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
       decided_at INTEGER, decided_by INTEGER, reason TEXT, told INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    "CREATE INDEX approvals_of ON approvals (pid, state, created_at)",
    "CREATE INDEX approvals_user ON approvals (uid, created_at)",
    "CREATE INDEX approvals_call ON approvals (pid, call_id)",
    "CREATE INDEX approvals_run ON approvals (run_id)",
    "CREATE INDEX approvals_untold ON approvals (told) WHERE told = 0",
    "CREATE INDEX approvals_due ON approvals (state, expires_at)",
    `CREATE TABLE grants (
       grant_id TEXT PRIMARY KEY, uid INTEGER NOT NULL, pid TEXT NOT NULL, syscall TEXT NOT NULL, target TEXT NOT NULL, scope TEXT NOT NULL,
       digest TEXT NOT NULL, folder TEXT, request_id TEXT NOT NULL, made_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, revoked_at INTEGER)
       STRICT, WITHOUT ROWID`,
    "CREATE INDEX grants_of ON grants (pid, syscall)",
    "CREATE INDEX grants_user ON grants (uid, made_at)",
    // Which connections receive the events of a process: its followers, and the connection that started the run if it follows nothing.
    "CREATE TABLE followers (connection_id TEXT NOT NULL, pid TEXT NOT NULL, PRIMARY KEY (connection_id, pid)) STRICT, WITHOUT ROWID",
    "CREATE INDEX followers_of ON followers (pid)",
    `CREATE TABLE run_routes (
       run_id TEXT PRIMARY KEY, uid INTEGER NOT NULL, connection_id TEXT NOT NULL, expires_at INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    "CREATE INDEX run_routes_of ON run_routes (connection_id)",
    "CREATE INDEX run_routes_due ON run_routes (expires_at)",
    // A process that waits for another's answer.
    `CREATE TABLE ipc_calls (
       call_id TEXT PRIMARY KEY, uid INTEGER NOT NULL, source_pid TEXT NOT NULL, target_pid TEXT NOT NULL, run_id TEXT NOT NULL UNIQUE,
       created_at INTEGER NOT NULL, deadline_at INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    "CREATE INDEX ipc_calls_due ON ipc_calls (deadline_at)",
    // What all processes of a user used on one day. `since`: the usage at the time when more was last approved.
    "CREATE TABLE spending (uid INTEGER NOT NULL, day TEXT NOT NULL, total TEXT NOT NULL, since TEXT, PRIMARY KEY (uid, day)) STRICT, WITHOUT ROWID",
  ],
} as const;
