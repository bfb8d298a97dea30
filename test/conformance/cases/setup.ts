// sys.setup: the first user.

import { expect } from "vitest";
import type { Connection } from "../../../src/client/client.ts";
import type { Host } from "../../support/host.ts";
import { ALICE } from "../../support/people.ts";
import { expectRefusal, verifies } from "../verifies.ts";

type SetupArgs = Parameters<Connection["call"]>[1];

const code = (host: Host) => (host.setupCode === null ? {} : { code: host.setupCode });

verifies("sys.setup:first-user", async ({ fresh, line, connect }) => {
  const host = await fresh();
  const socket = await line(host);
  const result = await socket.call("sys.setup", { ...ALICE, ...code(host) });
  expect(result).toEqual({
    user: { uid: 1000, gid: 1000, gids: [100, 1000], username: "alice", home: "/home/alice", cwd: "/home/alice", workspaceId: null },
    rootLocked: false,
  });
  await expectRefusal(socket.call("sys.info", {}), 403, "Must call sys.connect first");
  // If no root password is given, root gets the first user's.
  const root = await connect({ username: "root", password: ALICE.password }, {}, host);
  expect(root.session.syscalls).toEqual(["*"]);
  const { groups } = await root.call("sys.group.list", {});
  expect(groups).toEqual([
    { gid: 0, name: "root", members: ["root"] },
    { gid: 100, name: "users", members: ["alice"] },
    { gid: 101, name: "drivers", members: [] },
    { gid: 102, name: "services", members: [] },
    { gid: 1000, name: "alice", members: [] },
  ]);
});

verifies("sys.setup:once", async ({ line }) => {
  const socket = await line();
  await expectRefusal(socket.call("sys.setup", { username: "mallory", password: "long enough" }), 409, "System already initialized");
  await expectRefusal(socket.call("sys.setup", {} as never), 409, "System already initialized");
});

verifies("sys.setup:race", async ({ fresh, line }) => {
  const host = await fresh();
  const lines = await Promise.all([line(host), line(host), line(host)]);
  const outcomes = await Promise.allSettled(
    lines.map((socket, at) => socket.call("sys.setup", { username: `user${at}`, password: "long enough", ...code(host) })),
  );
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const outcome of outcomes)
    if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: 409, message: "System already initialized" });
});

verifies("sys.setup:bootstrap", async ({ fresh, line }) => {
  const host = await fresh();
  const socket = await line(host);
  const bootstrap = { repo: "deploy/here", ref: "main" };
  await expectRefusal(
    socket.call("sys.setup", { ...ALICE, ...code(host), bootstrap }),
    400,
    "bootstrap is not supported: this gateway has no packages to import. Leave it out",
  );
  expect((await socket.call("sys.setup", { ...ALICE, ...code(host), bootstrap: { ref: "" } })).user.username).toBe(ALICE.username);
});

verifies("sys.setup:validates", async ({ fresh, line }) => {
  const host = await fresh();
  const socket = await line(host);
  const refused = (args: SetupArgs, message: string) =>
    expectRefusal(socket.call("sys.setup", { ...args, ...code(host) } as never), 400, message);
  await refused({ password: "long enough" }, "username is required");
  await refused({ username: " ", password: "long enough" }, "username is required");
  await refused({ username: "Alice", password: "long enough" }, "username must match ^[a-z_][a-z0-9_-]{0,31}$");
  await refused({ username: "a:b", password: "long enough" }, "username must match ^[a-z_][a-z0-9_-]{0,31}$");
  await refused({ username: "alice" }, "password is required");
  await refused({ username: "alice", password: "short" }, "password must be at least 8 characters");
  await refused({ username: "alice", password: "   short   " }, "password must be at least 8 characters");
  await refused({ username: "alice", password: "x".repeat(257) }, "password must be at most 256 bytes");
  await refused({ ...ALICE, rootPassword: "short" }, "rootPassword must be at least 8 characters");
  await refused({ ...ALICE, timezone: "Mars/Olympus" }, "timezone must be a valid IANA timezone");
  await refused({ ...ALICE, ai: { baseUrl: "file:///etc" } }, "ai.baseUrl must be a URL like http://127.0.0.1:8080/v1");
  await refused({ ...ALICE, node: {} }, "node.deviceId is required");
  await refused({ ...ALICE, node: { deviceId: " " } }, "node.deviceId is required");
  await refused({ ...ALICE, node: { deviceId: "x", expiresAt: 1 } }, "node.expiresAt must be in the future");
  await expectRefusal(socket.call("sys.info", {}), 425);
});

