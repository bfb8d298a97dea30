// Devices: the real daemon, connected to the gateway under test, and the answers through it.

import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Calls, Client } from "../../../src/client/client.ts";
import { plugIn } from "../../support/devices.ts";
import { ALICE, populate, ROOT } from "../../support/people.ts";
import type { RawSocket } from "../../support/raw-socket.ts";
import { expectRefusal, refusal, verifies } from "../verifies.ts";

type Result = Calls["shell.exec"]["result"];

let made = 0;
const name = (prefix: string) => `${prefix}-${made++}`;
const run = (client: Client, target: string, input: string, more: { cwd?: string } = {}) =>
  client.call("shell.exec", { target, input, ...more });

/** Polls a command until it ends, however slow the machine is; returns all its output. */
async function pollToEnd(client: Client, first: Result): Promise<Result> {
  let [result, output] = [first, first.output];
  while (result.status === "running") {
    result = await client.call("shell.exec", { sessionId: result.sessionId, input: "" });
    output += result.output;
  }
  return { ...result, output };
}

verifies("sys.device.list:visible", async ({ host, alice, bob, root }) => {
  const [client, other, admin] = [await alice(), await bob(), await root()];
  const deviceId = name("lap");
  const device = await plugIn(host, client, deviceId);
  const ids = async (who: Client, includeOffline = false) =>
    (await who.call("sys.device.list", { includeOffline })).devices.map((one) => one.deviceId).filter((id) => id === deviceId);
  expect(await ids(client)).toEqual([deviceId]);
  expect(await ids(other, true)).toEqual([]);
  expect(await ids(admin)).toEqual([deviceId]);
  device.close();
  await expect.poll(() => ids(client)).toEqual([]);
  expect(await ids(client, true)).toEqual([deviceId]);
});

verifies("sys.device.get:hidden", async ({ host, alice, bob }) => {
  const [client, other] = [await alice(), await bob()];
  const device = await plugIn(host, client, name("lap"));
  const { deviceId } = device;
  expect(await client.call("sys.device.get", { deviceId })).toMatchObject({
    device: { deviceId, ownerUid: 1000, online: true, implements: ["fs.*", "shell.*", "sys.vitals"], disconnectedAt: null },
  });
  expect(await other.call("sys.device.get", { deviceId })).toEqual({ device: null });
  expect(await other.call("sys.device.get", { deviceId: "nobodys" })).toEqual({ device: null });
  device.close();
});

verifies("sys.device.get:address", async ({ host, alice, bob, root }) => {
  const [client, other, admin] = [await alice(), await bob(), await root()];
  const device = await plugIn(host, client, name("lap"));
  const { deviceId } = device;
  await client.call("sys.device.grant", { deviceId, gid: 100 });
  const addressFor = async (who: Client) => (await who.call("sys.device.get", { deviceId })).address;
  expect(await addressFor(client)).toMatch(/./);
  expect(await addressFor(admin)).toBe(await addressFor(client));
  expect(await addressFor(other)).toBeUndefined();
  device.close();
  await expect.poll(() => addressFor(client)).toBeNull();
});

verifies("sys.device.list:shared", async ({ host, alice, bob, root }) => {
  const [client, other, admin] = [await alice(), await bob(), await root()];
  const device = await plugIn(host, client, name("lap"));
  const { deviceId } = device;
  await client.call("sys.device.grant", { deviceId, gid: 100 });
  const gidsFor = async (who: Client) => (await who.call("sys.device.list", {})).devices.find((one) => one.deviceId === deviceId)!.gids;
  expect(await gidsFor(client)).toEqual([100]);
  expect(await gidsFor(admin)).toEqual([100]);
  expect(await gidsFor(other)).toBeUndefined();
  device.close();
});

verifies("sys.vitals:device", async ({ host, alice, bob }) => {
  const [client, other] = [await alice(), await bob()];
  const device = await plugIn(host, client, name("lap"));
  const target = device.deviceId;
  const vitals = await client.call("sys.vitals", { target });
  expect(vitals).toMatchObject({ arch: process.arch, memory: { totalBytes: expect.any(Number) }, disk: { freeBytes: expect.any(Number) } });
  expect(vitals.system).toMatch(/./);
  await expectRefusal(other.call("sys.vitals", { target }), 403);
  device.close();
  const offline = async () => (await client.call("sys.device.get", { deviceId: target })).device?.online;
  await expect.poll(offline).toBe(false);
  await expectRefusal(client.call("sys.vitals", { target }), 503);
});

