// Device ids are unique per owner: two users may each have a `laptop`. device_id becomes the gateway's own key, which equals the id
// if no other user has it; name is the owner's name for the device. Calls and commands store the name that their caller used.

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
    // Grants now name another user's device together with its owner. An old grant without the owner would apply to the user's own
    // device of that name, so it is revoked.
    `UPDATE grants SET revoked_at = unixepoch() * 1000 WHERE revoked_at IS NULL
       AND EXISTS (SELECT 1 FROM devices WHERE device_id = grants.target AND owner_uid <> grants.uid)`,
  ],
} as const;
