// Calls in flight to devices, commands that run there, and the groups that may use a device.

export const routes = {
  version: 5,
  statements: [
    `CREATE TABLE routes (
       route_id TEXT PRIMARY KEY, call TEXT NOT NULL, device_id TEXT NOT NULL, driver_id TEXT NOT NULL, origin_id TEXT NOT NULL,
       request_id TEXT NOT NULL, uid INTEGER NOT NULL, due_at INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    "CREATE INDEX routes_due ON routes (due_at)",
    "CREATE INDEX routes_driver ON routes (driver_id)",
    "CREATE INDEX routes_origin ON routes (origin_id)",
    // The owner and device of each command, so that it can be polled without naming the device.
    `CREATE TABLE shell_sessions (
       session_id TEXT PRIMARY KEY, device_id TEXT NOT NULL, uid INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    "CREATE INDEX shell_sessions_age ON shell_sessions (updated_at)",
    "CREATE TABLE device_access (device_id TEXT NOT NULL, gid INTEGER NOT NULL, PRIMARY KEY (device_id, gid)) STRICT, WITHOUT ROWID",
  ],
} as const;