verifies("sys.device.update:description", async ({ host, alice, bob }) => {
  const [client, other] = [await alice(), await bob()];
  const device = await plugIn(host, client, name("lap"));
  const { deviceId } = device;
  const { device: described } = await client.call("sys.device.update", { deviceId, description: `  ${"x".repeat(6000)}` });
  expect(described?.description).toBe("x".repeat(500));
  expect(await client.call("fs.read", { path: `/sys/devices/${deviceId}/description` })).toMatchObject({ ok: true });
  expect(await other.call("sys.device.update", { deviceId, description: "mine" })).toEqual({ device: null });
  await client.call("sys.device.grant", { deviceId, gid: 100 });
  await expectRefusal(other.call("sys.device.update", { deviceId, description: "mine" }), 403);
  device.close();
});

verifies("sys.device.grant:group", async ({ host, alice, bob }) => {
  const [client, other] = [await alice(), await bob()];
  const device = await plugIn(host, client, name("lap"));
  const { deviceId } = device;
  const use = () => other.call("fs.read", { target: deviceId, path: "." });
  await expectRefusal(use(), 403, `Access denied to device: ${deviceId}`);
  expect(await client.call("sys.device.grant", { deviceId, gid: 100 })).toEqual({ changed: true, gids: [100] });
  expect(await use()).toMatchObject({ ok: true });
  await expectRefusal(other.call("sys.device.grant", { deviceId, gid: 100 }), 403);
  expect(await client.call("sys.device.revoke", { deviceId, gid: 100 })).toEqual({ changed: true, gids: [] });
  await expectRefusal(use(), 403, `Access denied to device: ${deviceId}`);
  device.close();
});

verifies("sys.device.grant:signal", async ({ host, alice, bob }) => {
  const [client, other] = [await alice(), await bob()];
  const first = await plugIn(host, client, name("lap"));
  const { deviceId } = first;
  const seen: unknown[] = [];
  other.onSignal(({ signal, payload }) => {
    const { event, device } = payload as { event: string; device: { deviceId: string } };
    if (signal === "device.status" && device.deviceId === deviceId) seen.push(event);
  });
  await client.call("sys.device.grant", { deviceId, gid: 100 });
  first.close();
  await expect.poll(() => seen).toEqual(["disconnected"]);
  const again = await plugIn(host, client, deviceId);
  await expect.poll(() => seen).toEqual(["disconnected", "connected"]);
  again.close();
});

verifies("sys.group.remove:devices", async ({ host, alice, bob, root }) => {
  const [client, other, admin] = [await alice(), await bob(), await root()];
  const device = await plugIn(host, client, name("lap"));
  const { deviceId } = device;
  const { group } = await admin.call("sys.group.create", { name: name("crew") });
  await admin.call("sys.group.members", { gid: group.gid, members: ["alice"] });
  await client.call("sys.device.grant", { deviceId, gid: group.gid });
  await admin.call("sys.group.remove", { gid: group.gid });
  const { group: next } = await admin.call("sys.group.create", { name: name("others") });
  expect(next.gid).toBe(group.gid);
  await admin.call("sys.group.members", { gid: next.gid, members: ["bob"] });
  await expectRefusal(other.call("fs.read", { target: deviceId, path: "." }), 403);
  device.close();
});

verifies("fs.read:device-meaning", async ({ host, alice, bob, root }) => {
  const [client, admin, other] = [await alice(), await root(), await bob()];
  const deviceId = name("lap");
  const [mine, roots] = [await plugIn(host, client, deviceId), await plugIn(host, admin, deviceId)];
  await client.call("sys.device.grant", { deviceId, gid: 100 });
  const read = (target: string) => other.call("fs.read", { target, path: "." });
  const seen = async () =>
    (await other.call("sys.device.list", {})).devices.map((one) => one.deviceId).filter((id) => id.includes(deviceId));
  expect([await read(deviceId), await seen()]).toMatchObject([{ path: mine.workspace }, [deviceId]]);
  await admin.call("sys.device.grant", { deviceId, gid: 100 });
  await expectRefusal(read(deviceId), 409);
  await client.call("sys.device.remove", { deviceId });
  // Only one is left, and the name did not refer to it.
  await expectRefusal(read(deviceId), 409, `${deviceId} meant alice@${deviceId} when you last used it: use root@${deviceId} for this one`);
  expect([await seen(), await read(`root@${deviceId}`)]).toMatchObject([[`root@${deviceId}`], { path: roots.workspace }]);
  await expectRefusal(read(deviceId), 409);
  for (const device of [mine, roots]) device.close();
});