verifies("sys.setup:options", async ({ fresh, line, connect, raw }) => {
  const host = await fresh();
  const { nodeToken } = await (
    await line(host)
  ).call("sys.setup", {
    ...ALICE,
    rootPassword: "another one",
    timezone: "Europe/Berlin",
    ai: { provider: "openai", model: "some-model", apiKey: "sk-secret", baseUrl: "https://models.example.com/v1" },
    node: { deviceId: "laptop", firstUseWithinMs: 3_600_000 },
    ...code(host),
  });
  expect(nodeToken).toMatchObject({ uid: 1000, kind: "node", label: "node:laptop", allowedRole: "driver", allowedDeviceId: "laptop" });
  expect([nodeToken?.expiresAt, nodeToken!.endsUnusedAt! - nodeToken!.createdAt]).toEqual([null, 3_600_000]);
  const root = await connect({ username: "root", password: "another one" }, {}, host);
  const value = async (key: string) => (await root.call("sys.config.get", { key })).entries[0]?.value;
  expect(await value("config/server/timezone")).toBe("Europe/Berlin");
  expect(await value("config/ai/provider")).toBe("openai");
  expect(await value("config/ai/model")).toBe("some-model");
  expect(await value("config/ai/api_key")).toBe("sk-secret");
  expect(await value("config/ai/base_url")).toBe("https://models.example.com/v1");
  const driver = await (
    await raw(host)
  ).call("sys.connect", {
    protocol: 1,
    client: { id: "laptop", version: "0", platform: "test", role: "driver" },
    driver: { implements: ["fs.*"] },
    auth: { username: "alice", token: nodeToken?.token },
  });
  expect(driver.type === "sig" || driver.ok).toBeTruthy();
});

verifies("sys.setup:ai-alone", async ({ fresh, line, connect }) => {
  const host = await fresh();
  await (await line(host)).call("sys.setup", { ...ALICE, ai: { provider: "openai" }, ...code(host) });
  const root = await connect({ username: "root", password: ALICE.password }, {}, host);
  const { entries } = await root.call("sys.config.get", { key: "config/ai/provider" });
  expect(entries).toEqual([{ key: "config/ai/provider", value: "openai" }]);
});

verifies("sys.setup:connected", async ({ alice }) => {
  await expectRefusal((await alice()).call("sys.setup", { username: "mallory", password: "long enough" }), 409, "Already connected");
});

verifies("sys.setup:code", async ({ fresh, line }) => {
  const host = await fresh();
  const socket = await line(host);
  if (host.setupCode === null) {
    // A gateway that only this machine can reach requires no code, and ignores one.
    expect((await socket.call("sys.setup", { ...ALICE, code: "WHATEVER" })).user.username).toBe("alice");
    return;
  }
  await expectRefusal(socket.call("sys.setup", ALICE), 403, /Setup code required/);
  await expectRefusal(socket.call("sys.setup", { ...ALICE, code: "AAAA-BBBB-CCCC" }), 403, /Setup code required/);
  for (let at = 0; at < 4; at++) await socket.call("sys.setup", { ...ALICE, code: "AAAA-BBBB-CCCC" }).catch(() => {});
  await expectRefusal(socket.call("sys.setup", { ...ALICE, code: "AAAA-BBBB-CCCC" }), 429, /Too many attempts/);
  expect((await socket.call("sys.setup", { ...ALICE, code: host.setupCode.toLowerCase() })).user.username).toBe("alice");
});
