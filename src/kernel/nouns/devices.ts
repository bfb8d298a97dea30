// Machines that connected as drivers. Owns devices. A device belongs to the user whose token registered it. Its newest authenticated
// connection is the device; an older connection that closes later changes nothing.
//
// Each user has their own ids: nobody can see which devices others have, not even by which ids are free. So the gateway has an internal
// key for each device, and the name of a device depends on the user: `findKey` accepts the names that `list` and `details` return.

import type { Sql, SqlRow, SqlValue } from "../../ports/sql.ts";
import { Cache } from "../../lib/cache.ts";
import { fail } from "../../lib/sys-error.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { isRoot } from "../../protocol/caller.ts";
import type { DeviceFiles } from "../../vfs/sys.ts";
import { DeviceMeanings } from "./device-meanings.ts";

type UserDirectory = { nameOf(uid: number): string; uidOf(username: string): number | undefined };
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
  | "get"
  | "list"
  | "listDeviceFiles"
  | "details"
  | "findKey"
  | "permanentName"
  | "findManageableKey"
  | "findTarget"
  | "connectionIdOf"
  | "findKeyByConnection"
  | "gidsOf"
>;

/** `driverId` is the present connection of the device; `keepsLedger` says whether it has a ledger, so that a call may be sent again. */
export type DeviceTarget = { online: boolean; implements: string[]; driverId: string | null; keepsLedger: boolean };

export type DeviceDetails = Device & { description: string; implements: string[] };

/** A device that has pinged and then was silent for this long counts as offline. */
const SILENCE_MS = 15_000;
/** Separates the owner from the name of a device. */
const AT = "@";
export const DESCRIPTION_CHARS_MAX = 500;
const CACHE_MAX = 1024;

export class Devices {
  readonly #sql: Sql;
  readonly #people: UserDirectory;
  readonly #meanings: DeviceMeanings;
  readonly #lastHeardAt: (connectionId: string) => number;
  readonly #now: () => number;
  /** Every routed call needs these rows. A rollback of rows must call `clearCaches`. */
  readonly #rows = new Cache<string, SqlRow | null>(CACHE_MAX);
  readonly #keys = new Cache<string, string | null>(CACHE_MAX);

  /** `lastHeardAt` returns when the peer of a connection last sent something. */
  constructor(sql: Sql, people: UserDirectory, lastHeardAt: (connectionId: string) => number, now: () => number) {
    this.#sql = sql;
    this.#people = people;
    this.#meanings = new DeviceMeanings(sql);
    this.#lastHeardAt = lastHeardAt;
    this.#now = now;
  }

  clearCaches(): void {
    this.#rows.clear();
    this.#keys.clear();
    this.#meanings.clearCaches();
  }

