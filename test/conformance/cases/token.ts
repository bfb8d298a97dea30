// sys.token.*: issuing, listing and revoking.

import { expect } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { ALICE } from "../../support/people.ts";
import type { AnyFrame, RawSocket } from "../../support/raw-socket.ts";
import { expectRefusal, verifies } from "../verifies.ts";

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

verifies("sys.token.create:kinds", async ({ root }) => {
  const admin = await root();
  for (const [kind, role] of [
    ["node", "driver"],
    ["service", "service"],
    ["user", "user"],
  ] as const) {
    const { token } = await admin.call("sys.token.create", { kind, label: ` ${kind} ` });
    expect(token).toMatchObject({
      kind,
      allowedRole: role,
      uid: 0,
      label: kind,
      allowedDeviceId: null,
      tokenPrefix: token.token.slice(0, 16),
    });
    expect(token.token).toMatch(new RegExp(`^gsv_${kind}_[A-Za-z0-9_-]{43}$`));
    expect([token.expiresAt, token.endsUnusedAt]).toEqual([null, token.createdAt + YEAR_MS]);
    expect(JSON.stringify(await admin.call("sys.token.list", {}))).not.toContain(token.token);
  }
  for (const expiresAt of [null, Date.now() + 60_000])
    expect((await admin.call("sys.token.create", { kind: "node", expiresAt })).token).toMatchObject({ expiresAt, endsUnusedAt: null });
});

verifies("sys.token.create:first-use", async ({ alice, connect, raw }) => {
  const client = await alice();
  const make = async (firstUseWithinMs: number) =>
    (await client.call("sys.token.create", { kind: "node", allowedDeviceId: "attic", firstUseWithinMs })).token;
  const [late, timely] = [await make(1), await make(3_600_000)];
  expect([late, timely].map(({ createdAt, endsUnusedAt }) => endsUnusedAt! - createdAt)).toEqual([1, 3_600_000]);
  await expect.poll(async () => (await client.call("sys.info", {})).now).toBeGreaterThan(late.endsUnusedAt!);
  expect((await drive(await raw(), late.token)).error).toEqual({ code: 401, message: "Authentication failed" });
  expect((await drive(await raw(), timely.token)).ok).toBe(true);
  const { lastUsedAt, endsUnusedAt, expiresAt } = (await findToken(client, timely.tokenId))!;
  expect([endsUnusedAt, expiresAt], "once it was used, it lives like any other").toEqual([lastUsedAt! + YEAR_MS, null]);
  expect((await findToken(client, late.tokenId))?.lastUsedAt ?? null).toBeNull();
  await client.call("sys.device.remove", { deviceId: "attic" });
  const { token } = await client.call("sys.token.create", { kind: "user", firstUseWithinMs: 1 });
  await expect.poll(async () => (await client.call("sys.info", {})).now).toBeGreaterThan(token.endsUnusedAt!);
  await expectRefusal(connect({ username: "alice", token: token.token }), 401, "Authentication failed");
});

verifies("sys.token.list:unused", async ({ alice, connect }) => {
  const client = await alice();
  const { token } = await client.call("sys.token.create", { kind: "user", label: "put off" });
  expect(await findToken(client, token.tokenId)).toMatchObject({ lastUsedAt: null, endsUnusedAt: token.createdAt + YEAR_MS });
  await expect.poll(async () => (await client.call("sys.info", {})).now).toBeGreaterThan(token.createdAt);
  await connect({ username: "alice", token: token.token });
  const { lastUsedAt, endsUnusedAt } = (await findToken(client, token.tokenId))!;
  expect(lastUsedAt).toBeGreaterThan(token.createdAt);
  expect(endsUnusedAt).toBe(lastUsedAt! + YEAR_MS);
});

verifies("sys.token.create:validates", async ({ alice }) => {
  const client = await alice();
  await expectRefusal(client.call("sys.token.create", {} as never), 400, "kind must be one of: node, service, user");
  await expectRefusal(client.call("sys.token.create", { kind: "root" } as never), 400, "kind must be one of: node, service, user");
  await expectRefusal(
    client.call("sys.token.create", { kind: "node", allowedRole: "user" }),
    400,
    "Invalid allowedRole for kind=node: expected driver",
  );
  await expectRefusal(
    client.call("sys.token.create", { kind: "user", allowedDeviceId: "x" }),
    400,
    "allowedDeviceId is only valid for driver-bound tokens",
  );
  await expectRefusal(client.call("sys.token.create", { kind: "node", expiresAt: Date.now() - 1 }), 400, "expiresAt must be in the future");
  await expectRefusal(client.call("sys.token.create", { kind: "node", firstUseWithinMs: 0 }), 400, "firstUseWithinMs must be at least 1");
  await expectRefusal(client.call("sys.token.create", { kind: "node", uid: 1.5 }), 400, "uid must be a non-negative integer");
});

