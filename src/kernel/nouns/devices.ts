// Machines that connected as drivers. Owns devices. A device belongs to the user whose token registered it first, and
// the newest authenticated connection is the device: an older one that closes later takes nothing with it.

import type { Sql, SqlRow } from "../../ports/sql.ts";
import { fail } from "../../lib/sys-error.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { DeviceFiles } from "../../vfs/sys.ts";

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

export type DeviceReads = Pick<Devices, "get" | "list">;

export class Devices {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  get(deviceId: string): Device | undefined {
    const row = this.#sql.get("SELECT * FROM devices WHERE device_id = ?", deviceId);
    return row && fromRow(row);
  }

  /** As /sys/devices shows them; everybody's for no uid. */
  list(ownerUid?: number): DeviceFiles[] {
    const rows =
      ownerUid === undefined
        ? this.#sql.all("SELECT * FROM devices ORDER BY device_id")
        : this.#sql.all("SELECT * FROM devices WHERE owner_uid = ? ORDER BY device_id", ownerUid);
    return rows.map((row) => ({
      deviceId: String(row.device_id),
      description: String(row.description),
      implements: JSON.parse(String(row.implements)) as string[],
      owner: Number(row.owner_uid),
      platform: String(row.platform),
      status: row.connection_id === null ? "offline" : "online",
      version: String(row.version),
    }));
  }

  connected(
    device: { deviceId: string; ownerUid: number; platform: string; version: string; implements: readonly string[]; connectionId: string },
    now: number,
  ): Device {
    // A device id that somebody else registered is not for the taking.
    const known = this.get(device.deviceId);
    if (known !== undefined && known.ownerUid !== device.ownerUid) fail(403, `Access denied to device: ${device.deviceId}`);
    if (known === undefined && this.#countOf(device.ownerUid) >= LIMITS.devicesPerUser)
      fail(409, `Too many devices: at most ${LIMITS.devicesPerUser} per user. Connect under the id of one you have`);
    this.#sql.run(
      `INSERT INTO devices VALUES (?1, ?2, '', ?3, ?4, ?5, ?6, ?7, ?7, ?7, NULL)
       ON CONFLICT (device_id) DO UPDATE SET implements = ?3, platform = ?4, version = ?5, connection_id = ?6,
         last_seen_at = ?7, connected_at = ?7, disconnected_at = NULL`,
      device.deviceId,
      device.ownerUid,
      JSON.stringify(device.implements),
      device.platform,
      device.version,
      device.connectionId,
      now,
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

  #countOf(ownerUid: number): number {
    return Number(this.#sql.get("SELECT count(*) AS count FROM devices WHERE owner_uid = ?", ownerUid)?.count);
  }
}

function fromRow(row: SqlRow): Device {
  return {
    deviceId: String(row.device_id),
    ownerUid: Number(row.owner_uid),
    platform: String(row.platform),
    version: String(row.version),
    online: row.connection_id !== null,
    firstSeenAt: Number(row.first_seen_at),
    lastSeenAt: Number(row.last_seen_at),
    connectedAt: row.connected_at as number | null,
    disconnectedAt: row.disconnected_at as number | null,
  };
}
