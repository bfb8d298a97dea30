// A device id belongs to its owner: two users may each have a `laptop`. device_id is now the gateway's own key, which is the
// id where nobody else has it; name is what its owner calls it. Calls and commands remember what their caller called it.

export const deviceNames = {
  version: 12,
  statements: [
    "ALTER TABLE devices ADD COLUMN name TEXT NOT NULL DEFAULT ''",
    "UPDATE devices SET name = device_id",
    "CREATE UNIQUE INDEX devices_name ON devices (name, owner_uid)",
    "ALTER TABLE routes ADD COLUMN target TEXT NOT NULL DEFAULT ''",
    "UPDATE routes SET target = device_id",
    "ALTER TABLE shell_sessions ADD COLUMN target TEXT NOT NULL DEFAULT ''",
    "UPDATE shell_sessions SET target = device_id",
    // A grant names another user's device with its owner from now on. One that does not would count for a device of one's own.
    `UPDATE grants SET revoked_at = unixepoch() * 1000 WHERE revoked_at IS NULL
       AND EXISTS (SELECT 1 FROM devices WHERE device_id = grants.target AND owner_uid <> grants.uid)`,
  ],
} as const;