verifies("sys.device.revoke:unknown", async ({ host, alice, bob, root }) => {
  const [client, other] = [await alice(), await bob()];
  const device = await plugIn(host, client, name("lap"));
  const { deviceId } = device;
  await expectRefusal(client.call("sys.device.revoke", { deviceId: "nobodys", gid: 100 }), 404, "Unknown device: nobodys");
  await expectRefusal(other.call("sys.device.revoke", { deviceId, gid: 100 }), 404, `Unknown device: ${deviceId}`);
  // A group that the owner is not in, such as another user's own, answers like one that does not exist.
  for (const gid of [9999, 1001, 101])
    expect(await refusal(client.call("sys.device.grant", { deviceId, gid }))).toMatchObject({
      code: 404,
      message: expect.stringMatching(`^Unknown group: ${gid}\\. `),
    });
  expect(await (await root()).call("sys.device.grant", { deviceId, gid: 1001 })).toEqual({ changed: true, gids: [1001] });
  device.close();
});

verifies("sys.device.remove:forgets", async ({ host, alice, bob }) => {
  const [client, other] = [await alice(), await bob()];
  const device = await plugIn(host, client, name("lap"));
  const { deviceId } = device;
  expect(await other.call("sys.device.remove", { deviceId })).toEqual({ removed: false });
  expect(await client.call("sys.device.remove", { deviceId })).toEqual({ removed: true });
  expect(await client.call("sys.device.get", { deviceId })).toEqual({ device: null });
  await expectRefusal(client.call("fs.read", { target: deviceId, path: "." }), 403);
  device.close();
});

verifies("fs.read:device", async ({ host, alice }) => {
  const client = await alice();
  const device = await plugIn(host, client, name("lap"));
  const target = device.deviceId;
  writeFileSync(join(device.workspace, "a.txt"), "one\ntwo\n");
  const path = join(device.workspace, "a.txt");
  expect(await client.call("fs.read", { target, path: "a.txt" })).toEqual({
    ok: true,
    path,
    content: "     1\tone\n     2\ttwo",
    lines: 2,
    size: 8,
  });
  expect(await client.call("fs.read", { target, path })).toMatchObject({ ok: true, path });
  expect(await client.call("fs.read", { target, path: "." })).toEqual({
    ok: true,
    path: device.workspace,
    files: ["a.txt"],
    directories: [],
  });
  expect(await client.call("fs.search", { target, query: "two" })).toMatchObject({
    count: 1,
    matches: [{ path, line: 2, content: "two" }],
  });
  expect(await client.call("fs.read", { target, path: "nope" })).toMatchObject({ ok: false, error: expect.stringMatching(/^Not found: /) });
  // A link to a file with secrets is not followed; naming that file directly works.
  writeFileSync(join(device.workspace, "server.key"), "secret\n");
  symlinkSync("server.key", join(device.workspace, "readme.md"));
  const linked = { ok: false, error: expect.stringMatching(/readme\.md leads through a link to .*server\.key/) };
  expect(await client.call("fs.read", { target, path: "readme.md" })).toMatchObject(linked);
  expect(await client.call("fs.read", { target, path: "server.key" })).toMatchObject({ ok: true, content: "     1\tsecret" });
  // The same path on the gateway is another file.
  expect(await client.call("fs.read", { path })).toMatchObject({ ok: false });
  device.close();
});

verifies("fs.write:device", async ({ host, alice }) => {
  const client = await alice();
  const device = await plugIn(host, client, name("lap"));
  const target = device.deviceId;
  const file = join(device.workspace, "deep/er/x.txt");
  expect(await client.call("fs.write", { target, path: "deep/er/x.txt", content: "hällo\n" })).toEqual({ ok: true, path: file, size: 7 });
  expect(readFileSync(file, "utf8")).toBe("hällo\n");
  expect(await client.call("fs.edit", { target, path: file, oldString: "hällo", newString: "bye" })).toMatchObject({ replacements: 1 });
  expect(readFileSync(file, "utf8")).toBe("bye\n");
  expect(await client.call("fs.edit", { target, path: file, oldString: "zzz", newString: "" })).toMatchObject({ ok: false });
  expect(await client.call("fs.delete", { target, path: "deep" })).toMatchObject({ ok: true });
  expect(existsSync(file)).toBe(false);
  expect(await client.call("fs.delete", { target, path: "deep" })).toMatchObject({ ok: false });
  device.close();
});

