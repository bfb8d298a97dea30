// Sizes, counts and deadlines of the wire, each at its limit.

import { expect } from "vitest";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { ALICE, populate, ROOT } from "../../support/people.ts";
import { expectRefusal, verifies } from "../verifies.ts";

verifies("wire:id-length", async ({ raw }) => {
  const socket = await raw();
  await socket.connect(ALICE);
  const longest = "é".repeat(64);
  expect((await socket.call("sys.info", {}, longest)).id).toBe(longest);
  expect(await socket.call("sys.info", {}, `${longest}x`)).toMatchObject({ id: "?", error: { code: 400 } });
  expect(await socket.call("sys.info", {}, "")).toMatchObject({ id: "?", error: { code: 400 } });
});

verifies("wire:stranger-frame-size", async ({ raw }) => {
  const frame = (bytes: number) => {
    const bare = JSON.stringify({ type: "req", id: "1", call: "sys.info", args: { x: "" } });
    return bare.replace('""', `"${"x".repeat(bytes - bare.length)}"`);
  };
  const fits = await raw();
  fits.send(frame(64 * 1024));
  expect((await fits.frame()).error?.code).toBe(403);
  const over = await raw();
  over.send(frame(64 * 1024 + 1));
  expect((await over.closed).code).toBe(1009);
  const wide = await raw();
  wide.send(frame(30 * 1024).replace(/x{2,}/, (text) => "é".repeat(text.length + 4 * 1024)));
  expect((await wide.closed).code).toBe(1009);
});

verifies("wire:large-frame", async ({ raw }) => {
  const socket = await raw();
  await socket.connect(ALICE);
  socket.sendFrame({ type: "req", id: "big", call: "sys.info", args: { image: "A".repeat(20 * 1024 * 1024) } });
  expect((await socket.frame()).ok).toBe(true);
});

verifies("wire:giant-result", async ({ fresh, connect }) => {
  const host = await fresh();
  await populate(host);
  const root = await connect(ROOT, {}, host);
  const value = "x".repeat(LIMITS.configValueBytes);
  const keys = Array.from({ length: LIMITS.frameOutBytes / LIMITS.configValueBytes + 1 }, (_, at) => `config/giant/${at}`);
  await Promise.all(keys.map((key) => root.call("sys.config.set", { key, value })));
  await expectRefusal(root.call("sys.config.get", { key: "config/giant" }), 413, /^Result too large/);
  expect((await root.call("sys.config.get", { key: "config/giant/0" })).entries[0]?.value).toBe(value);
});

verifies("wire:depth", async ({ raw }) => {
  const socket = await raw();
  await socket.connect(ALICE);
  // The frame itself is one level and args another.
  const nested = (levels: number) =>
    `{"type":"req","id":"1","call":"sys.info","args":{"x":${"[".repeat(levels - 2)}${"]".repeat(levels - 2)}}}`;
  socket.send(nested(64));
  expect((await socket.frame()).ok).toBe(true);
  socket.send(nested(65));
  expect(await socket.frame()).toMatchObject({ id: "?", error: { code: 413 } });
  socket.send("[".repeat(1_000_000));
  expect(await socket.frame()).toMatchObject({ id: "?", error: { code: 413 } });
});

verifies("wire:tokens", async ({ raw }) => {
  const socket = await raw();
  await socket.connect(ALICE);
  // Brackets, separators and strings: 15 for the envelope, "x" and its colon, the array, and one comma fewer than numbers.
  const frame = (numbers: number) => `{"type":"req","id":"1","call":"sys.info","args":{"x":[${"1,".repeat(numbers - 1)}1]}}`;
  const envelope = 2 + 15 + 3;
  socket.send(frame(100_000 - envelope));
  expect((await socket.frame()).ok).toBe(true);
  socket.send(frame(100_002));
  expect(await socket.frame()).toMatchObject({ id: "?", error: { code: 413 } });
  socket.sendFrame({ type: "req", id: "2", call: "sys.info", args: { x: '[,{":'.repeat(200_000) } });
  expect((await socket.frame()).ok).toBe(true);
});

verifies("wire:lone-surrogate", async ({ raw }) => {
  const socket = await raw();
  await socket.connect(ROOT);
  for (const escape of ["\\ud800", "\\uDC00", "a\\udbffb"]) {
    socket.send(`{"type":"req","id":"1","call":"sys.config.set","args":{"key":"config/surrogate/lone","value":"${escape}"}}`);
    expect(await socket.frame()).toMatchObject({ id: "1", error: { code: 400 } });
  }
  socket.send('{"type":"req","id":"2","call":"sys.config.set","args":{"key":"config/surrogate/pair","value":"\\ud83d\\ude80"}}');
  expect((await socket.frame()).ok).toBe(true);
  const read = await socket.call("sys.config.get", { key: "config/surrogate" });
  expect(read.data).toEqual({ entries: [{ key: "config/surrogate/pair", value: "\u{1f680}" }] });
});

