// Which group may make which calls. Owns group_capabilities, and seeded_capabilities: which defaults were ever granted.

import { Cache } from "../../lib/cache.ts";
import { isCapabilityPattern } from "../../lib/capability.ts";
import { fail } from "../../lib/sys-error.ts";
import type { Sql } from "../../ports/sql.ts";
import { DRIVERS_GID, SERVICES_GID, USERS_GID } from "./groups.ts";

export type CapabilityReads = Pick<Capabilities, "listForGroups" | "list">;

const LISTS_MAX = 256;
const GID_OF = { users: USERS_GID, drivers: DRIVERS_GID, services: SERVICES_GID } as const;

export class Capabilities {
  readonly #sql: Sql;
  /** Lists by groups: there are few, and every call of a process needs one. A rollback of rows must call `clearCaches`. */
  readonly #lists = new Cache<string, string[]>(LISTS_MAX);

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The capabilities of all these groups, sorted. Do not change the array: it is cached. */
  listForGroups(gids: readonly number[]): string[] {
    // One binding for all: a user may be in more groups than a statement may have parameters.
    const groups = JSON.stringify(gids);
    const query = "SELECT DISTINCT capability FROM group_capabilities WHERE gid IN (SELECT value FROM json_each(?)) ORDER BY capability";
    return this.#lists.get(groups, () => this.#sql.all(query, groups).map((row) => String(row.capability)));
  }

  clearCaches(): void {
    this.#lists.clear();
  }

  list(): { gid: number; capability: string }[] {
    return this.#sql
      .all("SELECT gid, capability FROM group_capabilities ORDER BY gid, capability")
      .map((row) => ({ gid: Number(row.gid), capability: String(row.capability) }));
  }

  grant(gid: number, capability: string): boolean {
    this.clearCaches();
    if (!isCapabilityPattern(capability)) fail(400, `Invalid capability pattern: ${capability}`);
    return this.#sql.run("INSERT OR IGNORE INTO group_capabilities VALUES (?, ?)", gid, capability) > 0;
  }

  revoke(gid: number, capability: string): boolean {
    // Without it nobody could ever grant anything again.
    if (gid === 0 && capability === "*") fail(409, "root's * cannot be revoked");
    this.clearCaches();
    return this.#sql.run("DELETE FROM group_capabilities WHERE gid = ? AND capability = ?", gid, capability) > 0;
  }

  revokeAll(gid: number): void {
    this.clearCaches();
    this.#sql.run("DELETE FROM group_capabilities WHERE gid = ?", gid);
  }

  /** Grants each default once in the lifetime of the database, so that what root revoked stays revoked. */
  seed(calls: Iterable<{ name: string; grant: readonly (keyof typeof GID_OF)[] }>): void {
    this.clearCaches();
    const defaults: [number, string][] = [[0, "*"]];
    for (const call of calls) for (const group of call.grant) defaults.push([GID_OF[group], call.name]);
    for (const [gid, capability] of defaults) {
      const known = this.#sql.get("SELECT 1 FROM seeded_capabilities WHERE gid = ? AND capability = ?", gid, capability);
      if (known !== undefined) continue;
      this.#sql.run("INSERT INTO seeded_capabilities VALUES (?, ?)", gid, capability);
      this.#sql.run("INSERT OR IGNORE INTO group_capabilities VALUES (?, ?)", gid, capability);
    }
  }
}