verifies("fs.read:device-refusals", async ({ host, alice, bob, root, raw }) => {
  const [client, other, admin] = [await alice(), await bob(), await root()];
  const deviceId = name("lap");
  const read = (who: Client, target: string) => who.call("fs.read", { target, path: "." });
  await expectRefusal(read(client, "nobodys"), 403, "Access denied to device: nobodys");
  await expectRefusal(read(admin, "nobodys"), 503, "Device offline: nobodys");
  const device = await plugIn(host, client, deviceId);
  device.close();
  await expect.poll(async () => (await client.call("sys.device.get", { deviceId })).device?.online).toBe(false);
  await expectRefusal(read(client, deviceId), 503, `Device offline: ${deviceId}`);
  await expectRefusal(read(other, deviceId), 403, `Access denied to device: ${deviceId}`);
  const socket = await raw();
  const { token } = await client.call("sys.token.create", { kind: "node", allowedDeviceId: deviceId });
  await socket.call("sys.connect", {
    protocol: 1,
    client: { id: deviceId, version: "0", platform: "test", role: "driver" },
    driver: { implements: ["fs.write"] },
    auth: { username: "alice", token: token.token },
  });
  await expectRefusal(read(client, deviceId), 400, `Device ${deviceId} does not implement fs.read`);
  socket.close();
});

verifies("fs.read:device-gone", async ({ alice, raw }) => {
  const client = await alice();
  const deviceId = name("mute");
  const { token } = await client.call("sys.token.create", { kind: "node", allowedDeviceId: deviceId });
  const connect = async () => {
    const socket = await raw();
    await drive(socket, deviceId, token.token);
    return socket;
  };
  for (const [call, message] of [
    ["fs.read", `Device disconnected: ${deviceId}`],
    ["fs.write", `Device disconnected: ${deviceId}. It is not known whether the call ran`],
  ] as const) {
    const socket = await connect();
    const asked = refusal(client.call(call, { target: deviceId, path: "x", content: "" }));
    await expect.poll(async () => (await socket.frame()).type).toBe("req");
    socket.terminate();
    expect(await asked).toMatchObject({ code: 503, message });
  }
});

verifies("fs.read:device-forged", async ({ alice, bob, raw }) => {
  const [client, other] = [await alice(), await bob()];
  const plug = async (owner: Client, username: string) => {
    const deviceId = name("raw");
    const { token } = await owner.call("sys.token.create", { kind: "node", allowedDeviceId: deviceId });
    const socket = await raw();
    await drive(socket, deviceId, token.token, username);
    return { deviceId, socket };
  };
  const [mine, theirs] = [await plug(client, "alice"), await plug(other, "bob")];
  const answer = client.call("fs.read", { target: mine.deviceId, path: "x" });
  let asked = await mine.socket.frame();
  while (asked.type !== "req") asked = await mine.socket.frame();
  const { id } = asked as { id: string };
  const data = (content: string) => ({ type: "res", id, ok: true, data: { ok: true, path: "/x", content, size: 1, lines: 1 } });
  theirs.socket.sendFrame(data("forged"));
  // Sent after it on the same socket: once this is answered, the forged one was processed.
  theirs.socket.send("ping");
  while ((await theirs.socket.text()) !== "pong");
  mine.socket.sendFrame(data("true"));
  mine.socket.sendFrame(data("twice"));
  expect(await answer).toMatchObject({ content: "true" });
  for (const { socket } of [mine, theirs]) socket.close();
});

verifies("shell.exec:device", async ({ host, alice }) => {
  const client = await alice();
  const device = await plugIn(host, client, name("lap"), 30_000);
  const target = device.deviceId;
  expect(await pollToEnd(client, await run(client, target, "pwd; echo err >&2; exit 3"))).toEqual({
    status: "failed",
    exitCode: 3,
    error: "Command exited with code 3",
    output: `${device.workspace}\nerr\n`,
  });
  expect(await pollToEnd(client, await run(client, target, "echo $GSV_DEVICE", { cwd: "/" }))).toMatchObject({
    status: "completed",
    output: `${target}\n`,
  });
  expect(await run(client, target, "x", { cwd: "no/such" })).toMatchObject({
    status: "failed",
    error: expect.stringMatching(/^Not found: /),
  });
  expect(await run(client, target, " ")).toMatchObject({ status: "failed", error: "input must not be empty" });
  device.close();
});

