// Configuration by key; keys that are not set have the defaults of the code. Owns config_kv. Values of sensitive keys are sealed at
// rest. A value that cannot be opened fails with 409 and names its key, and does not hide other values.

import { Cache } from "../../lib/cache.ts";
import { fail, SysError } from "../../lib/sys-error.ts";
import { type Crypto, UnsealError } from "../../ports/crypto.ts";
import type { Sql, SqlRow } from "../../ports/sql.ts";
import { isRoot } from "../../protocol/caller.ts";
import { LIMITS } from "../../protocol/limits.ts";

const SENSITIVE = new Set(["api_key", "secret", "token", "password", "access_token", "refresh_token", "client_secret"]);
const SENSITIVE_ENDS = ["_api_key", "_secret", "_token", "_password"];
/** What a user may set below users/<uid>/. */
export const USER_PREFIXES = ["ai/"] as const;
/** Keys that the gateway sets itself. */
export const READ_ONLY: ReadonlySet<string> = new Set(["config/server/version"]);
const PURPOSE = "config";
const CACHED_ROWS_MAX = 2_000;
const CACHED_CHARS_MAX = 4_096;
const BYTES = "sum(octet_length(key) + octet_length(value))";

/** `agent` is set if a process reads. */
type Reader = { uid: number; agent?: unknown };

type Entry = { key: string; value: string; problem?: string };

/** Keys from `from` up to, but not including, `to`. */
type KeyRange = readonly [from: string, to: string | Uint8Array];

/** SQLite sorts every blob after every text. */
const EVERYTHING: KeyRange = ["", new Uint8Array(0)];

export type ConfigReads = Pick<Config, "get" | "isSet" | "list" | "listKeys" | "listSealedKeys" | "mayRead" | "generationOf">;

export class Config {
  readonly #sql: Sql;
  readonly #crypto: Crypto;
  readonly #defaults: ReadonlyMap<string, string>;
  /** Rows that were read, with null for a key that is not set. Values stay sealed. A rollback must call `onRollback`, and a lost batch `clearCaches`. */
  readonly #rows = new Cache<string, SqlRow | null>(CACHED_ROWS_MAX);
  /** How often the keys of a user were written; those of the system are counted under null. */
  readonly #generations = new Map<number | null, number>();
  /** Whether a key was written since the last rollback, so that the rollback of a transaction may undo it. */
  #isWritten = false;

  constructor(sql: Sql, crypto: Crypto, defaults: ReadonlyMap<string, string>) {
    this.#sql = sql;
    this.#crypto = crypto;
    this.#defaults = defaults;
  }

  get(key: string): string | undefined {
    const row = this.#rowOf(key);
    return row === null ? this.#defaults.get(key) : this.#openValue(row);
  }

  /** Whether somebody has set the key, even to an empty value. */
  isSet(key: string): boolean {
    return this.#rowOf(key) !== null;
  }

