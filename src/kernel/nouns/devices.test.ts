// How many devices a user may have, and that finding one by its connection or owner reads no other.

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

const plug = (devices: Devices, { uid }: Who, deviceId: string) =>
  devices.connected({ deviceId, ownerUid: uid, platform: "", version: "", implements: ["fs.*"], connectionId: `${uid} ${deviceId}` }, 0);
const namesOf = (devices: Devices, who: Who) => devices.list(who).map(({ deviceId }) => deviceId);

it("lets each user have any id, and shows nobody what ids others have", () => {
  const devices = fresh();
  const first = plug(devices, ALICE, "laptop");
  const second = plug(devices, BOB, "laptop");
  expect([first.isNew, second.isNew, plug(devices, BOB, "laptop")]).toEqual([true, true, { ...second, isNew: false }]);
  expect([devices.find(ALICE, "laptop"), devices.find(BOB, "laptop"), devices.find(CAROL, "laptop")]).toEqual([
    first.key,
    second.key,
    null,
  ]);
  expect([namesOf(devices, ALICE), namesOf(devices, BOB), namesOf(devices, CAROL)]).toEqual([["laptop"], ["laptop"], []]);
  // Neither the gateway's own key nor the owner's name gets anybody anywhere.
  for (const name of [second.key, "alice@laptop", "nobody@laptop", "@laptop", ""])
    expect([name, devices.find(BOB, name)]).toEqual([name, null]);
  expect(devices.find(BOB, "bob@laptop")).toBe(second.key);
  devices.remove(first.key);
  expect([devices.find(ALICE, "laptop"), devices.find(BOB, "laptop")]).toEqual([null, second.key]);
});

it("tells devices of one name apart for whoever may use several, and never takes a name from its owner", () => {
  const devices = fresh();
  const keys = [ALICE, BOB].map((who) => plug(devices, who, "server").key);
  for (const key of keys) devices.grant(key, 200);
  expect(namesOf(devices, CAROL)).toEqual(["alice@server", "bob@server"]);
  expect(namesOf(devices, ROOT)).toEqual(["alice@server", "bob@server"]);
  expect(namesOf(devices, ALICE)).toEqual(["bob@server", "server"]);
  expect(() => devices.find(CAROL, "server")).toThrow("Several devices are called server: say alice@server or bob@server");
  devices.revoke(keys[0]!, 200);
  expect([namesOf(devices, CAROL), devices.find(CAROL, "server")]).toEqual([["server"], keys[1]]);
  const own = plug(devices, CAROL, "server");
  expect([namesOf(devices, CAROL), devices.find(CAROL, "server")]).toEqual([["bob@server", "server"], own.key]);
});

it("lets a name that was used mean no other owner's device, whatever is shared and removed", () => {
  const devices = fresh();
  const [alices, bobs] = [plug(devices, ALICE, "server").key, plug(devices, BOB, "server").key];
  devices.grant(alices, 200);
  devices.used(CAROL, alices, "server");
  devices.grant(bobs, 200);
  devices.remove(alices);
  expect(() => devices.find(CAROL, "server")).toThrow("server meant alice@server when you last used it: say bob@server for this one");
  expect([namesOf(devices, CAROL), devices.find(CAROL, "bob@server")]).toEqual([["bob@server"], bobs]);
  devices.used(CAROL, bobs, "bob@server");
  expect(() => devices.find(CAROL, "server")).toThrow("meant alice@server");
  // One of one's own is what one has put there oneself, and takes the name along when it goes.
  const own = plug(devices, CAROL, "server").key;
  expect(devices.find(CAROL, "server")).toBe(own);
  devices.used(CAROL, own, "server");
  devices.remove(own);
  expect(() => devices.find(CAROL, "server")).toThrow("server meant carol@server");
  // The same owner's next machine of that id is theirs to choose.
  const again = plug(devices, CAROL, "server").key;
  expect(devices.find(CAROL, "server")).toBe(again);
});

it("lets no device pass for one of another owner", () => {
  const devices = fresh();
  const { key } = plug(devices, CAROL, "alice@server");
  devices.grant(key, 200);
  expect([devices.find(BOB, "alice@server"), namesOf(devices, BOB), devices.find(BOB, "carol@alice@server")]).toEqual([
    null,
    ["carol@alice@server"],
    key,
  ]);
  expect([devices.find(CAROL, "alice@server"), namesOf(devices, CAROL)]).toEqual([key, ["alice@server"]]);
  // What a grant names stays what it was, whoever gets a device by that name.
  const shared = plug(devices, ALICE, "server").key;
  devices.grant(shared, 200);
  expect([devices.lastingName(BOB, shared), devices.lastingName(ALICE, shared), devices.lastingName(CAROL, key)]).toEqual([
    "alice@server",
    "server",
    "carol@alice@server",
  ]);
});

it("finds by every name it tells the device it told it of", () => {
  const devices = fresh();
  for (const who of [ALICE, BOB, CAROL])
    for (const name of ["server", "laptop", ...(who === ALICE ? ["bob@laptop", "bob@server"] : [])])
      devices.grant(plug(devices, who, name).key, who === CAROL ? 1000 : 200);
  for (const who of [ROOT, BOB, CAROL]) {
    const told = devices.list(who);
    expect(new Set(told.map(({ deviceId }) => devices.find(who, deviceId))).size).toBe(told.length);
  }
});

it("gives no device the key of another owner's that was removed", () => {
  const devices = fresh();
  const { key } = plug(devices, ALICE, "laptop");
  devices.remove(key);
  expect(plug(devices, BOB, "laptop").key).not.toBe(key);
  expect(plug(devices, BOB, "laptop~1000").key).not.toBe(key);
  expect(plug(devices, BOB, key).key).not.toBe(key);
});

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
    PEOPLE,
    () => heardAt,
    () => now,
  );
  const d = { deviceId: "d", ownerUid: 1000, platform: "", version: "", implements: ["fs.*"], connectionId: "c" };
  const { key } = devices.connected(d, now);
  now = 60_000;
  expect(devices.get(key)?.online).toBe(true);
  heardAt = 60_000;
  now = 75_000;
  expect(devices.get(key)?.online).toBe(true);
  now = 75_001;
  expect(devices.get(key)?.online).toBe(false);
  devices.disconnected("c", now);
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