verifies("shell.exec:device-terminal", async ({ host, alice }) => {
  const client = await alice();
  const device = await plugIn(host, client, name("lap"));
  const target = device.deviceId;
  const tty = { cols: 70, rows: 22 };
  const command = await client.call("shell.exec", {
    target,
    tty,
    until: "output",
    input: "stty size; trap 'exit 3' INT; echo ready; read x",
  });
  if (command.status !== "running") throw new Error(JSON.stringify(command));
  const { sessionId } = command;
  const look = async (wanted: string, seen = "") => {
    while (!seen.includes(wanted)) seen += (await client.call("shell.exec", { sessionId, input: "", until: "output" })).output;
    return seen;
  };
  expect(await look("ready", command.output)).toContain("22 70\r\n");
  await client.call("shell.exec", { sessionId, input: "", resize: { cols: 50, rows: 10 }, until: "sent" });
  let last = await client.call("shell.exec", { sessionId, input: "\u0003" });
  while (last.status === "running") last = await client.call("shell.exec", { sessionId, input: "" });
  expect(last).toMatchObject({ status: "failed", exitCode: 3 });
  // The user's login shell.
  const shell = await client.call("shell.exec", { target, tty, input: "", until: "sent" });
  if (shell.status !== "running") throw new Error(JSON.stringify(shell));
  last = await client.call("shell.exec", { sessionId: shell.sessionId, input: "exit 8\n" });
  while (last.status === "running") last = await client.call("shell.exec", { sessionId: shell.sessionId, input: "" });
  expect(last).toMatchObject({ exitCode: 8 });
  device.close();
});

verifies("shell.exec:device-signal", async ({ host, alice }) => {
  const client = await alice();
  const device = await plugIn(host, client, name("lap"), 30_000);
  const target = device.deviceId;
  const begun = await client.call("shell.exec", { target, input: "sleep 1000 & echo $!; wait", until: "output" });
  if (begun.status !== "running") throw new Error(JSON.stringify(begun));
  const { sessionId } = begun;
  let last = await client.call("shell.exec", { sessionId, input: "", signal: "TERM" });
  while (last.status === "running") last = await client.call("shell.exec", { sessionId, input: "" });
  expect(last).toMatchObject({ status: "failed", exitCode: 143, error: "Command was ended by SIGTERM" });
  await expect.poll(() => existsSync(`/proc/${begun.output.trim()}`)).toBe(false);
  device.close();
});

verifies("shell.exec:device-foreign", async ({ host, alice, bob, root }) => {
  const [client, other, admin] = [await alice(), await bob(), await root()];
  const device = await plugIn(host, client, name("lap"));
  const target = device.deviceId;
  await client.call("sys.device.grant", { deviceId: target, gid: 100 });
  const mine = await run(client, target, "read line; echo got $line");
  if (mine.status !== "running") throw new Error(JSON.stringify(mine));
  const { sessionId } = mine;
  const steal = (id: string) => other.call("shell.exec", { target, sessionId: id, input: "stolen\n" });
  await expectRefusal(steal(sessionId), 404, `Unknown session on ${target}: ${sessionId}`);
  await expectRefusal(steal("sh_nothing"), 404, `Unknown session on ${target}: sh_nothing`);
  expect(await admin.call("shell.exec", { target, sessionId, input: "", wait: 0 })).toMatchObject({ status: "running" });
  let last = await client.call("shell.exec", { sessionId, input: "mine\n" });
  while (last.status === "running") last = await client.call("shell.exec", { sessionId, input: "" });
  expect(last).toMatchObject({ status: "completed", output: "got mine\n" });
  device.close();
});

