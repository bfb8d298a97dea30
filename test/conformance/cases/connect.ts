// sys.connect: who may connect, and in which role.

import { expect } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { ALICE, BOB } from "../../support/people.ts";
import { type AnyFrame, type RawSocket } from "../../support/raw-socket.ts";
import { expectRefusal, verifies } from "../verifies.ts";

const CLIENT = { id: "conformance", version: "1", platform: "test", role: "user" };

verifies("sys.connect:user-password", async ({ raw }) => {
  const { data } = await (await raw()).connect(ALICE);
  expect(data).toMatchObject({
    protocol: 1,
    identity: {
      role: "user",
      process: { uid: 1000, gid: 1000, gids: [100, 1000], username: "alice", home: "/home/alice", cwd: "/home/alice", workspaceId: null },
    },
    signals: expect.arrayContaining(["body", "copy.progress", "device.status", "exec.status", "proc.changed", "proc.run.finished"]),
  });
  expect(data?.identity).toMatchObject({ capabilities: data?.syscalls });
  expect(data?.syscalls).toContain("sys.config.get");
  expect(data?.syscalls).not.toContain("sys.user.create");
});

verifies("sys.connect:user-token", async ({ alice, connect }) => {
  const { token } = await (await alice()).call("sys.token.create", { kind: "user" });
  const client = await connect({ username: "alice", token: token.token });
  expect(client.session.identity.process.username).toBe("alice");
  const used = (await client.call("sys.token.list", {})).tokens.find((row) => row.tokenId === token.tokenId);
  expect(used?.lastUsedAt).toBeGreaterThan(0);
});

verifies("sys.connect:protocol", async ({ raw }) => {
  const socket = await raw();
  for (const protocol of [2, 0, "1", undefined]) {
    expect((await socket.call("sys.connect", { protocol, client: CLIENT, auth: ALICE })).error).toEqual({
      code: 102,
      message: "Unsupported protocol version",
    });
  }
});

verifies("sys.connect:role", async ({ raw }) => {
  const socket = await raw();
  for (const role of ["root", "", undefined, 7]) {
    expect((await socket.call("sys.connect", { protocol: 1, client: { ...CLIENT, role }, auth: ALICE })).error).toEqual({
      code: 103,
      message: "Invalid client role",
    });
  }
});

verifies("sys.connect:auth-missing", async ({ raw }) => {
  const socket = await raw();
  const refusedWith = async (auth: unknown) => (await socket.call("sys.connect", { protocol: 1, client: CLIENT, auth })).error;
  expect(await refusedWith(undefined)).toEqual({ code: 401, message: "Authentication required" });
  expect(await refusedWith({ password: "x" })).toEqual({ code: 401, message: "Username required" });
  expect(await refusedWith({ username: "alice" })).toEqual({ code: 401, message: "Password or token required" });
  expect(await refusedWith({ username: "alice", password: "x", token: "y" })).toEqual({
    code: 401,
    message: "Provide either password or token",
  });
});

verifies("sys.connect:wrong", async ({ fresh, raw }) => {
  // On a separate gateway, so that these failures do not use up the login throttle of other cases.
  const host = await fresh();
  const { populate } = await import("../../support/people.ts");
  await populate(host);
  const socket = await raw(host);
  const answers: AnyFrame[] = [];
  for (const auth of [
    { ...ALICE, password: "wrong horse" },
    { username: "nobody", password: "wrong horse" },
    { username: "alice", token: "gsv_user_wrong" },
    { username: "nobody", token: "gsv_user_wrong" },
  ]) {
    answers.push(await socket.connect(auth));
  }
  for (const answer of answers)
    expect(answer).toEqual({ type: "res", id: "connect", ok: false, error: { code: 401, message: "Authentication failed" } });
});

verifies("sys.connect:retry", async ({ raw }) => {
  const socket = await raw();
  expect((await socket.connect({ username: "alice", token: "gsv_user_wrong" })).ok).toBe(false);
  expect((await socket.connect(ALICE)).ok).toBe(true);
});

verifies("sys.connect:already", async ({ raw }) => {
  const socket = await raw();
  await socket.connect(ALICE);
  expect((await socket.connect(BOB)).error).toEqual({ code: 409, message: "Already connected" });
  // Two at once on one socket: one identity, whichever is first.
  const other = await raw();
  const [one, two] = await Promise.all([
    other.connect(ALICE),
    (async () => (await Promise.resolve(), other.call("sys.connect", { protocol: 1, client: CLIENT, auth: BOB }, "second")))(),
  ]);
  expect([one.ok, two.ok].filter(Boolean)).toHaveLength(1);
});

