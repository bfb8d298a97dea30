// Settings of processes and conversations, and which agent started a process or sent a message.

export const processSettings = {
  version: 19,
  statements: [
    // conversation_id: '' for the process itself. A prompt may be large, so the table has rowids (015).
    `CREATE TABLE process_settings (
       pid TEXT NOT NULL, conversation_id TEXT NOT NULL, provider TEXT, model TEXT, thinking TEXT, prompt TEXT, max_tokens INTEGER,
       posture TEXT, posture_ends_at INTEGER, PRIMARY KEY (pid, conversation_id)) STRICT`,
    "CREATE INDEX process_settings_due ON process_settings (posture_ends_at) WHERE posture_ends_at IS NOT NULL",
    // run_id: '' for the process itself, else the run of a message that an agent has sent.
    `CREATE TABLE process_origins (
       pid TEXT NOT NULL, run_id TEXT NOT NULL, conversation_id TEXT NOT NULL, source_pid TEXT NOT NULL, source_conversation_id TEXT NOT NULL,
       PRIMARY KEY (pid, run_id)) STRICT, WITHOUT ROWID`,
  ],
} as const;
