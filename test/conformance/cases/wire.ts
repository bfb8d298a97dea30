// Frames, ids, the order of checks, idempotency keys.

import { expect } from "vitest";
import { ALICE, BOB } from "../../support/people.ts";
import { RawSocket } from "../../support/raw-socket.ts";
import { expectRefusal, verifies } from "../verifies.ts";

verifies("wire:malformed-json", async ({ raw }) => {
  const socket = await raw();
  for (const text of ["hello", "", "{", "\u{feff}{}", "nul", '{"type":"req"'] as const) {
    socket.send(text);
    expect(await socket.frame()).toEqual({ type: "res", id: "?", ok: false, error: { code: 400, message: "Malformed JSON" } });
  }
  expect((await socket.connect(ALICE)).ok).toBe(true);
});

verifies("wire:invalid-type", async ({ raw }) => {
  const socket = await raw();
  for (const text of ["{}", "[]", "null", "1", '"req"', '{"type":"event"}', '{"type":["req"]}']) {
    socket.send(text);
    expect(await socket.frame()).toEqual({ type: "res", id: "?", ok: false, error: { code: 400, message: "Invalid frame type" } });
  }
});

verifies("wire:binary-ignored", async ({ raw }) => {
  const socket = await raw();
  socket.send(new Uint8Array([1, 2, 3]));
  expect((await socket.connect(ALICE)).ok).toBe(true);
  socket.send(new TextEncoder().encode('{"type":"req","id":"b","call":"sys.info"}'));
  expect((await socket.call("sys.info", {}, "after")).id).toBe("after");
  expect(socket.unread).toBe(0);
});

verifies("wire:no-args", async ({ raw }) => {
  const socket = await raw();
  await socket.connect(ALICE);
  expect((await socket.call("sys.config.get")).ok).toBe(true);
  socket.sendFrame({ type: "req", id: "2", call: "sys.config.get", args: null });
  expect((await socket.frame()).ok).toBe(true);
  expect((await socket.call("sys.token.create")).error).toEqual({ code: 400, message: "kind must be one of: node, service, user" });
});

verifies("wire:bad-envelope", async ({ raw }) => {
  const socket = await raw();
  await socket.connect(ALICE);
  const refused = async (frame: Record<string, unknown>, id: string) => {
    socket.sendFrame({ type: "req", ...frame });
    const answer = await socket.frame();
    expect([answer.id, answer.error?.code]).toEqual([id, 400]);
  };
  await refused({ call: "sys.info" }, "?");
  await refused({ id: 7, call: "sys.info" }, "?");
  await refused({ id: "a" }, "a");
  await refused({ id: "a", call: 7 }, "a");
  await refused({ id: "a", call: "sys.info", args: [] }, "a");
  await refused({ id: "a", call: "sys.info", args: "x" }, "a");
  await refused({ id: "a", call: "sys.info", key: 7 }, "a");
  await refused({ id: "a", call: "sys.info", key: "" }, "a");
});

verifies("wire:res-unasked", async ({ raw }) => {
  const socket = await raw();
  socket.sendFrame({ type: "res", id: "1", ok: true, data: {} });
  await socket.connect(ALICE);
  socket.sendFrame({ type: "res", id: "1", ok: false, error: { code: 1, message: "x" } });
  expect((await socket.call("sys.info", {}, "next")).id).toBe("next");
  expect(socket.unread).toBe(0);
});

verifies("wire:sig-ignored", async ({ raw }) => {
  const socket = await raw();
  socket.sendFrame({ type: "sig", signal: "exec.status", payload: {} });
  await socket.connect(ALICE);
  socket.sendFrame({ type: "sig", signal: "exec.status", payload: {} });
  expect((await socket.call("sys.info", {}, "next")).id).toBe("next");
});

verifies("wire:ids-per-socket", async ({ raw }) => {
  const [one, two] = [await raw(), await raw()];
  const [a, b] = await Promise.all([one.connect(ALICE, { id: "one" }), two.connect(BOB, { id: "two" })]);
  expect([a.ok, b.ok]).toEqual([true, true]);
});

verifies("wire:unknown-call", async ({ alice, root, raw }) => {
  const [client, admin] = [await alice(), await root()];
  for (const who of [client, admin]) await expectRefusal(who.call("no.such.call", {}), 404, "Unknown syscall: no.such.call");
  for (const [kind, role] of [
    ["node", "driver"],
    ["service", "service"],
  ] as const) {
    const { token } = await admin.call("sys.token.create", { kind });
    const socket = await raw();
    const as = { id: "asks-nothing", version: "0", platform: "test", role, channel: "test" };
    const auth = { username: "root", token: token.token };
    const until = async (id: string, call: string, args = {}) => {
      socket.sendFrame({ type: "req", id, call, args });
      for (;;) {
        const frame = await socket.frame();
        if (frame.id === id) return frame;
      }
    };
    await until("in", "sys.connect", { protocol: 1, client: as, driver: { implements: ["fs.*"] }, auth });
    const answer = await until("asked", "no.such.call");
    expect(answer.error).toEqual({ code: 404, message: "Unknown syscall: no.such.call" });
    await admin.call("sys.token.revoke", { tokenId: token.tokenId });
  }
  await admin.call("sys.device.remove", { deviceId: "asks-nothing" });
});

