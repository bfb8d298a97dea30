// How many devices a user may have, and that finding one by its connection or owner reads no other.

import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { MemorySql } from "../../../test/support/memory-ports.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { initial } from "../schema/001-initial.ts";
import { deviceIndexes } from "../schema/003-device-indexes.ts";
import { migrate } from "../schema/migrate.ts";
import { Devices } from "./devices.ts";

it("refuses a user's 1,001st device, and none that is known", () => {
  const devices = fresh();
  const connect = (deviceId: string, ownerUid = 1000) =>
    devices.connected({ deviceId, ownerUid, platform: "", version: "", implements: ["fs.*"], connectionId: `to ${deviceId}` }, 0);
  for (let at = 0; at < LIMITS.devicesPerUser; at++) connect(`d${at}`);
  expect(() => connect("one more")).toThrow("Too many devices");
  connect("d0");
  connect("somebody else's", 1001);
  expect(devices.list({ uid: 1001, gids: [] }).map(({ deviceId }) => deviceId)).toEqual(["somebody else's"]);
  expect(devices.list({ uid: 0, gids: [] })).toHaveLength(LIMITS.devicesPerUser + 1);
});

it("finds the device of a connection that closes, and an owner's devices, without a look at the others", () => {
  const database = new DatabaseSync(":memory:");
  for (const statement of [...initial.statements, ...deviceIndexes.statements]) database.exec(statement);
  const plan = (query: string) => String(database.prepare(`EXPLAIN QUERY PLAN ${query}`).get("?")?.detail);
  expect(plan("SELECT device_id FROM devices WHERE connection_id = ?")).toMatch(/^SEARCH .* INDEX devices_connection/);
  expect(plan("SELECT count(*) AS count FROM devices WHERE owner_uid = ?")).toMatch(/^SEARCH .* INDEX devices_owner/);
});

it("takes a device that has pinged and gone silent for gone, and one that never pings by its socket", () => {
  let [now, heardAt] = [0, 0];
  const sql = new MemorySql();
  migrate(sql);
  const devices = new Devices(
    sql,
    () => heardAt,
    () => now,
  );
  devices.connected({ deviceId: "d", ownerUid: 1000, platform: "", version: "", implements: ["fs.*"], connectionId: "c" }, now);
  now = 60_000;
  expect(devices.get("d")?.online).toBe(true);
  heardAt = 60_000;
  now = 75_000;
  expect(devices.get("d")?.online).toBe(true);
  now = 75_001;
  expect(devices.get("d")?.online).toBe(false);
  devices.disconnected("c", now);
  heardAt = now;
  expect(devices.get("d")?.online).toBe(false);
});

function fresh(): Devices {
  const sql = new MemorySql();
  migrate(sql);
  return new Devices(
    sql,
    () => 0,
    () => 0,
  );
}
