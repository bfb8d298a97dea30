// sys.user.*, sys.group.*, sys.capability.*, sys.connection.*: users, their rights, and their connections.

import { expect } from "vitest";
import { ALICE, BOB } from "../../support/people.ts";
import { expectRefusal, verifies } from "../verifies.ts";

let made = 0;
const name = (prefix: string) => `${prefix}${made++}`;

verifies("sys.user.create:adds", async ({ root, connect }) => {
  const admin = await root();
  const group = (await admin.call("sys.group.create", { name: name("g") })).group;
  const username = name("carol");
  const { user } = await admin.call("sys.user.create", { username, password: "long enough", groups: [group.name] });
  expect(user).toMatchObject({
    gid: user.uid,
    username,
    home: `/home/${username}`,
    locked: false,
    groups: ["users", group.name, username],
  });
  const carol = await connect({ username, password: "long enough" });
  expect(carol.session.identity.process.gids).toEqual([100, group.gid, user.uid]);
});

verifies("sys.user.create:home", async ({ root, alice, connect }) => {
  const admin = await root();
  const username = name("early");
  const path = `/home/${username}/below/welcome.txt`;
  await admin.call("fs.write", { path, content: "hello" });
  const other = await alice();
  expect(await other.call("fs.read", { path })).toMatchObject({ ok: false });
  await admin.call("sys.user.create", { username, password: "long enough" });
  const early = await connect({ username, password: "long enough" });
  expect(await early.call("fs.write", { path, content: "mine" })).toMatchObject({ ok: true });
  expect(await early.call("fs.write", { path: `/home/${username}/new.txt`, content: "mine" })).toMatchObject({ ok: true });
  expect(await other.call("fs.read", { path })).toMatchObject({ ok: false });
});

verifies("sys.user.create:home-taken", async ({ root, alice, connect }) => {
  const admin = await root();
  const other = await alice();
  const username = name("taken");
  const home = `/home/${username}`;
  const files = ["closed/deep/note", "context.d/10-rules.md", "knowledge/facts.md", "CONSTITUTION.md", "open"];
  // Also files of another owner, as if a group could write there, with the tightest and the widest modes.
  const input = `set -e; mkdir -p ${home}; cd ${home}; mkdir -p closed/deep context.d knowledge
    for file in ${files.join(" ")}; do echo before > $file; done
    chown alice open .; chmod 666 open; chmod 600 closed/deep/note; chmod 000 closed; chmod 777 .`;
  expect(await admin.call("shell.exec", { input })).toMatchObject({ status: "completed", exitCode: 0 });
  await admin.call("sys.user.create", { username, password: "long enough" });
  const taken = await connect({ username, password: "long enough" });
  await taken.call("shell.exec", { input: "chmod 700 ~/closed" });
  for (const path of files.map((file) => `${home}/${file}`)) {
    expect(await taken.call("fs.read", { path }), path).toMatchObject({ ok: true, content: expect.stringContaining("before") as string });
    expect(await taken.call("fs.write", { path, content: "mine" }), path).toMatchObject({ ok: true });
    expect(await other.call("fs.read", { path }), path).toMatchObject({ ok: false });
    expect(await other.call("fs.write", { path, content: "theirs" }), path).toMatchObject({ ok: false });
    expect(await taken.call("fs.read", { path }), path).toMatchObject({ content: expect.stringContaining("mine") as string });
  }
  for (const path of [`${home}/context.d/20-more.md`, `${home}/skills.d/bake.md`, `${home}/new/file`])
    expect(await taken.call("fs.write", { path, content: "mine" }), path).toMatchObject({ ok: true });
  expect(await other.call("fs.read", { path: home })).toMatchObject({ ok: false });

  const blocked = name("blocked");
  await admin.call("fs.write", { path: `/home/${blocked}`, content: "a file" });
  await expectRefusal(
    admin.call("sys.user.create", { username: blocked, password: "long enough" }),
    409,
    `/home/${blocked} is a file: move or delete it first, because the user's home must be there`,
  );
  expect((await admin.call("sys.user.list", {})).users.some((user) => user.username === blocked)).toBe(false);
  expect(await admin.call("fs.read", { path: `/home/${blocked}` })).toMatchObject({ ok: true });
  await admin.call("fs.delete", { path: `/home/${blocked}` });
  expect(await admin.call("sys.user.create", { username: blocked, password: "long enough" })).toMatchObject({
    user: { username: blocked },
  });
});

