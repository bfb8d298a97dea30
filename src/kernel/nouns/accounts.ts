// Users and their password entries, stored field for field as lines of /etc/passwd and /etc/shadow. Owns passwd and shadow; groups.ts
// owns membership.

import { NAME } from "../../lib/name.ts";
import { fail } from "../../lib/sys-error.ts";
import type { Account, ProcessIdentity } from "../../protocol/records.ts";
import type { Sql, SqlRow } from "../../ports/sql.ts";
import { type Groups, USERS_GID } from "./groups.ts";

const FIRST_UID = 1000;
const DAY_MS = 24 * 60 * 60 * 1000;
const SHELL = "/bin/init";
/** The prefix of a stored hash that locks the account and keeps the password. */
const LOCK = "!";

export type AccountReads = Pick<
  Accounts,
  "list" | "findByUid" | "findByName" | "identityOf" | "passwordHashOf" | "isLocked" | "isSetupMode" | "passwdLines" | "shadowLines"
>;

export class Accounts {
  readonly #sql: Sql;
  readonly #groups: Groups;

  constructor(sql: Sql, groups: Groups) {
    this.#sql = sql;
    this.#groups = groups;
  }

  list(): Account[] {
    return this.#sql
      .all("SELECT p.*, s.hash FROM passwd p LEFT JOIN shadow s USING (username) ORDER BY uid")
      .map((row) => this.#fromRow(row));
  }

  findByUid(uid: number): Account | undefined {
    const row = this.#sql.get("SELECT p.*, s.hash FROM passwd p LEFT JOIN shadow s USING (username) WHERE uid = ?", uid);
    return row && this.#fromRow(row);
  }

  findByName(username: string): Account | undefined {
    const row = this.#sql.get("SELECT p.*, s.hash FROM passwd p LEFT JOIN shadow s USING (username) WHERE username = ?", username);
    return row && this.#fromRow(row);
  }

  identityOf(account: Account): ProcessIdentity {
    const { uid, gid, username, home } = account;
    return { uid, gid, gids: [...this.#groups.gidsOf(username, gid)], username, home, cwd: home, workspaceId: null };
  }

  /** The stored hash, or null if no password can match. */
  passwordHashOf(username: string): string | null {
    const hash = this.#sql.get("SELECT hash FROM shadow WHERE username = ?", username)?.hash;
    return typeof hash === "string" && hash.startsWith("$") ? hash : null;
  }

  isLocked(username: string): boolean {
    return this.passwordHashOf(username) === null;
  }

  /** Lines of /etc/passwd, by uid. */
  passwdLines(): string[] {
    return this.#sql
      .all("SELECT * FROM passwd ORDER BY uid")
      .map((row) => [row.username, "x", row.uid, row.gid, row.gecos, row.home, row.shell].join(":"));
  }

  /** Lines of /etc/shadow, by name. */
  shadowLines(): string[] {
    return this.#sql
      .all("SELECT * FROM shadow ORDER BY username")
      .map((row) =>
        [row.username, row.hash, row.last_changed, row.min, row.max, row.warn, row.inactive, row.expire, row.reserved].join(":"),
      );
  }

  /** Nobody can log in yet: root is locked and there is no other user. */
  isSetupMode(): boolean {
    if (!this.isLocked("root")) return false;
    return this.#sql.get("SELECT 1 FROM passwd WHERE uid >= ? LIMIT 1", FIRST_UID) === undefined;
  }

  add(user: { username: string; gecos?: string | undefined; hash: string }, now: number): Account {
    const { username, hash } = user;
    const gecos = user.gecos ?? username;
    if (!NAME.test(username)) fail(400, `username must match ${NAME.source}`);
    checkGecos(gecos);
    if (this.#sql.get("SELECT 1 FROM passwd WHERE username = ?", username) !== undefined) fail(409, `User already exists: ${username}`);
    const highest = Number(this.#sql.get("SELECT max(uid) AS uid FROM passwd")?.uid ?? 0);
    const uid = Math.max(FIRST_UID, highest + 1);
    this.#groups.makePrivateGroup(uid, username);
    this.#groups.addMember(USERS_GID, username);
    this.#sql.run("INSERT INTO passwd VALUES (?, ?, ?, ?, ?, ?)", username, uid, uid, gecos, `/home/${username}`, SHELL);
    this.#sql.run("INSERT INTO shadow VALUES (?, ?, ?, '0', '99999', '7', '', '', '')", username, hash, daysSinceEpoch(now));
    return this.findByName(username)!;
  }

  setGecos(username: string, gecos: string): void {
    checkGecos(gecos);
    this.#sql.run("UPDATE passwd SET gecos = ? WHERE username = ?", gecos, username);
  }

  setPasswordHash(username: string, hash: string, now: number): void {
    this.#sql.run("UPDATE shadow SET hash = ?, last_changed = ? WHERE username = ?", hash, daysSinceEpoch(now), username);
  }

  setLocked(username: string, locked: boolean): void {
    const hash = String(this.#sql.get("SELECT hash FROM shadow WHERE username = ?", username)?.hash ?? LOCK);
    if (!locked && hash === LOCK) fail(409, `${username} has no password yet: set one with sys.user.password`);
    const bare = hash.startsWith(LOCK) ? hash.slice(LOCK.length) : hash;
    this.#sql.run("UPDATE shadow SET hash = ? WHERE username = ?", locked ? LOCK + bare : bare, username);
  }

  #fromRow(row: SqlRow): Account {
    const gid = Number(row.gid);
    const username = String(row.username);
    return {
      uid: Number(row.uid),
      gid,
      username,
      gecos: String(row.gecos),
      home: String(row.home),
      shell: String(row.shell),
      groups: this.#groups.namesOf(this.#groups.gidsOf(username, gid)),
      locked: !String(row.hash ?? LOCK).startsWith("$"),
    };
  }
}

/** The field must fit into a line of /etc/passwd. */
function checkGecos(gecos: string): void {
  if (/[:\p{Cc}]/u.test(gecos)) fail(400, "gecos must not contain colons or control characters");
}

function daysSinceEpoch(now: number): string {
  return String(Math.floor(now / DAY_MS));
}