verifies("wire:proto-key", async ({ raw }) => {
  const socket = await raw();
  await socket.connect(ALICE);
  for (const key of ["__proto__", "\\u005f_proto__", "__prot\\u006f__"]) {
    socket.send(`{"type":"req","id":"1","call":"sys.info","args":{"${key}":{"polluted":true}}}`);
    expect(await socket.frame()).toMatchObject({ id: "1", error: { code: 400, message: "Reserved key: __proto__" } });
    socket.send(`{"type":"req","id":"2","call":"sys.info","${key}":{"polluted":true}}`);
    expect(await socket.frame()).toMatchObject({ error: { code: 400 } });
  }
  expect((await socket.call("sys.info", { constructor: { prototype: { polluted: true } } })).ok).toBe(true);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

verifies("wire:id-in-flight", async ({ host, raw }) => {
  const socket = await raw();
  await socket.connect(ROOT);
  const slow = { type: "req", id: "same", call: "sys.user.password", args: { username: "nobody", password: "long enough" } };
  socket.sendFrame(slow);
  socket.sendFrame(slow);
  const codes = [(await socket.frame()).error?.code, (await socket.frame()).error?.code];
  // A Durable Object hashes without accepting the next request, so there the first is no longer in flight.
  expect(codes).toEqual(host.name === "cloudflare" ? [404, 404] : [409, 404]);
  socket.sendFrame(slow);
  expect(await socket.frame()).toMatchObject({ id: "same", error: { code: 404 } });
});

verifies("wire:in-flight-limit", async ({ alice, raw }) => {
  // A device that never answers: requests to it stay in flight.
  const { token } = await (await alice()).call("sys.token.create", { kind: "node", allowedDeviceId: "silent" });
  const device = await raw();
  const client = { id: "silent", version: "0", platform: "test", role: "driver" };
  const driver = { implements: ["fs.read"] };
  await device.call("sys.connect", { protocol: 1, client, driver, auth: { username: ALICE.username, token: token.token } });
  const socket = await raw();
  await socket.connect(ALICE);
  for (let at = 0; at < LIMITS.inFlightPerSocket + 6; at++)
    socket.sendFrame({ type: "req", id: String(at), call: "fs.read", args: { target: "silent", path: "a" } });
  const refused = [];
  for (let at = 0; at < 6; at++) refused.push(await socket.frame());
  for (const { error } of refused) expect(error).toMatchObject({ code: 429, retryable: true });
  expect(refused.map(({ id }) => Number(id))).toEqual(Array.from({ length: 6 }, (_, at) => LIMITS.inFlightPerSocket + at));
  socket.terminate();
  device.terminate();
});

verifies("wire:expensive", async ({ alice, root, raw }) => {
  const greedy = { username: "greedy", password: "wants it all" };
  await (await root()).call("sys.user.create", greedy);
  const socket = await raw();
  await socket.connect(greedy);
  const most = LIMITS.expensiveCallsAtOnce + LIMITS.expensiveCallsWaiting;
  for (let at = 0; at < most + 100; at++)
    socket.sendFrame({ type: "req", id: String(at), call: "proc.approval.preview", args: { call: "fs.read", args: { path: "a" } } });
  let done = 0;
  for (;;) {
    const { ok, error } = await socket.frame();
    if (ok === true) done++;
    else {
      expect(error).toMatchObject({ code: 429, retryable: true, details: { retryAfterMs: expect.any(Number) } });
      break;
    }
  }
  expect(done).toBeLessThan(most);
  expect(await (await alice()).call("proc.approval.preview", { call: "fs.read", args: { path: "a" } })).toMatchObject({ action: "auto" });
  // Waiting calls end with the socket.
  socket.terminate();
});

verifies("wire:ping", async ({ raw }) => {
  const socket = await raw();
  socket.send("ping");
  expect(await socket.text()).toBe("pong");
  await socket.connect(ALICE);
  socket.send("ping");
  expect(await socket.text()).toBe("pong");
});

verifies(
  "wire:handshake-deadline",
  async ({ raw }) => {
    // The gateway counts from when it accepts the sockets, which this side may learn late.
    const started = Date.now();
    const [silent, chatty] = [await raw(), await raw()];
    // Local workerd reports the close of a socket that has never sent anything late.
    silent.send("ping");
    const chat = setInterval(() => chatty.send("ping"), 1_000);
    const [one, two] = await Promise.all([silent.closed, chatty.closed]);
    clearInterval(chat);
    expect([one.code, two.code]).toEqual([1008, 1008]);
    expect(Date.now() - started).toBeGreaterThan(9_000);
  },
  { waits: true },
);
