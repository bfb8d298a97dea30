// sys.doctor: what it checks, and for whom.

import { expect } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { says } from "../../support/models/scripted.ts";
import { ALICE } from "../../support/people.ts";
import type { RawSocket } from "../../support/raw-socket.ts";
import { stages } from "../stage.ts";
import { verifies } from "../verifies.ts";

const HOST = ["storage", "database", "runtime", "address", "hosts", "rights"];
const DAY_MS = 24 * 60 * 60 * 1000;

verifies("sys.doctor:looks", async ({ alice, root }) => {
  const own = (await (await alice()).call("sys.doctor", {})).checks;
  const all = (await (await root()).call("sys.doctor", {})).checks;
  expect(own.map(({ id }) => id)).toEqual(["clock", "quota", "model", "secrets", "devices", "tokens", "questions", "push", "processes"]);
  expect(all.map(({ id }) => id)).toEqual([...HOST, ...own.map(({ id }) => id)]);
  for (const { state, says, next } of [...own, ...all]) {
    expect(says).toMatch(/^[A-Z0-9].*\.$/);
    expect(next === null).toBe(state === "ok");
  }
  expect(all.find(({ id }) => id === "storage")).toMatchObject({ state: "ok", says: expect.stringContaining("free") });
});

verifies("sys.doctor:finds", async ({ alice, bob, raw }) => {
  const client = await alice();
  const { token } = await client.call("sys.token.create", { kind: "node", label: "doctors-node", expiresAt: Date.now() + DAY_MS });
  const driver = await raw();
  await drive(driver, "doctors-device", token.token);
  const { checks } = await client.call("sys.doctor", { clientNow: Date.now() - DAY_MS, tryModel: true });
  const says = (id: string) => checks.find((check) => check.id === id);
  expect(says("tokens")).toMatchObject({ state: "warn", says: expect.stringContaining("doctors-node") });
  expect(says("devices")).toMatchObject({ state: "warn", says: expect.stringContaining("doctors-device (0.0.1-old)") });
  expect(says("clock")).toMatchObject({ state: "warn", says: expect.stringContaining("24 hours ahead of yours") });
  expect(JSON.stringify(await (await bob()).call("sys.doctor", {}))).not.toContain("doctors-");
  driver.close();
  await client.call("sys.token.revoke", { tokenId: token.tokenId });
  await client.call("sys.device.remove", { deviceId: "doctors-device" });
});

stages("sys.doctor:model", async ({ world, model, root, somebody, spawn }) => {
  const person = await somebody();
  const { username, uid } = person.session.identity.process;
  const agent = await spawn({}, person);
  const check = async (client: Client) => (await client.call("sys.doctor", {})).checks.find(({ id }) => id === "model")!;
  model.on(/Fail\.$/, { status: 401 }).on(/Answer\.$/, says("Here."));
  await agent.ask("Fail.");
  await agent.ask("Fail.");
  const failing = { state: "fail", says: expect.stringMatching(/ago and 1 time before that: .*refused the API key.*\.$/) as string };
  expect(await check(person)).toMatchObject(failing);
  expect((await check(root)).says).toContain(username);
  expect((await check(await world.bob())).says).not.toContain("refused");
  await agent.ask("Answer.");
  expect(await check(person)).toMatchObject({ state: "ok" });
  await agent.ask("Fail.");
  expect(await check(person)).toMatchObject({ state: "fail" });
  await root.call("sys.config.set", { key: `users/${uid}/ai/model`, value: "another" });
  expect(await check(person), "a model that was not asked yet has not failed").toMatchObject({ state: "ok" });
});

verifies("sys.device.get:shared", async ({ alice, bob, root, raw }) => {
  const [owner, admin] = [await alice(), await root()];
  const { token } = await owner.call("sys.token.create", { kind: "node", allowedDeviceId: "lent" });
  const driver = await raw();
  await drive(driver, "lent", token.token);
  const { group } = await admin.call("sys.group.create", { name: "borrowers" });
  await admin.call("sys.group.members", { gid: group.gid, members: ["alice", "bob"] });
  await owner.call("sys.device.grant", { deviceId: "lent", gid: group.gid });
  for (const decides of [owner, admin])
    expect(await decides.call("sys.device.get", { deviceId: "lent" })).toMatchObject({ device: { deviceId: "lent" }, gids: [group.gid] });
  const used = await (await bob()).call("sys.device.get", { deviceId: "lent" });
  expect(used.device?.deviceId).toBe("lent");
  expect(used).not.toHaveProperty("gids");
  driver.close();
  await owner.call("sys.device.remove", { deviceId: "lent" });
  await admin.call("sys.group.remove", { gid: group.gid });
});

function drive(socket: RawSocket, id: string, token: string): Promise<unknown> {
  return socket.call("sys.connect", {
    protocol: 1,
    client: { id, version: "0.0.1-old", platform: "test", role: "driver" },
    driver: { implements: ["fs.*"] },
    auth: { username: ALICE.username, token },
  });
}
