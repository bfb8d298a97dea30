// Machines that connected as drivers. Owns devices. A device belongs to the user whose token registered it, and the newest
// authenticated connection is the device: an older one that closes later takes nothing with it.
//
// An id belongs to its owner: what devices others have shows nowhere, not even in which ids are free. So there is a key for
// the gateway alone, and what a device is called depends on who asks: `find` and what is told of a device go together.

import type { Sql, SqlRow } from "../../ports/sql.ts";
import { fail } from "../../lib/sys-error.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { isRoot } from "../../protocol/caller.ts";
import type { DeviceFiles } from "../../vfs/sys.ts";
import { DeviceMeanings } from "./device-meanings.ts";

type People = { nameOf(uid: number): string; uidOf(username: string): number | undefined };
type Who = { uid: number; gids: readonly number[] };

export type Device = {
  deviceId: string;
  ownerUid: number;
  platform: string;
  version: string;
  online: boolean;
  firstSeenAt: number;
  lastSeenAt: number;
  connectedAt: number | null;
  disconnectedAt: number | null;
};

export type DeviceReads = Pick<
  Devices,
  "get" | "list" | "files" | "details" | "find" | "lastingName" | "toManage" | "asTarget" | "driverOf" | "ofDriver" | "groupsOf"
>;

/** `driverId` is the connection that is the device now; `keepsLedger` whether it remembers what it did, so that the same call may be sent to it again. */
export type DeviceTarget = { online: boolean; implements: string[]; driverId: string | null; keepsLedger: boolean };

export type DeviceDetails = Device & { description: string; implements: string[] };

/** A device that has pinged and then was silent for this long is taken for gone. */
const SILENCE_MS = 15_000;
/** Between the owner and the name of a device. */
const AT = "@";
export const DESCRIPTION_CHARS_MAX = 500;

export class Devices {
  readonly #sql: Sql;
  readonly #people: People;
  readonly #meanings: DeviceMeanings;
  readonly #heardAt: (connectionId: string) => number;
  readonly #now: () => number;

  /** `heardAt` is when the peer on a connection was last heard of. */
  constructor(sql: Sql, people: People, heardAt: (connectionId: string) => number, now: () => number) {
    this.#sql = sql;
    this.#people = people;
    this.#meanings = new DeviceMeanings(sql);
    this.#heardAt = heardAt;
    this.#now = now;
  }

  /** As its owner calls it. */
  get(key: string): Device | undefined {
    const row = this.#row(key);
    return row && this.#fromRow(row, String(row.name));
  }

  /** As this user calls it; undefined for one they may not use. */
  details(who: Who, key: string): DeviceDetails | undefined {
    const row = this.#row(key);
    return row && this.#allows(who, row) ? this.#detailsOf(who, row) : undefined;
  }

  /** Those this user may use: their own, and those of their groups; all for root. */
  list(who: Who): DeviceDetails[] {
    const rows = isRoot(who)
      ? this.#sql.all("SELECT * FROM devices")
      : this.#sql.all(
          `SELECT * FROM devices WHERE owner_uid = ?1
             OR device_id IN (SELECT device_id FROM device_access WHERE gid IN (SELECT value FROM json_each(?2)))`,
          who.uid,
          JSON.stringify(who.gids),
        );
    return rows.map((row) => this.#detailsOf(who, row)).toSorted((one, other) => (one.deviceId < other.deviceId ? -1 : 1));
  }

  /** As /sys/devices shows them. */
  files(who: Who): DeviceFiles[] {
    return this.list(who).map(({ ownerUid, online, ...device }) => ({ ...device, owner: ownerUid, status: online ? "online" : "offline" }));
  }

  /**
   * The key of the device that this user means. Their own comes first, so that nobody can take a name from them; then what
   * they may use of others, and of that only what is the only one of its name, and of the owner whose device they have called
   * by it before: `owner@name` always says which. Null for all others, whether they exist or not.
   */
  find(who: Who, name: string): string | null {
    const own = this.#keyOf(who.uid, name);
    if (own !== null) return own;
    const at = name.indexOf(AT);
    if (at !== -1) return this.#findOf(who, this.#people.uidOf(name.slice(0, at)), name.slice(at + 1));
    const others = this.#othersCalled(who, name);
    if (others.length > 1)
      fail(409, `Several devices are called ${name}: say ${others.map((row) => this.#withOwner(row)).join(" or ")}`, { name });
    const [only] = others;
    if (only === undefined) return null;
    const meant = this.#meantBefore(who, only);
    if (meant !== null)
      fail(
        409,
        `${name} meant ${this.#people.nameOf(meant)}${AT}${name} when you last used it: say ${this.#withOwner(only)} for this one`,
        { name },
      );
    return String(only.device_id);
  }