verifies("sys.user.create:validates", async ({ root, alice }) => {
  const admin = await root();
  const count = async () => (await admin.call("sys.user.list", {})).users.length;
  const before = await count();
  await expectRefusal(admin.call("sys.user.create", { username: "Carol", password: "long enough" }), 400, /^username must match/);
  await expectRefusal(admin.call("sys.user.create", { username: "root", password: "long enough" }), 409, "User already exists: root");
  await expectRefusal(admin.call("sys.user.create", { username: "users", password: "long enough" }), 409, "Group already exists: users");
  await expectRefusal(
    admin.call("sys.user.create", { username: name("d"), password: "short" }),
    400,
    "password must be at least 8 characters",
  );
  await expectRefusal(admin.call("sys.user.create", { username: name("d"), password: "long enough", gecos: "a:b" }), 400);
  await expectRefusal(
    admin.call("sys.user.create", { username: name("d"), password: "long enough", groups: ["nope"] }),
    404,
    "Unknown group: nope",
  );
  expect(await count()).toBe(before);
  await expectRefusal(
    (await alice()).call("sys.user.create", { username: name("d"), password: "long enough" }),
    403,
    "Permission denied: sys.user.create",
  );
});

verifies("sys.user.list:root", async ({ root, alice }) => {
  const { users } = await (await root()).call("sys.user.list", {});
  expect(users.slice(0, 2)).toMatchObject([
    { uid: 0, username: "root" },
    { uid: 1000, username: "alice" },
  ]);
  expect(JSON.stringify(users)).not.toContain("$scrypt$");
  await expectRefusal((await alice()).call("sys.user.list", {}), 403, "Permission denied: sys.user.list");
});

verifies("sys.user.password:own", async ({ root, connect, raw }) => {
  const username = name("dora");
  await (await root()).call("sys.user.create", { username, password: "old password" });
  const dora = await connect({ username, password: "old password" });
  const { token } = await dora.call("sys.token.create", { kind: "user" });
  const byToken = await connect({ username, token: token.token });
  await expectRefusal(byToken.call("sys.user.password", { password: "new password" }), 401, "The current password is required");
  await expectRefusal(
    byToken.call("sys.user.password", { password: "new password", current: "wrong password" }),
    401,
    "Authentication failed",
  );
  await expectRefusal(byToken.call("sys.user.password", { password: "short", current: "old password" }), 400);
  const old = await raw();
  await old.connect({ username, password: "old password" });
  expect(await byToken.call("sys.user.password", { password: "new password", current: "old password" })).toEqual({ ok: true });
  expect(await old.closed).toEqual({ code: 1008, reason: "Credential revoked" });
  await expectRefusal(connect({ username, password: "old password" }), 401);
  await byToken.call("sys.info", {});
  const fresh = await connect({ username, password: "new password" });
  const socket = await raw();
  await socket.connect({ username, token: token.token });
  await fresh.call("sys.user.password", { password: "third password", current: "new password", revokeTokens: true });
  expect((await socket.closed).code).toBe(1008);
  await expectRefusal(connect({ username, token: token.token }), 401);
});

verifies("sys.user.password:root", async ({ root, alice, connect }) => {
  const admin = await root();
  const username = name("eve");
  await admin.call("sys.user.create", { username, password: "first password" });
  await admin.call("sys.user.password", { username, password: "second password" });
  await connect({ username, password: "second password" });
  await expectRefusal(admin.call("sys.user.password", { username: "nobody", password: "long enough" }), 404, "Unknown user: nobody");
  const client = await alice();
  await expectRefusal(
    client.call("sys.user.password", { username, password: "long enough", current: ALICE.password }),
    403,
    "Permission denied: cannot set the password of another user",
  );
  await expectRefusal(
    client.call("sys.user.password", { username: "nobody", password: "long enough", current: ALICE.password }),
    403,
    "Permission denied: cannot set the password of another user",
  );
});

verifies("sys.user.lock:closes", async ({ root, connect, raw }) => {
  const admin = await root();
  const username = name("frank");
  await admin.call("sys.user.create", { username, password: "long enough" });
  const frank = await connect({ username, password: "long enough" });
  const { token } = await frank.call("sys.token.create", { kind: "user" });
  const [one, two] = [await raw(), await raw()];
  await one.connect({ username, password: "long enough" }, { id: "one" });
  await two.connect({ username, token: token.token }, { id: "two" });
  await admin.call("sys.user.lock", { username, locked: true });
  expect([(await one.closed).code, (await two.closed).code]).toEqual([1008, 1008]);
  await expectRefusal(connect({ username, password: "long enough" }), 401, "Authentication failed");
  await expectRefusal(connect({ username, token: token.token }), 401, "Authentication failed");
  await admin.call("sys.user.lock", { username, locked: false });
  await connect({ username, password: "long enough" });
  await connect({ username, token: token.token });
  await expectRefusal(admin.call("sys.user.lock", { username: "root", locked: true }), 409);
  await expectRefusal(admin.call("sys.user.lock", { username: "nobody", locked: true }), 404);
});