verifies("wire:call-denied", async ({ alice }) => {
  await expectRefusal((await alice()).call("sys.user.list", {}), 403, "Permission denied: sys.user.list");
});

verifies("wire:stranger-denied", async ({ raw }) => {
  const socket = await raw();
  for (const call of ["sys.info", "sys.config.get", "sys.token.create", "no.such.call", "proc.send"]) {
    expect((await socket.call(call, { kind: 7 })).error).toEqual({ code: 403, message: "Must call sys.connect first" });
  }
});

verifies("wire:setup-mode", async ({ fresh, raw }) => {
  const socket = await raw(await fresh());
  for (const call of ["sys.info", "sys.config.get", "no.such.call"]) {
    expect((await socket.call(call)).error).toEqual({
      code: 425,
      message: "Setup required",
      details: { setupMode: true, next: "sys.setup" },
    });
  }
});

verifies("wire:unknown-args-dropped", async ({ alice, raw }) => {
  const client = await alice();
  const claims = { uid: 0, role: "root", capabilities: ["*"], approved: true, isRoot: true, owner: true, gids: [0] };
  const socket = await raw();
  const client0 = { id: "claims", version: "0", platform: "test", ...claims };
  const refused = await socket.call("sys.connect", { protocol: 1, client: client0, auth: { ...ALICE, ...claims }, ...claims });
  expect(refused.error?.code, "a role that does not exist is refused, not believed").toBe(103);
  const again = await socket.call("sys.connect", {
    protocol: 1,
    client: { ...client0, role: "user" },
    auth: { ...ALICE, ...claims },
    ...claims,
  });
  expect(again.data?.identity).toEqual(client.session.identity);
  const { approved, isRoot, owner, gids } = claims;
  await expectRefusal(client.call("sys.config.set", { key: "config/x", value: "1", approved, isRoot, owner, gids } as never), 403);
});

verifies("wire:wrong-arg-named", async ({ root }) => {
  const client = await root();
  await expectRefusal(client.call("sys.config.get", { key: 7 } as never), 400, "key must be a string");
  await expectRefusal(client.call("sys.token.list", { uid: -1 }), 400, "uid must be a non-negative integer");
  await expectRefusal(client.call("sys.user.lock", { username: "bob" } as never), 400, "locked is required");
  await expectRefusal(client.call("sys.group.members", { gid: 100, members: [1] } as never), 400, "members.0 must be a string");
});

verifies("wire:key-repeats", async ({ alice }) => {
  const client = await alice();
  const before = (await client.call("sys.token.list", {})).tokens.length;
  const first = await client.call("sys.token.create", { kind: "node", label: "keyed" }, { key: "repeat-me" });
  const second = await client.call("sys.token.create", { kind: "node", label: "keyed" }, { key: "repeat-me" });
  expect(second).toEqual(first);
  const other = await alice();
  expect(await other.call("sys.token.create", { kind: "node", label: "keyed" }, { key: "repeat-me" })).toEqual(first);
  expect((await client.call("sys.token.list", {})).tokens.length).toBe(before + 1);
});

verifies("wire:key-conflict", async ({ alice }) => {
  const client = await alice();
  await client.call("sys.config.set", { key: `users/${client.session.identity.process.uid}/ai/a`, value: "1" }, { key: "once" });
  await expectRefusal(
    client.call("sys.config.set", { key: `users/${client.session.identity.process.uid}/ai/a`, value: "2" }, { key: "once" }),
    409,
  );
});

verifies("wire:key-per-user", async ({ alice, bob }) => {
  const [one, two] = [await alice(), await bob()];
  const a = await one.call("sys.token.create", { kind: "node" }, { key: "shared" });
  const b = await two.call("sys.token.create", { kind: "node" }, { key: "shared" });
  expect(a.token.tokenId).not.toBe(b.token.tokenId);
});

verifies("wire:restart-keeps", async ({ host, alice, root, connect }) => {
  const client = await alice();
  const { token } = await client.call("sys.token.create", { kind: "user", label: "kept" });
  await (await root()).call("sys.config.set", { key: "config/test/kept", value: "yes\u0000é\u{1f680}" });
  await host.restart();
  const again = await connect({ username: ALICE.username, token: token.token });
  expect((await again.call("sys.config.get", { key: "config/test/kept" })).entries).toEqual([
    { key: "config/test/kept", value: "yes\u0000é\u{1f680}" },
  ]);
});

verifies("wire:health", async ({ host }) => {
  const healthz = await fetch(`${host.url}/healthz`);
  expect([healthz.status, ((await healthz.json()) as { status: string }).status]).toEqual([200, "ok"]);
  expect(await (await fetch(`${host.url}/health`)).json()).toEqual({ status: "healthy" });
  expect((await fetch(`${host.url}/no/such/page`)).status).toBe(404);
  expect(healthz.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
});

verifies("wire:other-origin", async ({ host }) => {
  await expect(RawSocket.open(host.url, { origin: "https://evil.example" })).rejects.toThrow("403");
  await expect(RawSocket.open(host.url, { origin: "null" })).rejects.toThrow("403");
  const own = await RawSocket.open(host.url, { origin: host.url });
  own.close();
});
