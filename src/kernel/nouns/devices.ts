// Machines that connected as drivers. Owns devices. A device belongs to the user whose token registered it first, and
// the newest authenticated connection is the device: an older one that closes later takes nothing with it.

import type { Sql, SqlRow } from "../../ports/sql.ts";
import { fail } from "../../lib/sys-error.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { isRoot } from "../../protocol/caller.ts";
import type { DeviceFiles } from "../../vfs/sys.ts";

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
  "get" | "list" | "files" | "details" | "mayUse" | "toManage" | "asTarget" | "driverOf" | "groupsOf"
>;

/** `driverId` is the connection that is the device now; `keepsLedger` whether it remembers what it did, so that the same call may be sent to it again. */
export type DeviceTarget = { online: boolean; implements: string[]; driverId: string | null; keepsLedger: boolean };

export type DeviceDetails = Device & { description: string; implements: string[] };

/** A device that has pinged and then was silent for this long is taken for gone. */
const SILENCE_MS = 15_000;
export const DESCRIPTION_CHARS_MAX = 500;

export class Devices {
  readonly #sql: Sql;
  readonly #heardAt: (connectionId: string) => number;
  readonly #now: () => number;

  /** `heardAt` is when the peer on a connection was last heard of. */
  constructor(sql: Sql, heardAt: (connectionId: string) => number, now: () => number) {
    this.#sql = sql;
    this.#heardAt = heardAt;
    this.#now = now;
  }

  get(deviceId: string): Device | undefined {
    const row = this.#sql.get("SELECT * FROM devices WHERE device_id = ?", deviceId);
    return row && this.#fromRow(row);
  }

  details(deviceId: string): DeviceDetails | undefined {
    const row = this.#sql.get("SELECT * FROM devices WHERE device_id = ?", deviceId);
    return row && this.#detailsOf(row);
  }

  /** Those this user may use: their own, and those of their groups; all for root. */
  list(who: Who): DeviceDetails[] {
    const rows = isRoot(who)
      ? this.#sql.all("SELECT * FROM devices ORDER BY device_id")
      : this.#sql.all(
          `SELECT * FROM devices WHERE owner_uid = ?1
             OR device_id IN (SELECT device_id FROM device_access WHERE gid IN (SELECT value FROM json_each(?2)))
           ORDER BY device_id`,
          who.uid,
          JSON.stringify(who.gids),
        );
    return rows.map((row) => this.#detailsOf(row));
  }

  /** As /sys/devices shows them. */
  files(who: Who): DeviceFiles[] {
    return this.list(who).map(({ ownerUid, online, ...device }) => ({ ...device, owner: ownerUid, status: online ? "online" : "offline" }));
  }

  mayUse(who: Who, deviceId: string): boolean {
    return this.asTarget(who, deviceId) !== null;
  }