verifies("sys.user.update:gecos", async ({ root, alice }) => {
  const [admin, client] = [await root(), await alice()];
  const username = name("g");
  await admin.call("sys.user.create", { username, password: "long enough" });
  expect((await admin.call("sys.user.update", { username, gecos: "Grace, of ships" })).user).toMatchObject({
    username,
    gecos: "Grace, of ships",
  });
  await expectRefusal(admin.call("sys.user.update", { username, gecos: "x:0:0:root" }), 400);
  await expectRefusal(admin.call("sys.user.update", { username, gecos: "x\nroot2:x:0:0::/:" }), 400);
  await expectRefusal(admin.call("sys.user.update", { username: "nobody", gecos: "x" }), 404, "Unknown user: nobody");
  await expectRefusal(client.call("sys.user.update", { username: "alice", gecos: "x" }), 403);
});

verifies("sys.group.create:adds", async ({ root }) => {
  const admin = await root();
  const group = name("family");
  const first = (await admin.call("sys.group.create", { name: group })).group;
  expect(first).toMatchObject({ name: group, members: [] });
  expect(first.gid).toBeGreaterThanOrEqual(200);
  await expectRefusal(admin.call("sys.group.create", { name: group }), 409, `Group already exists: ${group}`);
  await expectRefusal(admin.call("sys.group.create", { name: "Bad Name" }), 400);
  expect((await admin.call("sys.group.create", { name: name("numbered"), gid: 777 })).group.gid).toBe(777);
  await expectRefusal(admin.call("sys.group.create", { name: name("numbered"), gid: 777 }), 409, "Group already exists: 777");
  for (const gid of [0, 100, 199, 1000]) await expectRefusal(admin.call("sys.group.create", { name: name("numbered"), gid }), 400);
  await admin.call("sys.group.remove", { gid: 777 });
});

verifies("sys.group.list:lists", async ({ root }) => {
  const { groups } = await (await root()).call("sys.group.list", {});
  expect(groups.map(({ gid }) => gid)).toEqual(groups.map(({ gid }) => gid).toSorted((a, b) => a - b));
  expect(groups.find(({ gid }) => gid === 100)?.members).toEqual(expect.arrayContaining(["alice", "bob"]));
});

verifies("sys.group.members:live", async ({ root, bob }) => {
  const [admin, client] = [await root(), await bob()];
  const { gid } = (await admin.call("sys.group.create", { name: name("ops") })).group;
  await admin.call("sys.capability.grant", { gid, capability: "sys.user.list" });
  await expectRefusal(client.call("sys.user.list", {}), 403);
  expect((await admin.call("sys.group.members", { gid, members: ["bob"] })).group.members).toEqual(["bob"]);
  expect((await client.call("sys.user.list", {})).users.length).toBeGreaterThan(0);
  await admin.call("sys.group.members", { gid, members: [] });
  await expectRefusal(client.call("sys.user.list", {}), 403);
  await expectRefusal(admin.call("sys.group.members", { gid, members: ["nobody"] }), 404, "Unknown user: nobody");
  await expectRefusal(admin.call("sys.group.members", { gid: 999, members: [] }), 404, "Unknown group: 999");
  await expectRefusal(admin.call("sys.group.members", { gid: 0, members: [] }), 409);
});

verifies("sys.group.remove:live", async ({ root, bob }) => {
  const [admin, client] = [await root(), await bob()];
  const { gid } = (await admin.call("sys.group.create", { name: name("temp") })).group;
  await admin.call("sys.capability.grant", { gid, capability: "sys.group.*" });
  await admin.call("sys.group.members", { gid, members: ["bob"] });
  await client.call("sys.group.list", {});
  expect(await admin.call("sys.group.remove", { gid })).toEqual({ removed: true });
  await expectRefusal(client.call("sys.group.list", {}), 403);
  expect(await admin.call("sys.group.remove", { gid })).toEqual({ removed: false });
  for (const fixed of [0, 100, 101, 102, 1000]) await expectRefusal(admin.call("sys.group.remove", { gid: fixed }), 409);
});

