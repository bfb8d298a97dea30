// Codes with which a person signs in on another device. A user has one at a time.

export const signInCodes = {
  version: 18,
  statements: [
    // code_hash: null once the code was used. made_with: the token of the browser that has made it, with which it ends; null if that was a
    // password. token_ends_at: the latest end of the token that it gives. token_id: what it gave.
    `CREATE TABLE sign_in_codes (
       uid INTEGER NOT NULL PRIMARY KEY, code_id TEXT NOT NULL UNIQUE, code_hash TEXT UNIQUE, made_with TEXT, token_ends_at INTEGER,
       created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, token_id TEXT) STRICT`,
  ],
} as const;
