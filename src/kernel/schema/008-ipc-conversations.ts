// The conversation in which a process waits for another's answer, and to which the answer is delivered.

export const ipcConversations = {
  version: 8,
  statements: ["ALTER TABLE ipc_calls ADD COLUMN conversation_id TEXT"],
} as const;