verifies("shell.list:device", async ({ host, alice, bob, root }) => {
  const [client, other, admin] = [await alice(), await bob(), await root()];
  const device = await plugIn(host, client, name("lap"));
  const target = device.deviceId;
  await client.call("sys.device.grant", { deviceId: target, gid: 100 });
  const ids: string[] = [];
  for (const who of [client, other]) {
    const begun = await run(who, target, "read line");
    if (begun.status === "running") ids.push(begun.sessionId);
  }
  const listed = async (who: Client) => (await who.call("shell.list", { target })).sessions;
  expect(await listed(client)).toEqual([
    {
      sessionId: ids[0],
      command: "read line",
      cwd: device.workspace,
      startedAt: expect.any(Number),
      state: "running",
      pid: expect.any(Number),
    },
  ]);
  expect((await listed(other)).map(({ sessionId }) => sessionId)).toEqual([ids[1]]);
  expect((await listed(admin)).map(({ sessionId }) => sessionId)).toEqual(ids);
  for (const sessionId of ids) await admin.call("shell.exec", { target, sessionId, input: "", signal: "KILL", until: "sent" });
  await expect.poll(async () => (await listed(client)).map(({ state }) => state)).toEqual(["ended"]);
  device.close();
});

verifies("shell.exec:device-session", async ({ host, alice, bob }) => {
  const [client, other] = [await alice(), await bob()];
  const device = await plugIn(host, client, name("lap"));
  const target = device.deviceId;
  const until = async (sessionId: string, input: string) => pollToEnd(client, await client.call("shell.exec", { sessionId, input }));
  const asked = await run(client, target, "read line; echo got $line; read more; echo end");
  if (asked.status !== "running") throw new Error(JSON.stringify(asked));
  const { sessionId } = asked;
  expect(await other.call("shell.exec", { sessionId, input: "stolen\n" })).toMatchObject({ status: "failed" });
  await expectRefusal(client.call("shell.exec", { target: "elsewhere", sessionId, input: "" }), 400);
  expect(await client.call("shell.exec", { sessionId, input: "mine\n", until: "output" })).toMatchObject({
    status: "running",
    output: "got mine\n",
  });
  expect(await until(sessionId, "more\n")).toMatchObject({ status: "completed", exitCode: 0, output: "end\n" });
  const endless = await run(client, target, "sleep 100");
  if (endless.status !== "running") throw new Error(JSON.stringify(endless));
  expect(await until(endless.sessionId, "\u0003")).toMatchObject({ status: "failed", exitCode: 130, error: "Interrupted" });
  device.close();
});

verifies("shell.exec:device-vanished", async ({ host, alice, bob }) => {
  const [client, other] = [await alice(), await bob()];
  const device = await plugIn(host, client, name("lap"));
  const target = device.deviceId;
  await client.call("sys.device.grant", { deviceId: target, gid: 100 });
  const begin = async (who: Client) => {
    const begun = await run(who, target, "read line; echo got $line");
    if (begun.status !== "running") throw new Error(JSON.stringify(begun));
    return begun.sessionId;
  };
  const [sessionId, theirs] = [await begin(client), await begin(other)];
  const poll = (who = client, id = sessionId, more: object = {}) => who.call("shell.exec", { sessionId: id, input: "", ...more });
  const isOnline = async () => (await client.call("sys.device.get", { deviceId: target })).device?.online;
  device.client.close();
  await expect.poll(isOnline).toBe(false);
  const lost = { status: "failed", output: "", sessionId, error: expect.stringMatching(`^Device disconnected: ${target}`) };
  expect(await poll()).toEqual(lost);
  // It accepts no input, and a follower must retry. If a target is named, the client gives the call a key.
  for (const more of [{ after: 0 }, { target }, { signal: "TERM" }, { input: "x" }])
    await expectRefusal(poll(client, sessionId, more), 503, `Device offline: ${target}`);
  // For others there is no such session.
  expect(await poll(other)).toMatchObject({ status: "failed", error: expect.stringMatching(/^No such session/) });
  await expectRefusal(poll(other, sessionId, { target }), 404);
  // Gone for good: removed, or no longer shared. Users who ran something there learn no more than that.
  const gone = (id: string) => ({ ...lost, sessionId: id, error: expect.stringMatching(`^Device gone: ${target} `) });
  await client.call("sys.device.revoke", { deviceId: target, gid: 100 });
  const denied = await poll(other, theirs);
  expect(denied).toEqual(gone(theirs));
  await expectRefusal(poll(other, theirs, { input: "x" }), 403, `Access denied to device: ${target}`);
  expect(await client.call("sys.device.remove", { deviceId: target })).toEqual({ removed: true });
  for (const more of [{}, { after: 0 }, { target }]) expect(await poll(client, sessionId, more)).toEqual(gone(sessionId));
  expect(await poll(other, theirs)).toEqual(denied);
  // A new device under the same name is asked, and does not know the session.
  const next = await plugIn(host, client, target);
  expect(await poll()).toMatchObject({ status: "failed", error: expect.stringMatching(/^No such session/) });
  next.close();
  device.close();
});

