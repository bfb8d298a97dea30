// Device names and whom they mean, the number of devices per user, index use, and when a device counts as online.

import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { MemorySql } from "../../../test/support/memory-ports.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { initial } from "../schema/001-initial.ts";
import { deviceIndexes } from "../schema/003-device-indexes.ts";
import { migrate } from "../schema/migrate.ts";
import { Devices } from "./devices.ts";

const NAMES: Record<number, string> = { 0: "root", 1000: "alice", 1001: "bob", 1002: "carol" };
const PEOPLE = {
  nameOf: (uid: number) => NAMES[uid] ?? String(uid),
  uidOf: (username: string) =>
    Object.entries(NAMES)
      .map(([uid, name]) => (name === username ? Number(uid) : undefined))
      .find((uid) => uid !== undefined),
};
const [ROOT, ALICE, BOB, CAROL] = [0, 1000, 1001, 1002].map((uid) => ({ uid, gids: [uid, 200] })) as [Who, Who, Who, Who];
type Who = { uid: number; gids: number[] };

const connectDevice = (devices: Devices, { uid }: Who, deviceId: string) =>
  devices.recordConnection(
    { deviceId, ownerUid: uid, platform: "", version: "", implements: ["fs.*"], connectionId: `${uid} ${deviceId}` },
    0,
  );
const namesOf = (devices: Devices, who: Who) => devices.list(who).map(({ deviceId }) => deviceId);

it("lets each user choose any id, and reveals no ids of other users", () => {
  const devices = fresh();
  const first = connectDevice(devices, ALICE, "laptop");
  const second = connectDevice(devices, BOB, "laptop");
  expect([first.isNew, second.isNew, connectDevice(devices, BOB, "laptop")]).toEqual([true, true, { ...second, isNew: false }]);
  expect([devices.findKey(ALICE, "laptop"), devices.findKey(BOB, "laptop"), devices.findKey(CAROL, "laptop")]).toEqual([
    first.key,
    second.key,
    null,
  ]);
  expect([namesOf(devices, ALICE), namesOf(devices, BOB), namesOf(devices, CAROL)]).toEqual([["laptop"], ["laptop"], []]);
  // Neither the internal key nor the owner's name finds a device that the user may not use.
  for (const name of [second.key, "alice@laptop", "nobody@laptop", "@laptop", ""])
    expect([name, devices.findKey(BOB, name)]).toEqual([name, null]);
  expect(devices.findKey(BOB, "bob@laptop")).toBe(second.key);
  devices.remove(first.key);
  expect([devices.findKey(ALICE, "laptop"), devices.findKey(BOB, "laptop")]).toEqual([null, second.key]);
});

it("distinguishes devices of the same name for users of several, and never takes a name from its owner", () => {
  const devices = fresh();
  const keys = [ALICE, BOB].map((who) => connectDevice(devices, who, "server").key);
  for (const key of keys) devices.grant(key, 200);
  expect(namesOf(devices, CAROL)).toEqual(["alice@server", "bob@server"]);
  expect(namesOf(devices, ROOT)).toEqual(["alice@server", "bob@server"]);
  expect(namesOf(devices, ALICE)).toEqual(["bob@server", "server"]);
  expect(() => devices.findKey(CAROL, "server")).toThrow("Several devices are called server: use alice@server or bob@server");
  devices.revoke(keys[0]!, 200);
  expect([namesOf(devices, CAROL), devices.findKey(CAROL, "server")]).toEqual([["server"], keys[1]]);
  const own = connectDevice(devices, CAROL, "server");
  expect([namesOf(devices, CAROL), devices.findKey(CAROL, "server")]).toEqual([["bob@server", "server"], own.key]);
});

it("does not let a used name mean another owner's device, whatever is shared or removed", () => {
  const devices = fresh();
  const [alices, bobs] = [connectDevice(devices, ALICE, "server").key, connectDevice(devices, BOB, "server").key];
  devices.grant(alices, 200);
  devices.recordNameUse(CAROL, alices, "server");
  devices.grant(bobs, 200);
  devices.remove(alices);
  expect(() => devices.findKey(CAROL, "server")).toThrow("server meant alice@server when you last used it: use bob@server for this one");
  expect([namesOf(devices, CAROL), devices.findKey(CAROL, "bob@server")]).toEqual([["bob@server"], bobs]);
  devices.recordNameUse(CAROL, bobs, "bob@server");
  expect(() => devices.findKey(CAROL, "server")).toThrow("meant alice@server");
  // The user's own device takes the name, and the name still means it after it was removed.
  const own = connectDevice(devices, CAROL, "server").key;
  expect(devices.findKey(CAROL, "server")).toBe(own);
  devices.recordNameUse(CAROL, own, "server");
  devices.remove(own);
  expect(() => devices.findKey(CAROL, "server")).toThrow("server meant carol@server");
  // A new device of the same owner may have the name again.
  const again = connectDevice(devices, CAROL, "server").key;
  expect(devices.findKey(CAROL, "server")).toBe(again);
});

