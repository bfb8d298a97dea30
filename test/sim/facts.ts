// What the tables say, read from outside the kernel: the present value of each register, and whether related rows are complete.

import { quickKey } from "../support/memory/crypto.ts";
import type { MemorySql } from "../support/memory/sql.ts";
import { ABSENT } from "./requests.ts";

/** Names of registers are `kind:rest`. */
export function actual(sql: MemorySql, name: string, candidates: readonly string[]): string {
  const [kind, first = "", second = ""] = name.split(":");
  switch (kind) {
    case "config":
      return String(sql.get("SELECT value FROM config_kv WHERE key = ?", first)?.value ?? "(default)");
    case "lock":
      return String(storedHash(sql, first)?.startsWith("!") ?? true);
    case "user":
      return String(storedHash(sql, first) !== undefined);
    case "password":
      return candidates.find((password) => matchesHash(storedHash(sql, first) ?? "", password)) ?? "(unknown)";
    case "revoked":
      return String(sql.get("SELECT revoked_at FROM auth_tokens WHERE token_id = ?", first)?.revoked_at != null);
    case "may":
      return String(sql.get("SELECT 1 FROM group_capabilities WHERE gid = ? AND capability = ?", Number(first), second) !== undefined);
    case "members":
      return members(sql, Number(first));
    case "group":
      return String(sql.get("SELECT 1 FROM groups WHERE name = ?", first) !== undefined);
    case "token":
      return String(sql.get("SELECT count(*) AS n FROM auth_tokens WHERE label = ?", first)?.n);
    case "file":
      return String(sql.get("SELECT hash FROM files WHERE path = ?", first)?.hash ?? ABSENT);
    default:
      throw new Error(`no such kind of register: ${name}`);
  }
}

/** Rows that are valid only together. */
export function tornRows(sql: MemorySql): string[] {
  const torn: string[] = [];
  for (const row of sql.all("SELECT username, uid, gid FROM passwd WHERE uid >= 1000")) {
    const { username, uid, gid } = row as { username: string; uid: number; gid: number };
    if (gid !== uid) torn.push(`${username}: gid ${gid} is not uid ${uid}`);
    if (storedHash(sql, username) === undefined) torn.push(`${username} has no shadow entry`);
    if (sql.get("SELECT name FROM groups WHERE gid = ?", uid)?.name !== username) torn.push(`${username} has no private group`);
    if (sql.get("SELECT 1 FROM group_members WHERE gid = 100 AND username = ?", username) === undefined)
      torn.push(`${username} is not in users`);
  }
  for (const { path } of sql.all(
    "SELECT path FROM files f WHERE path <> '/' AND NOT EXISTS (SELECT 1 FROM files d WHERE d.path = f.parent AND d.kind = 'directory')",
  ))
    torn.push(`${String(path)} is in no directory`);
  for (const { hash } of sql.all("SELECT hash FROM file_contents WHERE hash NOT IN (SELECT hash FROM files WHERE hash IS NOT NULL)"))
    torn.push(`content ${String(hash)} belongs to no file`);
  const orphans = sql.all("SELECT gid FROM groups WHERE gid >= 1000 AND gid NOT IN (SELECT uid FROM passwd)");
  for (const row of orphans) torn.push(`group ${String(row.gid)} belongs to nobody`);
  for (const row of sql.inspect("PRAGMA foreign_key_check")) torn.push(`foreign key: ${JSON.stringify(row)}`);
  return torn;
}

/** Rows that refer to sockets that no longer exist. */
export function ghosts(sql: MemorySql, sockets: ReadonlySet<string>): string[] {
  const found: string[] = [];
  for (const row of sql.all("SELECT connection_id AS id FROM connections"))
    if (!sockets.has(String(row.id))) found.push(`connections holds ${String(row.id)}, which is gone`);
  for (const row of sql.all("SELECT device_id, connection_id AS id FROM devices WHERE connection_id IS NOT NULL"))
    if (!sockets.has(String(row.id))) found.push(`device ${String(row.device_id)} is online on ${String(row.id)}, which is gone`);
  return found;
}

/** What this role of this user may call, computed from the rows. */
export function capabilitiesOf(sql: MemorySql, role: string, username: string): string[] {
  if (role === "driver") return [];
  const rows =
    role === "service"
      ? sql.all("SELECT DISTINCT capability FROM group_capabilities WHERE gid = 102 ORDER BY capability")
      : sql.all(
          `SELECT DISTINCT capability FROM group_capabilities WHERE gid IN (SELECT gid FROM group_members WHERE username = ?1)
             OR gid = (SELECT gid FROM passwd WHERE username = ?1) ORDER BY capability`,
          username,
        );
  return rows.map((row) => String(row.capability));
}

export function uidOf(sql: MemorySql, username: string): number | null {
  const uid = sql.get("SELECT uid FROM passwd WHERE username = ?", username)?.uid;
  return uid == null ? null : Number(uid);
}

function members(sql: MemorySql, gid: number): string {
  return sql
    .all("SELECT username FROM group_members WHERE gid = ? ORDER BY username", gid)
    .map((row) => String(row.username))
    .join(",");
}

function storedHash(sql: MemorySql, username: string): string | undefined {
  const hash = sql.get("SELECT hash FROM shadow WHERE username = ?", username)?.hash;
  return hash === undefined ? undefined : String(hash);
}

function matchesHash(stored: string, password: string): boolean {
  const [, , params = "", salt = "", key = ""] = stored.replace(/^!/, "").split("$");
  const [ln = 0, blockSize = 0, parallelization = 0] = (params.match(/\d+/g) ?? []).map(Number);
  const wanted = Buffer.from(key, "base64");
  const found = quickKey(password, Buffer.from(salt, "base64"), { cost: 2 ** ln, blockSize, parallelization, length: wanted.length });
  return wanted.length > 0 && wanted.equals(found);
}