verifies("shell.exec:background", async ({ host, alice }) => {
  const client = await alice();
  const device = await plugIn(host, client, name("lap"));
  for (const target of ["gsv", device.deviceId]) {
    const begun = await client.call("shell.exec", { target, input: "echo begun; read line; echo got $line", background: true });
    expect(begun).toEqual({ status: "running", sessionId: expect.any(String), output: "" });
    if (begun.status !== "running") return;
    // For a running command, both arguments apply to one poll.
    const { sessionId } = begun;
    const seen = await client.call("shell.exec", { sessionId, input: "", until: "output", background: true, yieldMs: 30_000 });
    expect(seen).toMatchObject({ status: "running", output: "begun\n" });
    expect(await pollToEnd(client, await client.call("shell.exec", { sessionId, input: "x\n" }))).toMatchObject({ output: "got x\n" });
    const endless = await client.call("shell.exec", { target, input: "sleep 1000", yieldMs: 1, timeout: 0 });
    if (endless.status !== "running") throw new Error(JSON.stringify(endless));
    await pollToEnd(client, await client.call("shell.exec", { sessionId: endless.sessionId, input: "\u0003" }));
    // Longer than this device waits by default.
    expect(await client.call("shell.exec", { target, input: "sleep 0.6; echo late", yieldMs: 1_000_000 })).toMatchObject({
      status: "completed",
      output: "late\n",
    });
  }
  device.close();
});

verifies("shell.exec:device-key", async ({ host, alice, bob, raw }) => {
  const [client, other] = [await alice(), await bob()];
  const device = await plugIn(host, client, name("lap"));
  const target = device.deviceId;
  const log = join(device.workspace, "log");
  const append = { target, input: "echo x >> log; cat log | wc -l" };
  const once = { key: name("key") };
  const first = await client.call("shell.exec", append, once);
  expect(await client.call("shell.exec", append, once)).toEqual(first);
  await pollToEnd(client, first);
  expect(await client.call("shell.exec", append, once)).toEqual(first);
  expect(readFileSync(log, "utf8")).toBe("x\n");
  await expectRefusal(client.call("shell.exec", { ...append, input: "echo y >> log" }, once), 409, "This key was used for another request");
  await client.call("sys.device.grant", { deviceId: target, gid: 100 });
  await pollToEnd(other, await other.call("shell.exec", append, once));
  expect(readFileSync(log, "utf8")).toBe("x\nx\n");
  // A target without a ledger accepts no key, and does nothing.
  expect(await refusal(client.call("shell.exec", { input: "echo no" }, once))).toMatchObject({ code: 400, details: { takesKey: false } });
  const mute = name("mute");
  const { token } = await client.call("sys.token.create", { kind: "node", allowedDeviceId: mute });
  const socket = await raw();
  await drive(socket, mute, token.token);
  const write = { target: mute, path: "x", content: "" };
  expect(await refusal(client.call("fs.write", write, once))).toMatchObject({ code: 400, details: { takesKey: false } });
  device.close();
});

verifies("shell.exec:device-repeat", async ({ host, alice, connect, raw }) => {
  const client = await alice();
  const device = await plugIn(host, client, name("lap"));
  const target = device.deviceId;
  const { token } = await client.call("sys.token.create", { kind: "user" });
  const args = { target, input: "echo begun >> log; read line; echo $line >> log" };
  const key = name("key");
  const socket = await raw();
  await socket.connect({ username: "alice", token: token.token });
  socket.sendFrame({ type: "req", id: "7", call: "shell.exec", args, key });
  await expect.poll(() => existsSync(join(device.workspace, "log"))).toBe(true);
  socket.terminate();
  const back = await connect({ username: "alice", token: token.token });
  const again = await back.call("shell.exec", args, { key });
  if (again.status !== "running") throw new Error(JSON.stringify(again));
  await pollToEnd(back, await back.call("shell.exec", { sessionId: again.sessionId, input: "end\n" }));
  expect(readFileSync(join(device.workspace, "log"), "utf8")).toBe("begun\nend\n");
  device.close();
});

