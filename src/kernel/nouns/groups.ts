// Groups and their members. Owns groups and group_members.

import { Cache } from "../../lib/cache.ts";
import { NAME } from "../../lib/name.ts";
import { fail } from "../../lib/sys-error.ts";
import type { Group } from "../../protocol/records.ts";
import type { Sql } from "../../ports/sql.ts";

export const USERS_GID = 100;
export const DRIVERS_GID = 101;
export const SERVICES_GID = 102;

/** Custom groups have gids between the built-in groups and the private groups of users, whose gid is their uid. */
const CUSTOM_GID_MIN = 200;
const PRIVATE_GID_MIN = 1000;

const CACHED_MAX = 1_000;

export type GroupReads = Pick<Groups, "list" | "get" | "gidsOf" | "namesOf">;

export class Groups {
  readonly #sql: Sql;
  /** The groups of a user and the name of a group, which each step of a process needs. A rollback of rows must call `clearCaches`. */
  readonly #gids = new Cache<string, readonly number[]>(CACHED_MAX);
  readonly #names = new Cache<number, string>(CACHED_MAX);

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  clearCaches(): void {
    this.#gids.clear();
    this.#names.clear();
  }

  list(): Group[] {
    const members = new Map<number, string[]>();
    for (const row of this.#sql.all("SELECT gid, username FROM group_members ORDER BY gid, username")) {
      const gid = Number(row.gid);
      members.set(gid, [...(members.get(gid) ?? []), String(row.username)]);
    }
    return this.#sql
      .all("SELECT gid, name FROM groups ORDER BY gid")
      .map((row) => ({ gid: Number(row.gid), name: String(row.name), members: members.get(Number(row.gid)) ?? [] }));
  }

  get(gid: number): Group | undefined {
    const row = this.#sql.get("SELECT gid, name FROM groups WHERE gid = ?", gid);
    if (row === undefined) return undefined;
    const members = this.#sql.all("SELECT username FROM group_members WHERE gid = ? ORDER BY username", gid);
    return { gid, name: String(row.name), members: members.map((member) => String(member.username)) };
  }

  /** The primary group and every group that lists the user, sorted. */
  gidsOf(username: string, primary: number): readonly number[] {
    return this.#gids.get(`${primary} ${username}`, () => {
      const rows = this.#sql.all("SELECT gid FROM group_members WHERE username = ?", username);
      return [...new Set([primary, ...rows.map((row) => Number(row.gid))])].toSorted((a, b) => a - b);
    });
  }

  namesOf(gids: readonly number[]): string[] {
    return gids.map((gid) => this.#names.get(gid, () => String(this.#sql.get("SELECT name FROM groups WHERE gid = ?", gid)?.name ?? gid)));
  }

  /** Makes a custom group; without a gid it gets the next free one. */
  make(name: string, wantedGid?: number): Group {
    if (!NAME.test(name)) fail(400, `name must match ${NAME.source}`);
    if (wantedGid !== undefined && (wantedGid < CUSTOM_GID_MIN || wantedGid >= PRIVATE_GID_MIN))
      fail(400, `gid must be between ${CUSTOM_GID_MIN} and ${PRIVATE_GID_MIN - 1}`);
    const gid = wantedGid ?? this.#nextGid();
    this.#add(gid, name);
    return { gid, name, members: [] };
  }

  #nextGid(): number {
    const highest = this.#sql.get("SELECT max(gid) AS gid FROM groups WHERE gid >= ? AND gid < ?", CUSTOM_GID_MIN, PRIVATE_GID_MIN);
    const gid = highest?.gid == null ? CUSTOM_GID_MIN : Number(highest.gid) + 1;
    if (gid >= PRIVATE_GID_MIN) fail(409, "No gid is left: remove a group first");
    return gid;
  }

  /** Makes the private group of a user, so that people who share a gateway do not share devices. */
  makePrivateGroup(uid: number, username: string): void {
    this.#add(uid, username);
  }

  remove(gid: number): boolean {
    if (gid < CUSTOM_GID_MIN || gid >= PRIVATE_GID_MIN) fail(409, "Built-in groups and users' private groups cannot be removed");
    this.clearCaches();
    this.#sql.run("DELETE FROM group_members WHERE gid = ?", gid);
    return this.#sql.run("DELETE FROM groups WHERE gid = ?", gid) > 0;
  }

  addMember(gid: number, username: string): void {
    this.clearCaches();
    this.#sql.run("INSERT OR IGNORE INTO group_members VALUES (?, ?)", gid, username);
  }

  setMembers(gid: number, usernames: readonly string[]): void {
    this.clearCaches();
    this.#sql.run("DELETE FROM group_members WHERE gid = ?", gid);
    for (const username of usernames) this.addMember(gid, username);
  }

  #add(gid: number, name: string): void {
    if (this.#sql.get("SELECT 1 FROM groups WHERE name = ?", name) !== undefined) fail(409, `Group already exists: ${name}`);
    if (this.#sql.get("SELECT 1 FROM groups WHERE gid = ?", gid) !== undefined) fail(409, `Group already exists: ${gid}`);
    this.clearCaches();
    this.#sql.run("INSERT INTO groups VALUES (?, ?)", gid, name);
  }
}
