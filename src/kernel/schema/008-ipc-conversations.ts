// In which of its conversations a process waits for another's answer: that is where the answer is said.

export const ipcConversations = {
  version: 8,
  statements: ["ALTER TABLE ipc_calls ADD COLUMN conversation_id TEXT"],
} as const;