  /** All changes to rows of devices are made here. */
  #change(query: string, ...bindings: SqlValue[]): number {
    this.#rows.clear();
    this.#keys.clear();
    return this.#sql.run(query, ...bindings);
  }

  /** With the name that its owner uses. */
  get(key: string): Device | undefined {
    const row = this.#row(key);
    return row && this.#fromRow(row, String(row.name));
  }

  /** With the name that this user uses; undefined for a device they may not use. */
  details(who: Who, key: string): DeviceDetails | undefined {
    const row = this.#row(key);
    return row && this.#allows(who, row) ? this.#detailsOf(who, row) : undefined;
  }

  /** The devices that this user may use: their own, and those shared with their groups; all for root. */
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
  listDeviceFiles(who: Who): DeviceFiles[] {
    return this.list(who).map(({ ownerUid, online, ...device }) => ({ ...device, owner: ownerUid, status: online ? "online" : "offline" }));
  }

  /**
   * The key of the device that this user means. Their own device comes first, so that nobody can take a name from them. Then another
   * owner's device that they may use, if it is the only one with that name, and they never used the name for another owner's device.
   * `owner@name` is always unambiguous. Null for all others, whether they exist or not.
   */
  findKey(who: Who, name: string): string | null {
    const own = this.#keyOf(who.uid, name);
    if (own !== null) return own;
    const at = name.indexOf(AT);
    if (at !== -1) return this.#findKeyByOwner(who, this.#people.uidOf(name.slice(0, at)), name.slice(at + 1));
    const others = this.#findOthers(who, name);
    if (others.length > 1)
      fail(409, `Several devices are called ${name}: use ${others.map((row) => this.#nameWithOwner(row)).join(" or ")}`, { name });
    const [only] = others;
    if (only === undefined) return null;
    const otherOwner = this.#findOtherOwnerMeant(who, only);
    if (otherOwner !== null)
      fail(
        409,
        `${name} meant ${this.#people.nameOf(otherOwner)}${AT}${name} when you last used it: use ${this.#nameWithOwner(only)} for this one`,
        { name },
      );
    return String(only.device_id);
  }

  /** A call used this name. From now on the plain name means no other owner's device to this user. */
  recordNameUse({ uid }: Pick<Who, "uid">, key: string, name: string): void {
    const row = this.#row(key);
    if (row?.name === name) this.#meanings.set(uid, name, Number(row.owner_uid));
  }

  /** A name that identifies the device permanently, whatever other devices are named. Grants use it. */
  permanentName({ uid }: Pick<Who, "uid">, key: string): string | null {
    const row = this.#row(key);
    if (row === undefined) return null;
    return Number(row.owner_uid) === uid && !String(row.name).includes(AT) ? String(row.name) : this.#nameWithOwner(row);
  }

  /** The names of the device in grants: in those of its owner, and in those of others. */
  namesInGrants(key: string): { owner: number; own: string; others: string } {
    const row = this.#row(key) ?? fail(404, "Unknown device");
    const owner = Number(row.owner_uid);
    return { owner, own: this.permanentName({ uid: owner }, key)!, others: this.#nameWithOwner(row) };
  }

  /** What routing a call to the device needs, in one query; null for a device that the caller may not use. */
  findTarget(who: Who, key: string): DeviceTarget | null {
    const row = this.#row(key);
    if (row === undefined) return isRoot(who) ? { online: false, implements: [], driverId: null, keepsLedger: false } : null;
    if (!this.#allows(who, row)) return null;
    const implemented = JSON.parse(String(row.implements)) as string[];
    const driverId = row.connection_id as string | null;
    return { online: this.#isOnline(row), implements: implemented, driverId, keepsLedger: row.keeps_ledger === 1 };
  }

  /** The key of a device to manage, which only its owner and root may, not members of its groups. Null if the caller may not use it. */
  findManageableKey(who: Who, name: string): string | null {
    const key = this.findKey(who, name);
    if (key !== null && !isRoot(who) && this.get(key)?.ownerUid !== who.uid)
      fail(403, `Permission denied: ${name} belongs to another user, and only they or root can manage it`);
    return key;
  }

  gidsOf(key: string): number[] {
    return this.#sql.all("SELECT gid FROM device_access WHERE device_id = ? ORDER BY gid", key).map((row) => Number(row.gid));
  }

  /** The present connection of the device. */
  connectionIdOf(key: string): string | null {
    return (this.#row(key)?.connection_id ?? null) as string | null;
  }

  /** The key of the device on this connection. */
  findKeyByConnection(connectionId: string): string | null {
    return (this.#sql.get("SELECT device_id FROM devices WHERE connection_id = ?", connectionId)?.device_id ?? null) as string | null;
  }

  setDescription(key: string, description: string): void {
    const text = description.trim().slice(0, DESCRIPTION_CHARS_MAX);
    this.#change("UPDATE devices SET description = ? WHERE device_id = ?", text, key);
  }

  grant(key: string, gid: number): boolean {
    return this.#sql.run("INSERT OR IGNORE INTO device_access VALUES (?, ?)", key, gid) > 0;
  }

  revoke(key: string, gid: number): boolean {
    return this.#sql.run("DELETE FROM device_access WHERE device_id = ? AND gid = ?", key, gid) > 0;
  }

  /** The group was removed, and a new one may get the same gid. */
  revokeAll(gid: number): void {
    this.#sql.run("DELETE FROM device_access WHERE gid = ?", gid);
  }

  /** Removes the device and its shares. */
  remove(key: string): void {
    this.#sql.run("DELETE FROM device_access WHERE device_id = ?", key);
    this.#change("DELETE FROM devices WHERE device_id = ?", key);
  }

  /** Stores a connected device. Returns its key, and whether the device is new. */
  recordConnection(
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
    // A device of another user with the same name makes no difference, so that its existence does not show.
    const known = this.#keyOf(device.ownerUid, device.deviceId);
    if (known === null && this.#countOf(device.ownerUid) >= LIMITS.devicesPerUser)
      fail(409, `Too many devices: at most ${LIMITS.devicesPerUser} per user. Connect with the id of an existing one`);
    const key = known ?? this.#newKey(device.deviceId, device.ownerUid);
    this.#change(
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

  /** The connections of all devices that are connected. */
  connectionIds(): string[] {
    return this.#sql.all("SELECT connection_id FROM devices WHERE connection_id IS NOT NULL").map((row) => String(row.connection_id));
  }

  /** Returns the key of the device, or null if the connection was no device or a newer connection has replaced it. */
  recordDisconnection(connectionId: string, now: number): string | null {
    const key = this.findKeyByConnection(connectionId);
    if (key !== null)
      this.#change("UPDATE devices SET connection_id = NULL, disconnected_at = ?, last_seen_at = ? WHERE device_id = ?", now, now, key);
    return key;
  }

  #row(key: string): SqlRow | undefined {
    return this.#rows.get(key, () => this.#sql.get("SELECT * FROM devices WHERE device_id = ?", key) ?? null) ?? undefined;
  }

  #keyOf(ownerUid: number, name: string): string | null {
    return this.#keys.get(`${ownerUid} ${name}`, () => {
      const row = this.#sql.get("SELECT device_id FROM devices WHERE name = ? AND owner_uid = ?", name, ownerUid);
      return (row?.device_id ?? null) as string | null;
    });
  }

  /**
   * Never shown to users. It ends with the owner's uid, so that no device of another owner ever gets it: commands and stopped calls of a
   * removed device are still stored under its key. Keys of older devices are just their names.
   */
  #newKey(name: string, ownerUid: number): string {
    let key = `${name}~${ownerUid}`;
    while (this.#row(key) !== undefined) key += `~${ownerUid}`;
    return key;
  }

  #findKeyByOwner(who: Who, ownerUid: number | undefined, name: string): string | null {
    const key = ownerUid === undefined ? null : this.#keyOf(ownerUid, name);
    const row = key === null ? undefined : this.#row(key);
    return row !== undefined && this.#allows(who, row) ? key : null;
  }

  /** Other owners' devices of this name. One with an @ in its name could pass for somebody else's, so it always needs its owner. */
  #findOthers(who: Who, name: string): SqlRow[] {
    if (name.includes(AT)) return [];
    return this.#sql.all("SELECT * FROM devices WHERE name = ? AND owner_uid <> ?", name, who.uid).filter((row) => this.#allows(who, row));
  }

  /** The name by which `findKey` finds the device for this user. */
  #nameFor(who: Who, row: SqlRow): string {
    const name = String(row.name);
    if (Number(row.owner_uid) === who.uid) return name;
    const isOnly = this.#keyOf(who.uid, name) === null && this.#findOthers(who, name).length === 1;
    return isOnly && this.#findOtherOwnerMeant(who, row) === null ? name : this.#nameWithOwner(row);
  }

  /** The other owner whose device this user has meant by the same name; null for none. */
  #findOtherOwnerMeant({ uid }: Who, row: SqlRow): number | null {
    const owner = this.#meanings.ownerOf(uid, String(row.name));
    return owner === Number(row.owner_uid) ? null : owner;
  }

  #nameWithOwner(row: SqlRow): string {
    return `${this.#people.nameOf(Number(row.owner_uid))}${AT}${String(row.name)}`;
  }

  #allows(who: Who, row: SqlRow): boolean {
    if (isRoot(who) || Number(row.owner_uid) === who.uid) return true;
    return this.gidsOf(String(row.device_id)).some((gid) => who.gids.includes(gid));
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

  /** A device that has sent nothing since it connected is assumed not to ping: it is online while its socket is open. */
  #isOnline(row: SqlRow): boolean {
    if (row.connection_id === null) return false;
    const lastHeardAt = this.#lastHeardAt(String(row.connection_id));
    const isSilent = this.#now() - lastHeardAt > SILENCE_MS;
    const hasPinged = lastHeardAt > Number(row.connected_at) + SILENCE_MS / 3;
    return !(isSilent && hasPinged);
  }
}
