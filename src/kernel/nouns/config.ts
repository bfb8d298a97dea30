// Configuration by key, with the defaults of the code laid under what was set. Owns config_kv. Values of sensitive
// keys are sealed at rest.

import type { Crypto } from "../../ports/crypto.ts";
import type { Sql, SqlRow } from "../../ports/sql.ts";
import { isRoot } from "../../protocol/caller.ts";

const SENSITIVE = new Set(["api_key", "secret", "token", "password", "access_token", "refresh_token", "client_secret"]);
const SENSITIVE_ENDS = ["_api_key", "_secret", "_token", "_password"];
/** What a user may set below users/<uid>/. */
export const USER_PREFIXES = ["ai/"] as const;
const PURPOSE = "config";

export type ConfigReads = Pick<Config, "get" | "list" | "mayRead">;

export class Config {
  readonly #sql: Sql;
  readonly #crypto: Crypto;
  readonly #defaults: ReadonlyMap<string, string>;

  constructor(sql: Sql, crypto: Crypto, defaults: ReadonlyMap<string, string>) {
    this.#sql = sql;
    this.#crypto = crypto;
    this.#defaults = defaults;
  }

  get(key: string): string | undefined {
    const row = this.#sql.get("SELECT key, value, sealed FROM config_kv WHERE key = ?", key);
    return row === undefined ? this.#defaults.get(key) : this.#value(row);
  }

  /** Every key at or below a prefix (all of them for none), sorted. */
  list(prefix?: string): { key: string; value: string }[] {
    const entries = new Map<string, string>();
    for (const [key, value] of this.#defaults) if (prefix === undefined || key.startsWith(`${prefix}/`)) entries.set(key, value);
    // "0" follows "/" in the order of bytes, so this is a range of the index and not a scan.
    const rows =
      prefix === undefined
        ? this.#sql.all("SELECT key, value, sealed FROM config_kv")
        : this.#sql.all("SELECT key, value, sealed FROM config_kv WHERE key >= ? AND key < ?", `${prefix}/`, `${prefix}0`);
    for (const row of rows) entries.set(String(row.key), this.#value(row));
    return [...entries].map(([key, value]) => ({ key, value })).toSorted((a, b) => (a.key < b.key ? -1 : 1));
  }

  set(key: string, value: string): void {
    const sealed = isSensitive(key);
    const stored = sealed ? this.#crypto.seal(`${PURPOSE}:${key}`, value) : value;
    this.#sql.run(
      "INSERT INTO config_kv VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value, sealed = excluded.sealed",
      key,
      stored,
      sealed ? 1 : 0,
    );
  }

  /** Root reads all; others their own keys and what is not sensitive below config/. */
  mayRead(caller: { uid: number }, key: string): boolean {
    if (isRoot(caller)) return true;
    if (key === "users" || key === "config") return true;
    if (key === `users/${caller.uid}` || key.startsWith(`users/${caller.uid}/`)) return true;
    return key.startsWith("config/") && !isSensitive(key);
  }

  #value(row: SqlRow): string {
    return row.sealed === 1 ? this.#crypto.open(`${PURPOSE}:${String(row.key)}`, String(row.value)) : String(row.value);
  }
}

export function isSensitive(key: string): boolean {
  const last = key.slice(key.lastIndexOf("/") + 1).toLowerCase();
  return SENSITIVE.has(last) || SENSITIVE_ENDS.some((end) => last.endsWith(end));
}
