// Whose device a plain name meant when a user last called a device by it: it does not come to mean another's unnoticed.

export const deviceMeanings = {
  version: 14,
  statements: [
    "CREATE TABLE device_meanings (uid INTEGER NOT NULL, name TEXT NOT NULL, owner_uid INTEGER NOT NULL, UNIQUE (uid, name)) STRICT",
    // What runs now was started under the name that it was given then.
    `INSERT OR IGNORE INTO device_meanings SELECT s.uid, d.name, d.owner_uid
       FROM shell_sessions s JOIN devices d ON d.device_id = s.device_id AND d.name = s.target`,
  ],
} as const;