verifies("sys.connect:driver", async ({ alice, raw }) => {
  const { token } = await (await alice()).call("sys.token.create", { kind: "node" });
  const socket = await raw();
  const answer = await asDriver(socket, "alice", token.token, "laptop-1");
  expect(answer.data).toMatchObject({
    identity: { role: "driver", device: "laptop-1", implements: ["fs.*", "shell.exec"], capabilities: [] },
    syscalls: [],
    signals: ["body", "device.status", "req.cancel"],
  });
  expect(await untilAnswer(socket, "sys.info")).toMatchObject({ error: { code: 403, message: "Permission denied: sys.info" } });
});

verifies("sys.connect:driver-invalid", async ({ alice, raw }) => {
  const { token } = await (await alice()).call("sys.token.create", { kind: "node" });
  const socket = await raw();
  const auth = { username: "alice", token: token.token };
  const client = { ...CLIENT, role: "driver", id: "laptop-2" };
  const refusedWith = async (driver: unknown, proof: unknown = auth) =>
    (await socket.call("sys.connect", { protocol: 1, client, driver, auth: proof })).error;
  expect(await refusedWith(undefined)).toEqual({ code: 103, message: "Driver role requires implements list" });
  expect(await refusedWith({ implements: [] })).toEqual({ code: 103, message: "Driver role requires implements list" });
  expect(await refusedWith({ implements: ["fs.*", "FS!"] })).toEqual({ code: 103, message: "Invalid implements pattern: FS!" });
  expect(await refusedWith({ implements: ["fs.*"] }, ALICE)).toEqual({ code: 401, message: "Token required for machine connections" });
});

verifies("sys.connect:driver-bound", async ({ alice, raw }) => {
  const { token } = await (await alice()).call("sys.token.create", { kind: "node", allowedDeviceId: "bound-1" });
  const socket = await raw();
  expect((await asDriver(socket, "alice", token.token, "bound-2")).error?.code).toBe(401);
  expect((await asDriver(socket, "alice", token.token, "bound-1")).ok).toBe(true);
});

verifies("sys.connect:driver-owner", async ({ alice, bob, root, raw }) => {
  const [client, other, admin] = [await alice(), await bob(), await root()];
  const one = (await client.call("sys.token.create", { kind: "node" })).token.token;
  const two = (await other.call("sys.token.create", { kind: "node" })).token.token;
  const heard: unknown[] = [];
  other.onSignal(({ signal, payload }) => void (signal === "device.status" && heard.push((payload as { device: unknown }).device)));
  expect((await asDriver(await raw(), "alice", one, "owned")).ok).toBe(true);
  const mine = await raw();
  const [taken, free] = [await asDriver(mine, "bob", two, "owned"), await asDriver(await raw(), "bob", two, "unowned")];
  // The answer equals that for an unused id, except for the connection id.
  const mask = ({ ok, data }: AnyFrame) => {
    const { connectionId } = data!.server as { connectionId: string };
    return JSON.stringify([ok, data]).replace(connectionId, "").replace("unowned", "owned");
  };
  expect(mask(taken)).toBe(mask(free));
  await expect
    .poll(() => heard)
    .toMatchObject([
      { deviceId: "owned", ownerUid: 1001 },
      { deviceId: "unowned", ownerUid: 1001 },
    ]);
  const seen = async (who: Client) => (await who.call("sys.device.get", { deviceId: "owned" })).device;
  expect([await seen(client), await seen(other)]).toMatchObject([
    { deviceId: "owned", ownerUid: 1000 },
    { deviceId: "owned", ownerUid: 1001 },
  ]);
  const all = (await admin.call("sys.device.list", {})).devices.map(({ deviceId }) => deviceId);
  expect(all).toEqual(expect.arrayContaining(["alice@owned", "bob@owned", "unowned"]));
  await expectRefusal(admin.call("fs.read", { target: "owned", path: "x" }), 409);
  // Each user reaches their own device.
  const asked = other.call("fs.read", { target: "owned", path: "x" });
  const { id } = await untilRequest(mine);
  mine.sendFrame({ type: "res", id, ok: true, data: { ok: false, error: "bob's" } });
  expect(await asked).toEqual({ ok: false, error: "bob's" });
  expect(await other.call("sys.device.remove", { deviceId: "owned" })).toEqual({ removed: true });
  expect([await seen(other), (await seen(client))?.online]).toEqual([null, true]);
});

verifies("sys.connect:service", async ({ root, raw }) => {
  const { token } = await (await root()).call("sys.token.create", { kind: "service" });
  const socket = await raw();
  const { data } = await socket.call("sys.connect", {
    protocol: 1,
    client: { ...CLIENT, role: "service", channel: "telegram" },
    auth: { username: "root", token: token.token },
  });
  expect(data?.identity).toMatchObject({ role: "service", channel: "telegram" });
  expect(data?.syscalls).toEqual(["sys.info"]);
  expect((await socket.call("sys.config.get")).error?.code).toBe(403);
});