it("does not let a device pass for another owner's", () => {
  const devices = fresh();
  const { key } = connectDevice(devices, CAROL, "alice@server");
  devices.grant(key, 200);
  expect([devices.findKey(BOB, "alice@server"), namesOf(devices, BOB), devices.findKey(BOB, "carol@alice@server")]).toEqual([
    null,
    ["carol@alice@server"],
    key,
  ]);
  expect([devices.findKey(CAROL, "alice@server"), namesOf(devices, CAROL)]).toEqual([key, ["alice@server"]]);
  // A lasting name means the same device, whoever else gets a device of that name.
  const shared = connectDevice(devices, ALICE, "server").key;
  devices.grant(shared, 200);
  expect([devices.permanentName(BOB, shared), devices.permanentName(ALICE, shared), devices.permanentName(CAROL, key)]).toEqual([
    "alice@server",
    "server",
    "carol@alice@server",
  ]);
});

it("finds every listed device by its listed name", () => {
  const devices = fresh();
  for (const who of [ALICE, BOB, CAROL])
    for (const name of ["server", "laptop", ...(who === ALICE ? ["bob@laptop", "bob@server"] : [])])
      devices.grant(connectDevice(devices, who, name).key, who === CAROL ? 1000 : 200);
  for (const who of [ROOT, BOB, CAROL]) {
    const listed = devices.list(who);
    expect(new Set(listed.map(({ deviceId }) => devices.findKey(who, deviceId))).size).toBe(listed.length);
  }
});

it("never reuses the key of a removed device for another owner", () => {
  const devices = fresh();
  const { key } = connectDevice(devices, ALICE, "laptop");
  devices.remove(key);
  expect(connectDevice(devices, BOB, "laptop").key).not.toBe(key);
  expect(connectDevice(devices, BOB, "laptop~1000").key).not.toBe(key);
  expect(connectDevice(devices, BOB, key).key).not.toBe(key);
});

it("refuses a user's 1,001st device, but not one that exists", () => {
  const devices = fresh();
  const connect = (deviceId: string, ownerUid = 1000) =>
    devices.recordConnection({ deviceId, ownerUid, platform: "", version: "", implements: ["fs.*"], connectionId: `to ${deviceId}` }, 0);
  for (let at = 0; at < LIMITS.devicesPerUser; at++) connect(`d${at}`);
  expect(() => connect("one more")).toThrow("Too many devices");
  connect("d0");
  connect("somebody else's", 1001);
  expect(devices.list({ uid: 1001, gids: [] }).map(({ deviceId }) => deviceId)).toEqual(["somebody else's"]);
  expect(devices.list({ uid: 0, gids: [] })).toHaveLength(LIMITS.devicesPerUser + 1);
});

it("uses an index to find the device of a connection and the devices of an owner", () => {
  const database = new DatabaseSync(":memory:");
  for (const statement of [...initial.statements, ...deviceIndexes.statements]) database.exec(statement);
  const plan = (query: string) => String(database.prepare(`EXPLAIN QUERY PLAN ${query}`).get("?")?.detail);
  expect(plan("SELECT device_id FROM devices WHERE connection_id = ?")).toMatch(/^SEARCH .* INDEX devices_connection/);
  expect(plan("SELECT count(*) AS count FROM devices WHERE owner_uid = ?")).toMatch(/^SEARCH .* INDEX devices_owner/);
});

it("counts a device that pinged and went silent as offline, and one that never pings as online while its socket is open", () => {
  let [now, heardAt] = [0, 0];
  const sql = new MemorySql();
  migrate(sql);
  const devices = new Devices(
    sql,
    PEOPLE,
    () => heardAt,
    () => now,
  );
  const d = { deviceId: "d", ownerUid: 1000, platform: "", version: "", implements: ["fs.*"], connectionId: "c" };
  const { key } = devices.recordConnection(d, now);
  now = 60_000;
  expect(devices.get(key)?.online).toBe(true);
  heardAt = 60_000;
  now = 75_000;
  expect(devices.get(key)?.online).toBe(true);
  now = 75_001;
  expect(devices.get(key)?.online).toBe(false);
  devices.recordDisconnection("c", now);
  heardAt = now;
  expect(devices.get(key)?.online).toBe(false);
});

function fresh(): Devices {
  const sql = new MemorySql();
  migrate(sql);
  return new Devices(
    sql,
    PEOPLE,
    () => 0,
    () => 0,
  );
}