  /** A call goes there by this name. From now on the plain name of a device means no other owner's. */
  used({ uid }: Pick<Who, "uid">, key: string, name: string): void {
    const row = this.#row(key);
    if (row?.name === name) this.#meanings.set(uid, name, Number(row.owner_uid));
  }

  /** What says for good which device it is, whatever others come to be called: grants go by it. */
  lastingName({ uid }: Pick<Who, "uid">, key: string): string | null {
    const row = this.#row(key);
    if (row === undefined) return null;
    return Number(row.owner_uid) === uid && !String(row.name).includes(AT) ? String(row.name) : this.#withOwner(row);
  }

  /** What grants call it: those of its owner, and those of others. */
  grantedAs(key: string): { owner: number; own: string; others: string } {
    const row = this.#row(key) ?? fail(404, "Unknown device");
    const owner = Number(row.owner_uid);
    return { owner, own: this.lastingName({ uid: owner }, key)!, others: this.#withOwner(row) };
  }

  /** What carrying a call to it asks, in one look: null for one that the caller may not use. */
  asTarget(who: Who, key: string): DeviceTarget | null {
    const row = this.#row(key);
    if (row === undefined) return isRoot(who) ? { online: false, implements: [], driverId: null, keepsLedger: false } : null;
    if (!this.#allows(who, row)) return null;
    const implemented = JSON.parse(String(row.implements)) as string[];
    const driverId = row.connection_id as string | null;
    return { online: this.#isOnline(row), implements: implemented, driverId, keepsLedger: row.keeps_ledger === 1 };
  }

  /** The key of one to decide about: a group's member uses a device, its owner and root decide. None for one the caller may not use. */
  toManage(who: Who, name: string): string | null {
    const key = this.find(who, name);
    if (key !== null && !isRoot(who) && this.get(key)?.ownerUid !== who.uid)
      fail(403, `Permission denied: ${name} belongs to somebody else, who can decide about it`);
    return key;
  }

  groupsOf(key: string): number[] {
    return this.#sql.all("SELECT gid FROM device_access WHERE device_id = ? ORDER BY gid", key).map((row) => Number(row.gid));
  }

  /** The connection that is the device now. */
  driverOf(key: string): string | null {
    return (this.#row(key)?.connection_id ?? null) as string | null;
  }

  /** The key of the device that a connection is. */
  ofDriver(connectionId: string): string | null {
    return (this.#sql.get("SELECT device_id FROM devices WHERE connection_id = ?", connectionId)?.device_id ?? null) as string | null;
  }

  describe(key: string, description: string): void {
    const text = description.trim().slice(0, DESCRIPTION_CHARS_MAX);
    this.#sql.run("UPDATE devices SET description = ? WHERE device_id = ?", text, key);
  }

  grant(key: string, gid: number): boolean {
    return this.#sql.run("INSERT OR IGNORE INTO device_access VALUES (?, ?)", key, gid) > 0;
  }

  revoke(key: string, gid: number): boolean {
    return this.#sql.run("DELETE FROM device_access WHERE device_id = ? AND gid = ?", key, gid) > 0;
  }

  /** The group is gone, and another may get its number. */
  revokeAll(gid: number): void {
    this.#sql.run("DELETE FROM device_access WHERE gid = ?", gid);
  }

  /** With everything that was said about it. */
  remove(key: string): void {
    this.#sql.run("DELETE FROM device_access WHERE device_id = ?", key);
    this.#sql.run("DELETE FROM devices WHERE device_id = ?", key);
  }

  /** Its key, and whether it is new to the gateway. */
  connected(
    device: {
      deviceId: string;
      ownerUid: number;
      platform: string;
      version: string;
      implements: readonly string[];
      keepsLedger?: boolean;
      connectionId: string;
    },
    now: number,
  ): { key: string; isNew: boolean } {
    // That somebody else has one of that name is nothing to be told, and changes nothing.
    const known = this.#keyOf(device.ownerUid, device.deviceId);
    if (known === null && this.#countOf(device.ownerUid) >= LIMITS.devicesPerUser)
      fail(409, `Too many devices: at most ${LIMITS.devicesPerUser} per user. Connect under the id of one you have`);
    const key = known ?? this.#newKey(device.deviceId, device.ownerUid);
    this.#sql.run(
      `INSERT INTO devices VALUES (?1, ?2, '', ?3, ?4, ?5, ?6, ?7, ?7, ?7, NULL, ?8, ?9)
       ON CONFLICT (device_id) DO UPDATE SET implements = ?3, platform = ?4, version = ?5, connection_id = ?6,
         last_seen_at = ?7, connected_at = ?7, disconnected_at = NULL, keeps_ledger = ?8`,
      key,
      device.ownerUid,
      JSON.stringify(device.implements),
      device.platform,
      device.version,
      device.connectionId,
      now,
      device.keepsLedger === true ? 1 : 0,
      device.deviceId,
    );
    return { key, isNew: known === null };
  }

  /** Of the devices that are online. */
  connectionIds(): string[] {
    return this.#sql.all("SELECT connection_id FROM devices WHERE connection_id IS NOT NULL").map((row) => String(row.connection_id));
  }

  /** The key of the device this connection was, or null where a newer connection has taken over. */
  disconnected(connectionId: string, now: number): string | null {
    const key = this.ofDriver(connectionId);
    if (key !== null)
      this.#sql.run("UPDATE devices SET connection_id = NULL, disconnected_at = ?, last_seen_at = ? WHERE device_id = ?", now, now, key);
    return key;
  }

  #row(key: string): SqlRow | undefined {
    return this.#sql.get("SELECT * FROM devices WHERE device_id = ?", key);
  }

  #keyOf(ownerUid: number, name: string): string | null {
    return (this.#sql.get("SELECT device_id FROM devices WHERE name = ? AND owner_uid = ?", name, ownerUid)?.device_id ?? null) as
      | string
      | null;
  }

  /**
   * Seen by nobody. It ends with the owner, so that no other's device ever gets it: commands and stopped calls of a device that
   * was removed are still known by its key. Keys of older devices are their names alone.
   */
  #newKey(name: string, ownerUid: number): string {
    let key = `${name}~${ownerUid}`;
    while (this.#row(key) !== undefined) key += `~${ownerUid}`;
    return key;
  }

  #findOf(who: Who, ownerUid: number | undefined, name: string): string | null {
    const key = ownerUid === undefined ? null : this.#keyOf(ownerUid, name);
    const row = key === null ? undefined : this.#row(key);
    return row !== undefined && this.#allows(who, row) ? key : null;
  }

  /** One that has an @ in its name could pass for somebody else's, so of others' devices it never goes without its owner. */
  #othersCalled(who: Who, name: string): SqlRow[] {
    if (name.includes(AT)) return [];
    return this.#sql.all("SELECT * FROM devices WHERE name = ? AND owner_uid <> ?", name, who.uid).filter((row) => this.#allows(who, row));
  }

  /** What `find` finds it by. */
  #nameFor(who: Who, row: SqlRow): string {
    const name = String(row.name);
    if (Number(row.owner_uid) === who.uid) return name;
    const isOnly = this.#keyOf(who.uid, name) === null && this.#othersCalled(who, name).length === 1;
    return isOnly && this.#meantBefore(who, row) === null ? name : this.#withOwner(row);
  }

  /** The other owner whose device this user has called by the name of this one; null for none. */
  #meantBefore({ uid }: Who, row: SqlRow): number | null {
    const meant = this.#meanings.ownerOf(uid, String(row.name));
    return meant === Number(row.owner_uid) ? null : meant;
  }