verifies("sys.capability.grant:live", async ({ root, bob }) => {
  const [admin, client] = [await root(), await bob()];
  const { gid } = client.session.identity.process;
  await expectRefusal(client.call("sys.capability.list", {}), 403);
  expect(await admin.call("sys.capability.grant", { gid, capability: "sys.capability.list" })).toEqual({ changed: true });
  expect(await admin.call("sys.capability.grant", { gid, capability: "sys.capability.list" })).toEqual({ changed: false });
  await client.call("sys.capability.list", {});
  await admin.call("sys.capability.revoke", { gid, capability: "sys.capability.list" });
  await expectRefusal(client.call("sys.capability.list", {}), 403);
  await expectRefusal(admin.call("sys.capability.grant", { gid: 999, capability: "fs.*" }), 404, "Unknown group: 999");
  for (const bad of ["fs", "FS.*", "fs..read", "*.fs", "fs.*.read", "fs.read;"])
    await expectRefusal(admin.call("sys.capability.grant", { gid, capability: bad }), 400, `Invalid capability pattern: ${bad}`);
  await admin.call("sys.capability.grant", { gid, capability: "notification.mark_read" });
});

verifies("sys.capability.grant:bounded", async ({ root, connect }) => {
  const admin = await root();
  const username = name("deputy");
  const { user } = await admin.call("sys.user.create", { username, password: "long enough" });
  for (const capability of ["sys.capability.*", "sys.group.*", "sys.user.create"])
    await admin.call("sys.capability.grant", { gid: user.gid, capability });
  const deputy = await connect({ username, password: "long enough" });
  for (const capability of ["*", "sys.*", "sys.user.lock", "fs.*"])
    await expectRefusal(deputy.call("sys.capability.grant", { gid: user.gid, capability }), 403);
  await expectRefusal(deputy.call("sys.group.members", { gid: 0, members: ["root", username] }), 403);
  await expectRefusal(deputy.call("sys.user.create", { username: name("x"), password: "long enough", groups: ["root"] }), 403);
  await deputy.call("sys.capability.grant", { gid: user.gid, capability: "sys.group.list" });
});

verifies("sys.capability.revoke:stays", async ({ host, root, bob }) => {
  const admin = await root();
  expect(await admin.call("sys.capability.revoke", { gid: 100, capability: "sys.connection.list" })).toEqual({ changed: true });
  await expectRefusal((await bob()).call("sys.connection.list", {}), 403);
  await host.restart();
  await expectRefusal((await bob()).call("sys.connection.list", {}), 403);
  await (await root()).call("sys.capability.grant", { gid: 100, capability: "sys.connection.list" });
  await expectRefusal((await root()).call("sys.capability.revoke", { gid: 0, capability: "*" }), 409);
});

verifies("sys.capability.list:lists", async ({ root, bob }) => {
  const { capabilities } = await (await root()).call("sys.capability.list", {});
  expect(capabilities).toContainEqual({ gid: 0, capability: "*" });
  const { session } = await bob();
  const { gids } = session.identity.process;
  const own = [...new Set(capabilities.filter(({ gid }) => gids.includes(gid)).map(({ capability }) => capability))].toSorted();
  expect(session.syscalls).toEqual(own);
});

verifies("sys.connection.list:own", async ({ root, alice, bob, connect }) => {
  const [admin, client] = [await root(), await alice()];
  await bob();
  await connect(BOB, { id: "bobs-second", version: "9", platform: "moon" });
  const { connections } = await client.call("sys.connection.list", {});
  expect(new Set(connections.map(({ uid }) => uid))).toEqual(new Set([1000]));
  expect(connections.map(({ connectionId }) => connectionId)).toContain(client.session.server.connectionId);
  const all = (await admin.call("sys.connection.list", {})).connections;
  const second = all.find(({ clientId }) => clientId === "bobs-second");
  expect(second).toMatchObject({ role: "user", clientVersion: "9", platform: "moon", tokenId: null });
  expect(Math.abs((second?.lastHeardAt ?? 0) - Date.now())).toBeLessThan(60_000);
  expect((await admin.call("sys.connection.list", { uid: 1000 })).connections.every(({ uid }) => uid === 1000)).toBe(true);
  await expectRefusal(client.call("sys.connection.list", { uid: 1001 }), 403, "Permission denied: cannot list connections of another user");
  await expectRefusal(
    client.call("sys.connection.list", { uid: 99_999 }),
    403,
    "Permission denied: cannot list connections of another user",
  );
});
