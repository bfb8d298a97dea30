// The owner of the device that a user last reached by a plain name, so that the name cannot silently come to mean another device.

export const deviceMeanings = {
  version: 14,
  statements: [
    "CREATE TABLE device_meanings (uid INTEGER NOT NULL, name TEXT NOT NULL, owner_uid INTEGER NOT NULL, UNIQUE (uid, name)) STRICT",
    // Running commands show which device each name meant when they were started.
    `INSERT OR IGNORE INTO device_meanings SELECT s.uid, d.name, d.owner_uid
       FROM shell_sessions s JOIN devices d ON d.device_id = s.device_id AND d.name = s.target`,
  ],
} as const;
