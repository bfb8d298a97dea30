// Indexes to find the device of a socket that closes, and to count an owner's devices when a new one connects.

export const deviceIndexes = {
  version: 3,
  statements: [
    "CREATE INDEX devices_connection ON devices (connection_id) WHERE connection_id IS NOT NULL",
    "CREATE INDEX devices_owner ON devices (owner_uid)",
  ],
} as const;