verifies("sys.connect:service-invalid", async ({ root, raw }) => {
  const { token } = await (await root()).call("sys.token.create", { kind: "service" });
  const answer = await (
    await raw()
  ).call("sys.connect", { protocol: 1, client: { ...CLIENT, role: "service" }, auth: { username: "root", token: token.token } });
  expect(answer.error).toEqual({ code: 103, message: "Service role requires channel field" });
});

verifies("sys.connect:role-bound", async ({ alice, raw }) => {
  const client = await alice();
  const user = (await client.call("sys.token.create", { kind: "user" })).token.token;
  const node = (await client.call("sys.token.create", { kind: "node" })).token.token;
  const socket = await raw();
  expect((await socket.connect({ username: "alice", token: node })).error?.code).toBe(401);
  expect((await asDriver(socket, "alice", user, "laptop-3")).error?.code).toBe(401);
  expect((await socket.connect({ username: "bob", token: user })).error?.code).toBe(401);
});

verifies("sys.connect:replaces", async ({ raw }) => {
  const [older, other, newer] = [await raw(), await raw(), await raw()];
  await older.connect(ALICE, { id: "tab" });
  await other.connect(BOB, { id: "tab" });
  await newer.connect(ALICE, { id: " tab " });
  expect(await older.closed).toEqual({ code: 1000, reason: "Replaced by newer connection" });
  expect((await newer.call("sys.info")).ok).toBe(true);
  expect((await other.call("sys.info")).ok).toBe(true);
});

verifies("sys.connect:setup-mode", async ({ fresh, raw }) => {
  const socket = await raw(await fresh());
  expect((await socket.connect(ALICE)).error).toEqual({
    code: 425,
    message: "Setup required",
    details: { setupMode: true, next: "sys.setup" },
  });
});

verifies("sys.connect:device-status", async ({ alice, bob, root, raw }) => {
  const [owner, stranger, admin] = [await alice(), await bob(), await root()];
  const heard: Record<string, unknown[]> = { owner: [], stranger: [], admin: [] };
  for (const [name, client] of Object.entries({ owner, stranger, admin }))
    client.onSignal(({ signal, payload }) => signal === "device.status" && heard[name]!.push([signal, payload]));
  const { token } = await owner.call("sys.token.create", { kind: "node" });
  const driver = await raw();
  await asDriver(driver, "alice", token.token, "seen");
  driver.close();
  await driver.closed;
  await expect.poll(() => [heard.owner!.length, heard.admin!.length]).toEqual([2, 2]);
  expect(heard.owner).toMatchObject([
    ["device.status", { event: "connected", device: { deviceId: "seen", ownerUid: 1000, online: true } }],
    ["device.status", { event: "disconnected", device: { deviceId: "seen", online: false } }],
  ]);
  await stranger.call("sys.info", {});
  expect(heard.stranger).toEqual([]);
});

verifies("sys.connect:expired", async ({ connect, raw }) => {
  const client = await connect(ALICE);
  const { token } = await client.call("sys.token.create", { kind: "user", expiresAt: Date.now() + 1_500 });
  const socket = await raw();
  expect((await socket.connect({ username: "alice", token: token.token })).ok).toBe(true);
  expect((await socket.closed).code).toBe(1008);
  await expectRefusal(connect({ username: "alice", token: token.token }), 401, "Authentication failed");
});

async function untilRequest(socket: RawSocket): Promise<AnyFrame> {
  for (;;) {
    const frame = await socket.frame();
    if (frame.type === "req") return frame;
  }
}

function asDriver(socket: RawSocket, username: string, token: string, deviceId: string): Promise<AnyFrame> {
  socket.sendFrame({
    type: "req",
    id: "driver",
    call: "sys.connect",
    args: {
      protocol: 1,
      client: { ...CLIENT, role: "driver", id: deviceId },
      driver: { implements: ["fs.*", "shell.exec"] },
      auth: { username, token },
    },
  });
  return untilId(socket, "driver");
}

async function untilAnswer(socket: RawSocket, call: string): Promise<AnyFrame> {
  socket.sendFrame({ type: "req", id: "probe", call });
  return untilId(socket, "probe");
}

/** A driver also receives signals; skip them. */
async function untilId(socket: RawSocket, id: string): Promise<AnyFrame> {
  for (;;) {
    const frame = await socket.frame();
    if (frame.id === id) return frame;
  }
}
