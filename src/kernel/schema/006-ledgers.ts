// Devices that keep a ledger, calls that may be retried by key, and how commands on devices ended.

export const ledgers = {
  version: 6,
  statements: [
    "ALTER TABLE devices ADD COLUMN keeps_ledger INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE routes ADD COLUMN keyed INTEGER NOT NULL DEFAULT 0",
    // Null until the device has reported it.
    "ALTER TABLE shell_sessions ADD COLUMN status TEXT",
    "ALTER TABLE shell_sessions ADD COLUMN exit_code INTEGER",
  ],
} as const;