verifies("sys.token.create:others", async ({ alice, bob, root, connect }) => {
  const client = await alice();
  const other = (await bob()).session.identity.process;
  await expectRefusal(
    client.call("sys.token.create", { kind: "user", uid: other.uid }),
    403,
    "Permission denied: cannot create tokens for another user",
  );
  await expectRefusal(
    client.call("sys.token.create", { kind: "user", uid: 99_999 }),
    403,
    "Permission denied: cannot create tokens for another user",
  );
  const admin = await root();
  await expectRefusal(admin.call("sys.token.create", { kind: "user", uid: 99_999 }), 404, "Unknown uid: 99999");
  const { token } = await admin.call("sys.token.create", { kind: "user", uid: other.uid });
  expect((await connect({ username: "bob", token: token.token })).session.identity.process.uid).toBe(other.uid);
});

verifies("sys.token.create:not-wider", async ({ alice, connect }) => {
  const client = await alice();
  await expectRefusal(client.call("sys.token.create", { kind: "service" }), 403);
  const end = Date.now() + 60_000;
  const { token } = await client.call("sys.token.create", { kind: "user", expiresAt: end });
  const short = await connect({ username: "alice", token: token.token });
  await expectRefusal(short.call("sys.token.create", { kind: "user", expiresAt: end + 1 }), 403);
  await expectRefusal(short.call("sys.token.create", { kind: "user", expiresAt: null }), 403);
  expect((await short.call("sys.token.create", { kind: "user" })).token.expiresAt).toBe(end);
});

verifies("sys.token.list:own", async ({ alice, bob, root }) => {
  const [client, other, admin] = [await alice(), await bob(), await root()];
  const mine = (await client.call("sys.token.create", { kind: "node", label: "first" })).token;
  const { tokens } = await client.call("sys.token.list", {});
  expect(tokens.map(({ createdAt }) => createdAt)).toEqual(tokens.map(({ createdAt }) => createdAt).toSorted((a, b) => b - a));
  expect(new Set(tokens.map(({ uid }) => uid))).toEqual(new Set([1000]));
  expect((await other.call("sys.token.list", {})).tokens.map(({ tokenId }) => tokenId)).not.toContain(mine.tokenId);
  await expectRefusal(other.call("sys.token.list", { uid: 1000 }), 403, "Permission denied: cannot list tokens for another user");
  await expectRefusal(other.call("sys.token.list", { uid: 99_999 }), 403, "Permission denied: cannot list tokens for another user");
  expect((await admin.call("sys.token.list", { uid: 1000 })).tokens).toEqual((await client.call("sys.token.list", {})).tokens);
  expect((await admin.call("sys.token.list", {})).tokens.length).toBeGreaterThanOrEqual(tokens.length);
});

verifies("sys.token.revoke:closes", async ({ host, alice, raw, connect }) => {
  const client = await alice();
  const { token } = await client.call("sys.token.create", { kind: "user" });
  const socket = await raw();
  await socket.connect({ username: "alice", token: token.token });
  expect(await client.call("sys.token.revoke", { tokenId: token.tokenId, reason: "lost" })).toEqual({ revoked: true });
  expect(await socket.closed).toEqual({ code: 1008, reason: "Credential revoked" });
  await expectRefusal(connect({ username: "alice", token: token.token }), 401);
  expect((await client.call("sys.token.list", {})).tokens.find(({ tokenId }) => tokenId === token.tokenId)).toMatchObject({
    revokedReason: "lost",
  });
  expect(await client.call("sys.token.revoke", { tokenId: token.tokenId, reason: "again" })).toEqual({ revoked: true });
  await host.restart();
  await expectRefusal(connect({ username: "alice", token: token.token }), 401);
});

verifies("sys.token.revoke:foreign", async ({ alice, bob }) => {
  const { token } = await (await alice()).call("sys.token.create", { kind: "node" });
  const other = await bob();
  const foreign = await other.call("sys.token.revoke", { tokenId: token.tokenId });
  const absent = await other.call("sys.token.revoke", { tokenId: "00000000-0000-0000-0000-000000000000" });
  expect(foreign).toEqual(absent);
  expect(absent).toEqual({ revoked: false });
  await expectRefusal(
    other.call("sys.token.revoke", { tokenId: token.tokenId, uid: 1000 }),
    403,
    "Permission denied: cannot revoke tokens for another user",
  );
  await expectRefusal(other.call("sys.token.revoke", {} as never), 400, "sys.token.revoke requires tokenId");
});

verifies("sys.token.revoke:self", async ({ connect, raw }) => {
  const { token } = await (await connect(ALICE)).call("sys.token.create", { kind: "user" });
  const socket = await raw();
  await socket.connect({ username: "alice", token: token.token });
  socket.sendFrame({ type: "req", id: "self", call: "sys.token.revoke", args: { tokenId: token.tokenId } });
  socket.sendFrame({ type: "req", id: "late", call: "sys.info" });
  expect(await socket.frame()).toMatchObject({ id: "self", ok: true, data: { revoked: true } });
  expect((await socket.closed).code).toBe(1008);
  expect(socket.unread).toBe(0);
});

async function findToken(client: Client, tokenId: string) {
  return (await client.call("sys.token.list", {})).tokens.find((token) => token.tokenId === tokenId);
}

function drive(socket: RawSocket, token: string): Promise<AnyFrame> {
  return socket.call("sys.connect", {
    protocol: 1,
    client: { id: "attic", version: "0", platform: "test", role: "driver" },
    driver: { implements: ["fs.*"] },
    auth: { username: ALICE.username, token },
  });
}