  /** What carrying a call to it asks, in one look: null for one that the caller may not use. */
  asTarget(who: Who, deviceId: string): DeviceTarget | null {
    const row = this.#sql.get("SELECT * FROM devices WHERE device_id = ?", deviceId);
    if (!this.#allows(who, deviceId, row)) return null;
    if (row === undefined) return { online: false, implements: [], driverId: null, keepsLedger: false };
    const implemented = JSON.parse(String(row.implements)) as string[];
    const driverId = row.connection_id as string | null;
    return { online: this.#isOnline(row), implements: implemented, driverId, keepsLedger: row.keeps_ledger === 1 };
  }

  /** One to decide about: a group's member uses a device, its owner and root decide. None for one the caller may not use. */
  toManage(who: Who, deviceId: string): Device | undefined {
    const device = this.mayUse(who, deviceId) ? this.get(deviceId) : undefined;
    if (device !== undefined && !isRoot(who) && who.uid !== device.ownerUid)
      fail(403, `Permission denied: ${deviceId} belongs to somebody else, who can decide about it`);
    return device;
  }

  groupsOf(deviceId: string): number[] {
    return this.#sql.all("SELECT gid FROM device_access WHERE device_id = ? ORDER BY gid", deviceId).map((row) => Number(row.gid));
  }

  /** The connection that is the device now. */
  driverOf(deviceId: string): string | null {
    return (this.#sql.get("SELECT connection_id FROM devices WHERE device_id = ?", deviceId)?.connection_id ?? null) as string | null;
  }

  describe(deviceId: string, description: string): void {
    const text = description.trim().slice(0, DESCRIPTION_CHARS_MAX);
    this.#sql.run("UPDATE devices SET description = ? WHERE device_id = ?", text, deviceId);
  }

  grant(deviceId: string, gid: number): boolean {
    return this.#sql.run("INSERT OR IGNORE INTO device_access VALUES (?, ?)", deviceId, gid) > 0;
  }

  revoke(deviceId: string, gid: number): boolean {
    return this.#sql.run("DELETE FROM device_access WHERE device_id = ? AND gid = ?", deviceId, gid) > 0;
  }

  /** The group is gone, and another may get its number. */
  revokeAll(gid: number): void {
    this.#sql.run("DELETE FROM device_access WHERE gid = ?", gid);
  }

  /** With everything that was said about it. */
  remove(deviceId: string): void {
    this.#sql.run("DELETE FROM device_access WHERE device_id = ?", deviceId);
    this.#sql.run("DELETE FROM devices WHERE device_id = ?", deviceId);
  }

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
  ): Device {
    // A device id that somebody else registered is not for the taking.
    const known = this.get(device.deviceId);
    if (known !== undefined && known.ownerUid !== device.ownerUid) fail(403, `Access denied to device: ${device.deviceId}`);
    if (known === undefined && this.#countOf(device.ownerUid) >= LIMITS.devicesPerUser)
      fail(409, `Too many devices: at most ${LIMITS.devicesPerUser} per user. Connect under the id of one you have`);
    this.#sql.run(
      `INSERT INTO devices VALUES (?1, ?2, '', ?3, ?4, ?5, ?6, ?7, ?7, ?7, NULL, ?8)
       ON CONFLICT (device_id) DO UPDATE SET implements = ?3, platform = ?4, version = ?5, connection_id = ?6,
         last_seen_at = ?7, connected_at = ?7, disconnected_at = NULL, keeps_ledger = ?8`,
      device.deviceId,
      device.ownerUid,
      JSON.stringify(device.implements),
      device.platform,
      device.version,
      device.connectionId,
      now,
      device.keepsLedger === true ? 1 : 0,
    );
    return this.get(device.deviceId)!;
  }

  /** Of the devices that are online. */
  connectionIds(): string[] {
    return this.#sql.all("SELECT connection_id FROM devices WHERE connection_id IS NOT NULL").map((row) => String(row.connection_id));
  }

  /** The device this connection was, or undefined where a newer connection has taken over. */
  disconnected(connectionId: string, now: number): Device | undefined {
    const row = this.#sql.get("SELECT device_id FROM devices WHERE connection_id = ?", connectionId);
    if (row === undefined) return undefined;
    const deviceId = String(row.device_id);
    this.#sql.run("UPDATE devices SET connection_id = NULL, disconnected_at = ?, last_seen_at = ? WHERE device_id = ?", now, now, deviceId);
    return this.get(deviceId);
  }

  #allows(who: Who, deviceId: string, row: SqlRow | undefined): boolean {
    if (isRoot(who)) return true;
    if (row === undefined) return false;
    return Number(row.owner_uid) === who.uid || this.groupsOf(deviceId).some((gid) => who.gids.includes(gid));
  }

  #countOf(ownerUid: number): number {
    return Number(this.#sql.get("SELECT count(*) AS count FROM devices WHERE owner_uid = ?", ownerUid)?.count);
  }

  #detailsOf(row: SqlRow): DeviceDetails {
    const implemented = JSON.parse(String(row.implements)) as string[];
    return { ...this.#fromRow(row), description: String(row.description), implements: implemented };
  }

  #fromRow(row: SqlRow): Device {
    return {
      deviceId: String(row.device_id),
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
