// sys.signin.*: codes with which a person signs in on another device.

import { expect } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { SYS_CHANGED } from "../../../src/protocol/signal-names.ts";
import type { Host } from "../../support/host.ts";
import { populate, ROOT } from "../../support/people.ts";
import { expectRefusal, type World, verifies } from "../verifies.ts";

const MONTH_MS = 30 * 24 * 60 * 60 * 1000;
const USERS = 100;
const ABSENT = "00000000-0000-4000-8000-000000000000";

async function redeem(world: World, code: string, username = "alice", label?: string, at?: Host) {
  const line = await world.line(at);
  return (await line.call("sys.signin.redeem", { username, code, ...(label === undefined ? {} : { label }) })).token;
}

function expectWrong(world: World, code: string, username?: string, at?: Host): Promise<void> {
  return expectRefusal(redeem(world, code, username, undefined, at), 401, "Authentication failed");
}

/** A user of this case only, signed in with the password and with a token. */
async function newPerson(world: World, username: string, at?: Host) {
  const auth = { username, password: "long enough" };
  const root = at === undefined ? await world.root() : await world.connect(ROOT, {}, at);
  await root.call("sys.user.create", auth);
  const byPassword = await world.connect(auth, {}, at);
  const { token } = await byPassword.call("sys.token.create", { kind: "user" });
  return { auth, byPassword, tokenId: token.tokenId, byToken: await world.connect({ username, token: token.token }, {}, at) };
}

async function makeCode(client: Client): Promise<string> {
  return (await client.call("sys.signin.create", {})).code;
}

verifies("sys.signin.create:signs-in", async (world) => {
  const alice = await world.alice();
  const changes: unknown[] = [];
  alice.onSignal(({ signal, payload }) => signal === SYS_CHANGED && changes.push(...payload.changes));
  const { codeId, code, createdAt, expiresAt } = await alice.call("sys.signin.create", {});
  expect(code).toMatch(/^[A-Za-z0-9_-]{22}$/);
  expect(expiresAt - createdAt).toBe(180_000);
  expect(await alice.call("sys.signin.get", { codeId })).toEqual({ expiresAt, token: null });
  const token = await redeem(world, code, "alice", " Phone ");
  expect(token).toMatchObject({ kind: "user", uid: 1000, label: "Phone", allowedRole: "user", allowedDeviceId: null });
  expect([token.expiresAt, token.endsUnusedAt]).toEqual([token.createdAt + MONTH_MS, token.createdAt + 60_000]);
  await expect.poll(() => changes).toContain("tokens");
  const phone = await world.connect({ username: "alice", token: token.token });
  expect(phone.session.identity.process.username).toBe("alice");
  const { tokenId, expiresAt: endsAt } = token;
  expect((await alice.call("sys.signin.get", { codeId })).token).toEqual({ tokenId, label: "Phone", expiresAt: endsAt, isLive: true });
  await alice.call("sys.token.revoke", { tokenId });
  expect((await alice.call("sys.signin.get", { codeId })).token).toMatchObject({ tokenId, isLive: false });
});

verifies("sys.signin.create:who", async (world) => {
  const [alice, root] = [await world.alice(), await world.root()];
  for (const call of ["create", "get", "revoke", "redeem"])
    expect(await alice.call("proc.approval.preview", { call: `sys.signin.${call}` }), call).toMatchObject({ action: "deny" });
  // Whoever may not create tokens may not make what gives one.
  const { byToken } = await newPerson(world, "tokenless");
  await root.call("sys.capability.revoke", { gid: USERS, capability: "sys.token.create" });
  try {
    await expectRefusal(makeCode(byToken), 403, "Permission denied: sys.token.create");
  } finally {
    await root.call("sys.capability.grant", { gid: USERS, capability: "sys.token.create" });
  }
});

verifies("sys.signin.redeem:once", async (world) => {
  const alice = await world.alice();
  const code = await makeCode(alice);
  const outcomes = await Promise.allSettled([redeem(world, code), redeem(world, code)]);
  expect(outcomes.filter(({ status }) => status === "fulfilled").length).toBe(1);
  await expectWrong(world, code);
  await expectWrong(world, "x".repeat(22));
  const next = await makeCode(alice);
  await world.host.restart();
  await expectWrong(world, code);
  expect((await redeem(world, next)).uid, "an open code survives a restart").toBe(1000);
});

verifies("sys.signin.redeem:bound", async (world) => {
  const code = await makeCode(await world.alice());
  for (const username of ["bob", ""]) await expectWrong(world, code, username);
  expect((await redeem(world, code)).uid).toBe(1000);
  await expectRefusal(
    (await world.alice()).call("sys.signin.redeem" as never, { username: "alice", code } as never),
    409,
    "Already connected",
  );
  const fresh = await world.fresh();
  await expectRefusal((await world.line(fresh)).call("sys.signin.redeem", { username: "alice", code }), 425);
});

verifies("sys.signin.redeem:not-longer", async (world) => {
  const alice = await world.alice();
  const end = Date.now() + 3_600_000;
  const { token } = await alice.call("sys.token.create", { kind: "user", expiresAt: end });
  const code = await makeCode(await world.connect({ username: "alice", token: token.token }));
  expect((await redeem(world, code)).expiresAt).toBe(end);
});

verifies("sys.signin.redeem:ends", async (world) => {
  // On a separate gateway, so that these failures do not use up the login throttle of other cases.
  const host = await world.fresh();
  await populate(host);
  const root = await world.connect(ROOT, {}, host);
  const isWrong = (code: string) => expectWrong(world, code, "wanda", host);
  const { auth, byPassword, byToken, tokenId } = await newPerson(world, "wanda", host);
  const replaced = await makeCode(byToken);
  const newer = await byPassword.call("sys.signin.create", {});
  await isWrong(replaced);
  await byToken.call("sys.signin.revoke", { codeId: newer.codeId });
  await isWrong(newer.code);
  const locked = await makeCode(byPassword);
  await root.call("sys.user.lock", { username: "wanda", locked: true });
  await isWrong(locked);
  await root.call("sys.user.lock", { username: "wanda", locked: false });
  await isWrong(locked);
  const again = await world.connect(auth, {}, host);
  const beforePassword = await makeCode(again);
  await again.call("sys.user.password", { current: auth.password, password: "another one" });
  await isWrong(beforePassword);
  const { token } = await root.call("sys.token.create", { kind: "user", uid: again.session.identity.process.uid });
  const browser = await world.connect({ username: "wanda", token: token.token }, {}, host);
  const loggedOut = await makeCode(browser);
  await root.call("sys.token.revoke", { tokenId });
  await root.call("sys.token.revoke", { tokenId: token.tokenId });
  await isWrong(loggedOut);
});

verifies("sys.signin.get:foreign", async (world) => {
  const [alice, bob] = [await world.alice(), await world.bob()];
  const { codeId } = await alice.call("sys.signin.create", {});
  for (const id of [codeId, ABSENT]) await expectRefusal(bob.call("sys.signin.get", { codeId: id }), 404, `Sign-in code not found: ${id}`);
});

verifies("sys.signin.revoke:foreign", async (world) => {
  const [alice, bob] = [await world.alice(), await world.bob()];
  const { codeId, code } = await alice.call("sys.signin.create", {});
  for (const id of [codeId, ABSENT])
    await expectRefusal(bob.call("sys.signin.revoke", { codeId: id }), 404, `Sign-in code not found: ${id}`);
  expect((await redeem(world, code)).uid).toBe(1000);
});
