// A device is looked for by its connection whenever a socket closes, and its owner's are counted when a new one comes.

export const deviceIndexes = {
  version: 3,
  statements: [
    "CREATE INDEX devices_connection ON devices (connection_id) WHERE connection_id IS NOT NULL",
    "CREATE INDEX devices_owner ON devices (owner_uid)",
  ],
} as const;
