// Accounts, groups, capabilities, tokens, config, connections, devices, and the kernel's own bookkeeping.

export const initial = {
  version: 1,
  statements: [
    `CREATE TABLE passwd (
       username TEXT PRIMARY KEY, uid INTEGER NOT NULL UNIQUE, gid INTEGER NOT NULL,
       gecos TEXT NOT NULL, home TEXT NOT NULL, shell TEXT NOT NULL) STRICT`,
    // The fields of a line of /etc/shadow: dates in days since the epoch, empty text for an empty field.
    `CREATE TABLE shadow (
       username TEXT PRIMARY KEY REFERENCES passwd(username), hash TEXT NOT NULL, last_changed TEXT NOT NULL,
       min TEXT NOT NULL, max TEXT NOT NULL, warn TEXT NOT NULL, inactive TEXT NOT NULL, expire TEXT NOT NULL,
       reserved TEXT NOT NULL) STRICT`,
    "CREATE TABLE groups (gid INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT",
    `CREATE TABLE group_members (
       gid INTEGER NOT NULL REFERENCES groups(gid), username TEXT NOT NULL, PRIMARY KEY (gid, username)) STRICT, WITHOUT ROWID`,
    "CREATE INDEX group_members_username ON group_members (username)",
    "CREATE TABLE group_capabilities (gid INTEGER NOT NULL, capability TEXT NOT NULL, PRIMARY KEY (gid, capability)) STRICT, WITHOUT ROWID",
    // Every capability that was ever granted by default, so that one that root revoked is not granted again at the next start.
    "CREATE TABLE seeded_capabilities (gid INTEGER NOT NULL, capability TEXT NOT NULL, PRIMARY KEY (gid, capability)) STRICT, WITHOUT ROWID",
    `CREATE TABLE auth_tokens (
       token_id TEXT PRIMARY KEY, uid INTEGER NOT NULL, kind TEXT NOT NULL, label TEXT, token_hash TEXT NOT NULL UNIQUE,
       token_prefix TEXT NOT NULL, allowed_role TEXT, allowed_device_id TEXT, created_at INTEGER NOT NULL,
       last_used_at INTEGER, expires_at INTEGER, revoked_at INTEGER, revoked_reason TEXT) STRICT`,
    "CREATE INDEX auth_tokens_uid ON auth_tokens (uid, created_at)",
    "CREATE TABLE config_kv (key TEXT PRIMARY KEY, value TEXT NOT NULL, sealed INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    `CREATE TABLE connections (
       connection_id TEXT PRIMARY KEY, uid INTEGER NOT NULL, role TEXT NOT NULL, client_id TEXT NOT NULL,
       client_version TEXT NOT NULL, platform TEXT NOT NULL, channel TEXT, implements TEXT, token_id TEXT,
       expires_at INTEGER, address TEXT NOT NULL, connected_at INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    "CREATE INDEX connections_uid ON connections (uid, role, client_id)",
    "CREATE INDEX connections_expiry ON connections (expires_at) WHERE expires_at IS NOT NULL",
    `CREATE TABLE devices (
       device_id TEXT PRIMARY KEY, owner_uid INTEGER NOT NULL, description TEXT NOT NULL, implements TEXT NOT NULL,
       platform TEXT NOT NULL, version TEXT NOT NULL, connection_id TEXT, first_seen_at INTEGER NOT NULL,
       last_seen_at INTEGER NOT NULL, connected_at INTEGER, disconnected_at INTEGER) STRICT`,
    `CREATE TABLE idempotency (
       uid INTEGER NOT NULL, key TEXT NOT NULL, request TEXT NOT NULL, result TEXT NOT NULL, sealed INTEGER NOT NULL,
       created_at INTEGER NOT NULL, PRIMARY KEY (uid, key)) STRICT, WITHOUT ROWID`,
    "CREATE INDEX idempotency_age ON idempotency (created_at)",
    "CREATE TABLE timers (kind TEXT NOT NULL, key TEXT NOT NULL, due_at INTEGER NOT NULL, PRIMARY KEY (kind, key)) STRICT, WITHOUT ROWID",
    "CREATE INDEX timers_due ON timers (due_at)",
    "CREATE TABLE throttle (key TEXT PRIMARY KEY, level REAL NOT NULL, streak INTEGER NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE known_addresses (username TEXT NOT NULL, address TEXT NOT NULL, seen_at INTEGER NOT NULL, PRIMARY KEY (username, address)) STRICT, WITHOUT ROWID",

    "INSERT INTO passwd VALUES ('root', 0, 0, 'root', '/root', '/bin/init')",
    "INSERT INTO shadow VALUES ('root', '!', '0', '0', '99999', '7', '', '', '')",
    "INSERT INTO groups VALUES (0, 'root'), (100, 'users'), (101, 'drivers'), (102, 'services')",
    "INSERT INTO group_members VALUES (0, 'root')",
  ],
} as const;