verifies("shell.exec:status", async ({ host, alice, bob, raw }) => {
  const [client, second, other] = [await alice(), await alice(), await bob()];
  const device = await plugIn(host, client, name("lap"));
  const seen = [client, second, other].map((who) => {
    const events: Record<string, unknown>[] = [];
    who.onSignal(({ signal, payload }) => signal === "exec.status" && events.push(payload));
    return events;
  });
  const asked = await run(client, device.deviceId, "read line; exit 3");
  if (asked.status !== "running") throw new Error(JSON.stringify(asked));
  const { sessionId } = asked;
  await expect.poll(() => seen[0]!.map(({ event }) => event)).toEqual(["started"]);
  // Another device reports that the command has ended.
  const forger = name("forger");
  const { token } = await client.call("sys.token.create", { kind: "node", allowedDeviceId: forger });
  const socket = await raw();
  await drive(socket, forger, token.token);
  socket.sendFrame({ type: "sig", signal: "exec.status", payload: { eventId: "e", sessionId, event: "finished", exitCode: 0 } });
  socket.send("ping");
  while ((await socket.text()) !== "pong");
  await pollToEnd(client, await client.call("shell.exec", { sessionId, input: "go\n" }));
  const told = [
    { deviceId: device.deviceId, sessionId, event: "started" },
    { deviceId: device.deviceId, sessionId, event: "failed", exitCode: 3 },
  ];
  await expect.poll(() => seen[0]).toMatchObject(told);
  await expect.poll(() => seen[1]).toMatchObject(told);
  expect(seen[2]).toEqual([]);
  // Another user's device under the id of a removed one reports nothing about its commands.
  const left = await run(client, device.deviceId, "read line");
  await expect.poll(() => seen[0]).toHaveLength(3);
  await client.call("sys.device.remove", { deviceId: device.deviceId });
  const { token: theirs } = await other.call("sys.token.create", { kind: "node", allowedDeviceId: device.deviceId });
  const heir = await raw();
  await drive(heir, device.deviceId, theirs.token, "bob");
  const forged = { eventId: "f", sessionId: (left as { sessionId: string }).sessionId, event: "finished", outputTail: "forged" };
  heir.sendFrame({ type: "sig", signal: "exec.status", payload: forged });
  heir.send("ping");
  while ((await heir.text()) !== "pong");
  // A later answer on the same connection shows that no signal came before it.
  await client.call("sys.info", {});
  expect(seen[0]).toHaveLength(3);
  heir.close();
  device.close();
});

verifies("fs.read:device-capability", async ({ fresh, connect }) => {
  const host = await fresh();
  await populate(host);
  const root = await connect(ROOT, {}, host);
  const client = await connect(ALICE, {}, host);
  const device = await plugIn(host, client, name("lap"));
  await root.call("sys.capability.revoke", { gid: 100, capability: "fs.write" });
  const write = () => client.call("fs.write", { target: device.deviceId, path: "x", content: "" });
  await expectRefusal(write(), 403, "Permission denied: fs.write");
  expect(existsSync(join(device.workspace, "x"))).toBe(false);
  device.close();
});

verifies(
  "fs.read:device-timeout",
  async ({ alice, raw }) => {
    const client = await alice();
    const deviceId = name("mute");
    const { token } = await client.call("sys.token.create", { kind: "node", allowedDeviceId: deviceId });
    const socket = await raw();
    await drive(socket, deviceId, token.token);
    // The device is connected but never answers.
    const alive = setInterval(() => socket.send("ping"), 2_000);
    const ends = [
      refusal(client.call("fs.read", { target: deviceId, path: "x" })),
      refusal(client.call("fs.write", { target: deviceId, path: "x", content: "" })),
    ];
    const timedOut = (call: string) => `Syscall timed out: ${call} on ${deviceId}`;
    expect(await Promise.all(ends)).toEqual([
      { code: 504, message: timedOut("fs.read"), details: undefined },
      {
        code: 504,
        message: `${timedOut("fs.write")}. It is not known whether the call ran`,
        details: { outcome: "unknown" },
      },
    ]);
    clearInterval(alive);
    socket.close();
  },
  { waits: true },
);

function drive(socket: RawSocket, deviceId: string, token: string, username = "alice"): Promise<unknown> {
  return socket.call("sys.connect", {
    protocol: 1,
    client: { id: deviceId, version: "0", platform: "test", role: "driver" },
    driver: { implements: ["fs.*", "shell.exec"] },
    auth: { username, token },
  });
}