  #withOwner(row: SqlRow): string {
    return `${this.#people.nameOf(Number(row.owner_uid))}${AT}${String(row.name)}`;
  }

  #allows(who: Who, row: SqlRow): boolean {
    if (isRoot(who) || Number(row.owner_uid) === who.uid) return true;
    return this.groupsOf(String(row.device_id)).some((gid) => who.gids.includes(gid));
  }

  #countOf(ownerUid: number): number {
    return Number(this.#sql.get("SELECT count(*) AS count FROM devices WHERE owner_uid = ?", ownerUid)?.count);
  }

  #detailsOf(who: Who, row: SqlRow): DeviceDetails {
    const implemented = JSON.parse(String(row.implements)) as string[];
    return { ...this.#fromRow(row, this.#nameFor(who, row)), description: String(row.description), implements: implemented };
  }

  #fromRow(row: SqlRow, deviceId: string): Device {
    return {
      deviceId,
      ownerUid: Number(row.owner_uid),
      platform: String(row.platform),
      version: String(row.version),
      online: this.#isOnline(row),
      firstSeenAt: Number(row.first_seen_at),
      lastSeenAt: Number(row.last_seen_at),
      connectedAt: row.connected_at as number | null,
      disconnectedAt: row.disconnected_at as number | null,
    };
  }

  /** One that has never been heard of since it connected does not ping, and is there while its socket is. */
  #isOnline(row: SqlRow): boolean {
    if (row.connection_id === null) return false;
    const heardAt = this.#heardAt(String(row.connection_id));
    const isSilent = this.#now() - heardAt > SILENCE_MS;
    const pings = heardAt > Number(row.connected_at) + SILENCE_MS / 3;
    return !(isSilent && pings);
  }
}