  #rowOf(key: string): SqlRow | null {
    const known = this.#rows.find(key);
    if (known !== undefined) return known;
    const row = this.#sql.get("SELECT key, value, sealed FROM config_kv WHERE key = ?", key) ?? null;
    // A large value is read again rather than kept: users may store megabytes.
    if (row === null || String(row.value).length <= CACHED_CHARS_MAX) this.#rows.set(key, row);
    return row;
  }

  /**
   * Every key below a prefix that the caller may read, sorted; all keys without a prefix. A value that cannot be opened is returned as a
   * problem, so that it does not hide the others.
   */
  list(caller: Reader, prefix?: string): Entry[] {
    const ranges = readableKeyRanges(caller, prefix);
    // Checked before anything is loaded: what one user has stored must not use up the memory and time of all.
    const bytes = ranges.reduce((sum, range) => sum + this.#countBytes(range), 0);
    if (bytes > LIMITS.frameOutBytes) fail(413, "Result too large: ask for a longer prefix or for one key");
    const entries = new Map<string, Entry>(this.#defaultsBelow(prefix).map(([key, value]) => [key, { key, value }]));
    for (const range of ranges) {
      for (const row of this.#sql.all("SELECT key, value, sealed FROM config_kv WHERE key >= ? AND key < ?", ...range)) {
        const key = String(row.key);
        if (this.mayRead(caller, key)) entries.set(key, this.#toEntry(key, row));
        else entries.delete(key);
      }
    }
    return [...entries.values()].filter(({ key }) => this.mayRead(caller, key)).toSorted((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** The same without values, and therefore without a limit. */
  listKeys(caller: Reader, prefix: string): string[] {
    const keys = new Set(this.#defaultsBelow(prefix).map(([key]) => key));
    for (const range of readableKeyRanges(caller, prefix))
      for (const row of this.#sql.all("SELECT key FROM config_kv WHERE key >= ? AND key < ?", ...range)) keys.add(String(row.key));
    return [...keys].filter((key) => this.mayRead(caller, key)).toSorted();
  }

  /** Keys with sealed values that the caller may read, sorted. Whether a value can be opened shows only when it is read. */
  listSealedKeys(caller: Reader): string[] {
    const keys = readableKeyRanges(caller, undefined).flatMap((range) =>
      this.#sql.all("SELECT key FROM config_kv WHERE sealed = 1 AND key >= ? AND key < ?", ...range).map(({ key }) => String(key)),
    );
    return keys.filter((key) => this.mayRead(caller, key)).toSorted();
  }

  /** Changes whenever a key of the system or of this user may have changed, so that what was read from them can be cached. */
  generationOf(uid: number): number {
    // Both only grow, so their sum is new whenever one of them is.
    return (this.#generations.get(null) ?? 0) + (this.#generations.get(uid) ?? 0);
  }

  /** A transaction was rolled back. Most of those are refused writes, which must not invalidate the caches of everybody. */
  onRollback(): void {
    if (!this.#isWritten) return;
    this.#isWritten = false;
    this.clearCaches();
  }

  /** Any rows may have changed: a batch was lost. */
  clearCaches(): void {
    this.#rows.clear();
    this.#bumpGeneration(null);
  }

  /** Returns the text that is stored. */
  set(key: string, value: string): string {
    this.#bumpGeneration(ownerOf(key));
    this.#isWritten = true;
    this.#rows.delete(key);
    const sealed = isSensitive(key);
    const stored = sealed ? this.#crypto.seal(`${PURPOSE}:${key}`, value) : value;
    this.#sql.run(
      "INSERT INTO config_kv VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value, sealed = excluded.sealed",
      key,
      stored,
      sealed ? 1 : 0,
    );
    return stored;
  }

  /** False if it was not set. */
  unset(key: string): boolean {
    this.#bumpGeneration(ownerOf(key));
    this.#isWritten = true;
    this.#rows.delete(key);
    return this.#sql.run("DELETE FROM config_kv WHERE key = ?", key) > 0;
  }

  /**
   * A user's own write, which fails if they would store more than the limit per user. Counts only if the value needs more bytes than the
   * one it replaces, so that writing the same keys again stays cheap and always possible.
   */
  setWithinUserLimit(uid: number, key: string, value: string): void {
    const before = this.#storedBytes(key);
    const stored = this.set(key, value);
    if (before !== null && new TextEncoder().encode(stored).length <= before) return;
    const query = `SELECT count(*) AS keys, ${BYTES} AS bytes FROM config_kv WHERE key >= ? AND key < ?`;
    const { keys, bytes } = this.#sql.get(query, ...rangeBelow(`users/${uid}`))!;
    if (before === null && Number(keys) > LIMITS.configKeysPerUser)
      fail(413, `Too many keys: at most ${LIMITS.configKeysPerUser} per user`);
    if (Number(bytes) > LIMITS.configBytesPerUser) fail(413, `Too much configuration: at most ${LIMITS.configBytesPerUser} bytes per user`);
  }

  /**
   * Root reads everything; other users their own keys, and keys below config/ that are not sensitive. An agent reads no secrets, not even
   * its user's own: what it reads goes to a model, and from there anywhere.
   */
  mayRead(caller: Reader, key: string): boolean {
    if (caller.agent !== undefined && isSensitive(key)) return false;
    if (isRoot(caller)) return true;
    if (key === "users" || key === "config") return true;
    if (key === `users/${caller.uid}` || key.startsWith(`users/${caller.uid}/`)) return true;
    return key.startsWith("config/") && !isSensitive(key);
  }

  #bumpGeneration(owner: number | null): void {
    this.#generations.set(owner, (this.#generations.get(owner) ?? 0) + 1);
  }

  #defaultsBelow(prefix: string | undefined): [key: string, value: string][] {
    return [...this.#defaults].filter(([key]) => prefix === undefined || key.startsWith(`${prefix}/`));
  }

  #storedBytes(key: string): number | null {
    const bytes = this.#sql.get("SELECT octet_length(value) AS bytes FROM config_kv WHERE key = ?", key)?.bytes;
    return bytes == null ? null : Number(bytes);
  }

  #countBytes(range: KeyRange): number {
    const query = `SELECT ${BYTES} AS bytes FROM config_kv WHERE key >= ? AND key < ?`;
    return Number(this.#sql.get(query, ...range)?.bytes ?? 0);
  }

  #toEntry(key: string, row: SqlRow): Entry {
    try {
      return { key, value: this.#openValue(row) };
    } catch (error) {
      if (!(error instanceof SysError)) throw error;
      return { key, value: "", problem: error.message };
    }
  }

  #openValue(row: SqlRow): string {
    if (row.sealed !== 1) return String(row.value);
    const key = String(row.key);
    try {
      return this.#crypto.unseal(`${PURPOSE}:${key}`, String(row.value));
    } catch (error) {
      if (!(error instanceof UnsealError)) throw error;
      fail(409, `${key} cannot be opened: set it again, or restore the gateway's secret key from a backup`, { key });
    }
  }
}

/** The ranges of keys below a prefix that this caller may read, so that rows of other users are not even loaded. */
function readableKeyRanges(caller: Reader, prefix: string | undefined): KeyRange[] {
  if (isRoot(caller)) return [prefix === undefined ? EVERYTHING : rangeBelow(prefix)];
  const own = `users/${caller.uid}`;
  if (prefix === undefined) return [rangeBelow("config"), rangeBelow(own)];
  if (prefix === "users") return [rangeBelow(own)];
  return `${prefix}/`.startsWith("config/") || `${prefix}/`.startsWith(`${own}/`) ? [rangeBelow(prefix)] : [];
}

/** "0" is the byte after "/", so this is a range of the index and not a scan. */
function rangeBelow(prefix: string): KeyRange {
  return [`${prefix}/`, `${prefix}0`];
}

/** The uid of the user whose key it is; null for keys of the system. */
function ownerOf(key: string): number | null {
  const [, uid] = /^users\/(\d+)\//.exec(key) ?? [];
  return uid === undefined ? null : Number(uid);
}

export function isSensitive(key: string): boolean {
  const last = key.slice(key.lastIndexOf("/") + 1).toLowerCase();
  return SENSITIVE.has(last) || SENSITIVE_ENDS.some((end) => last.endsWith(end));
}
