// The posture of a conversation when it started a process, sent a message or made a call. Of older ones it is not known: they count as
// careful.

export const processOrigins = {
  version: 20,
  statements: [
    "ALTER TABLE process_origins ADD COLUMN posture TEXT NOT NULL DEFAULT 'careful'",
    "ALTER TABLE ipc_calls ADD COLUMN posture TEXT NOT NULL DEFAULT 'careful'",
  ],
} as const;
