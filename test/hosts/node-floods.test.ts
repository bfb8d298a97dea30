// Attempts of peers to exhaust a Node gateway's memory: each costs the sender its own socket, and others do not notice.

import { readdirSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import type { Client } from "../../src/client/client.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import type { Host } from "../support/host.ts";
import { startNodeHost } from "../support/node-host.ts";
import { ALICE, BOB, enter, populate, ROOT } from "../support/people.ts";
import { RawSocket } from "../support/raw-socket.ts";

test("a flood of pings from a peer that does not read does not fill memory with pongs", async () => {
  const host = await startNodeHost();
  await populate(host);
  const alice = await enter(host, ALICE);
  // With an identity, because a stranger has only ten seconds, which is short on a busy machine.
  const socket = await openSocket(host, "flood", (await alice.call("sys.token.create", { kind: "user" })).token.token);
  let pongs = 0;
  socket.on("pong", () => pongs++);
  socket.on("message", () => pongs++);
  socket.pause();
  const sent = 100_000;
  for (let at = 1; at <= sent; at++) {
    if (at % 2 === 0) socket.ping(Buffer.alloc(125));
    else socket.send("ping");
    if (at % 10_000 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await expect.poll(() => socket.bufferedAmount).toBe(0);
  socket.resume();
  // Once the peer has read them, pings are answered again, after all earlier answers.
  let isAnswered = false;
  socket.on("pong", (data: Buffer) => (isAnswered ||= data.toString() === "again"));
  await expect.poll(() => (socket.ping("again"), isAnswered)).toBe(true);
  // The operating system's own buffers are out of our control.
  expect(pongs).toBeLessThan(sent / 2);
  socket.terminate();
  alice.close();
  await host.close();
});

test("a stranger that sends requests and reads nothing is disconnected after few answers", async () => {
  const host = await startNodeHost();
  const socket = await RawSocket.open(host.url);
  socket.pause();
  const frame = JSON.stringify({ type: "req", id: "x".repeat(LIMITS.requestIdBytes), call: "sys.info" });
  const flood = setInterval(() => {
    for (let at = 0; at < 1_000; at++) socket.send(frame);
  }, 5);
  // Not at the end: by then its own time to authenticate may be over.
  const elsewhere = await RawSocket.open(host.url);
  elsewhere.send("ping");
  expect(await elsewhere.text()).toBe("pong");
  elsewhere.close();
  const timeout = new Promise((resolve) => setTimeout(resolve, 120_000, "still open"));
  expect(await Promise.race([socket.closed, timeout])).toMatchObject({ code: 1006 });
  clearInterval(flood);
  await host.close();
});

test("endless messages do not exhaust memory, and a complete large one is accepted", async () => {
  const host = await startNodeHost();
  await populate(host);
  const alice = await enter(host, ALICE);
  const { token } = (await alice.call("sys.token.create", { kind: "user" })).token;
  const parked = await Promise.all(Array.from({ length: 12 }, (_, at) => openSocket(host, `d${at}`, token)));
  for (const socket of parked) socket.send("x".repeat(30 * 1024 * 1024), { fin: false });
  const openCount = () => parked.filter((socket) => socket.readyState === WebSocket.OPEN).length;
  await expect.poll(openCount).toBeLessThan(9);
  const big = await RawSocket.open(host.url);
  await big.connect(BOB, { id: "big" });
  big.sendFrame({ type: "req", id: "big", call: "sys.info", args: { image: "A".repeat(30 * 1024 * 1024) } });
  expect((await big.frame()).ok).toBe(true);
  expect(openCount()).toBeGreaterThan(5);
  for (const socket of parked) socket.terminate();
  big.close();
  alice.close();
  await host.close();
});

test("tiny fragments count with the memory they hold, and a large message may have many fragments", async () => {
  const host = await startNodeHost();
  await populate(host);
  const alice = await enter(host, ALICE);
  const { token } = (await alice.call("sys.token.create", { kind: "user" })).token;
  const fragmented = await openSocket(host, "cut", token);
  const closed = new Promise((resolve) => fragmented.once("close", resolve));
  const pong = Buffer.concat([Buffer.from([0x8a, 0x80 | 125]), Buffer.alloc(4 + 125)]);
  const filling = Buffer.concat(Array.from({ length: 600 }, () => pong));
  const younger = await openSocket(host, "younger", token);
  for (let at = 0; at < 4_000 && fragmented.readyState === WebSocket.OPEN; at++) {
    if (at === 10) younger.send("x".repeat(30 * 1024 * 1024), { fin: false });
    fragmented.send("x", { fin: false });
    await new Promise((resolve) => (fragmented as WebSocket & { _socket: Socket })._socket.write(filling, resolve));
  }
  await closed;
  expect(younger.readyState).toBe(WebSocket.OPEN);

  const honest = await openSocket(host, "honest", token);
  const pieces = LIMITS.fragmentsPerMessage;
  const answered = new Promise((resolve) => honest.once("message", (data: Buffer) => resolve(data.toString())));
  for (let at = 1; at <= pieces; at++) honest.send("x".repeat(LIMITS.frameInBytes / pieces), { fin: at === pieces });
  expect(await answered).toContain("Malformed JSON");

  const stranger = new WebSocket(`${host.url.replace("http", "ws")}/ws`);
  await new Promise((resolve) => stranger.once("open", resolve));
  const refused = new Promise((resolve) => stranger.once("close", resolve));
  for (let at = 0; at < 100; at++) stranger.send("x", { fin: false });
  expect(await refused).toBe(1008);
  for (const socket of [younger, honest]) socket.terminate();
  alice.close();
  await host.close();
});

async function openSocket(host: Host, id: string, token: string): Promise<WebSocket> {
  const socket = new WebSocket(`${host.url.replace("http", "ws")}/ws`, { perMessageDeflate: false });
  socket.on("error", () => {});
  await new Promise((resolve) => socket.once("open", resolve));
  const args = { protocol: 1, client: { id, role: "user" }, auth: { username: ALICE.username, token } };
  socket.send(JSON.stringify({ type: "req", id: "1", call: "sys.connect", args }));
  await new Promise((resolve) => socket.once("message", resolve));
  return socket;
}

test("a client that requests more than it reads is slowed down but not disconnected", async () => {
  const host = await startNodeHost();
  await populate(host);
  const alice = await enter(host, ALICE);
  await alice.call("fs.write", { path: "large.txt", content: "x".repeat(3 * 1024 * 1024) });
  await alice.call("sys.config.set", { key: "users/1000/ai/large", value: "x".repeat(1024 * 1024) });
  const socket = await RawSocket.open(host.url);
  await socket.connect(ALICE, { id: "slow" });
  socket.pause();
  // Far more than a socket may leave unread.
  const requests = 160;
  for (let at = 0; at < requests; at++) {
    if (at % 2 === 0) socket.sendFrame({ type: "req", id: `${at}`, call: "fs.read", args: { path: "large.txt" } });
    else socket.sendFrame({ type: "req", id: `${at}`, call: "sys.config.get", args: { key: "users/1000/ai/large" } });
  }
  // Others are served meanwhile.
  for (let at = 0; at < 20; at++) await alice.call("sys.info", {});
  socket.resume();
  for (let at = 0; at < requests; at++) expect((await socket.frame()).ok).toBe(true);
  socket.close();
  alice.close();
  await host.close();
});

test("two users who keep every thread busy do not block a third user's command", async () => {
  const host = await startNodeHost();
  await populate(host);
  const root = await enter(host, ROOT);
  await root.call("sys.config.set", { key: "config/shell/timeout_ms", value: String(10 * 60_000) });
  const busy = [await enter(host, ALICE), await enter(host, BOB)];
  // None of them ends by itself, so waiting for one would never succeed.
  const start = (client: Client, at: number) =>
    client.call("shell.exec", { input: `mkdir -p begun; touch begun/${at}; sleep 600`, wait: 0 });
  await Promise.all(busy.flatMap((client) => Array.from({ length: 6 }, (_, at) => start(client, at))));
  const startedCount = async (client: Client) => {
    const listed = await client.call("fs.read", { path: "begun" });
    return listed.ok && "files" in listed ? listed.files.length : 0;
  };
  // Each of them has as many threads as it may have.
  await expect.poll(() => Promise.all(busy.map(startedCount))).toEqual([4, 4]);
  expect(await root.call("shell.exec", { input: "echo hi", wait: 60_000 })).toMatchObject({ status: "completed", output: "hi\n" });
  await host.close();
});

test("a command that seeks far into a file uses no memory for it", async () => {
  const host = await startNodeHost();
  await populate(host);
  const bob = await enter(host, BOB);
  const before = process.memoryUsage().rss;
  const ran = await bob.call("shell.exec", { input: "dd if=/dev/zero of=far bs=1 count=1 seek=900M; ls -l far" });
  expect(ran).toMatchObject({ output: expect.stringMatching(/exceeds the file size limit of a command[^]*No such file/) });
  expect(process.memoryUsage().rss - before).toBeLessThan(800 * 1024 * 1024);
  await host.close();
});

test("a user with many concurrent searches and listings does not starve others", async () => {
  const host = await startNodeHost();
  await populate(host);
  const [alice, bob] = [await enter(host, ALICE), await enter(host, BOB)];
  await Promise.all(Array.from({ length: 1_000 }, (_, at) => bob.call("fs.write", { path: `many/${at}`, content: `${at}` })));
  for (const ask of [() => bob.call("fs.search", { path: "many", query: "nothing" }), () => bob.call("fs.read", { path: "many" })]) {
    let done = 0;
    const flood = Array.from({ length: 60 }, () => ask().then(() => done++));
    await expect.poll(() => done, { interval: 1 }).toBeGreaterThan(0);
    const before = done;
    await alice.call("fs.read", { path: "/etc/passwd" });
    expect(done - before).toBeLessThan(50);
    await Promise.all(flood);
  }
  await host.close();
});

test("the content of a large file is deleted with it, so that overwriting one repeatedly does not fill the disk", async () => {
  const host = await startNodeHost();
  try {
    await populate(host);
    const alice = await enter(host, ALICE);
    const root = await enter(host, ROOT);
    const blobs = () => readdirSync(join(host.home, "blobs"));
    for (let at = 0; at < 10; at++) await alice.call("fs.write", { path: "~/large", content: String(at).repeat(100_000) });
    await expect.poll(() => blobs().length).toBe(1);
    await alice.call("fs.write", { path: "~/same", content: "9".repeat(100_000) });
    await alice.call("fs.delete", { path: "~/large" });
    const kept = await alice.call("fs.read", { path: "~/same", limit: 1 });
    expect(kept).toMatchObject({ ok: true });
    await alice.call("fs.delete", { path: "~/same" });
    await expect.poll(blobs).toEqual([]);
    // Writes refused by a quota leave nothing behind either, however many arrive at once.
    const { uid } = alice.session.identity.process;
    await root.call("sys.config.set", { key: `config/files/user_quota_bytes/${uid}`, value: 150_000 });
    const tries = Array.from({ length: 8 }, (_, at) =>
      alice.call("fs.write", { path: `~/at-once-${at}`, content: `${at}`.repeat(100_000) }),
    );
    expect((await Promise.all(tries)).filter(({ ok }) => ok)).toHaveLength(1);
    await expect.poll(() => blobs().length).toBe(1);
    alice.close();
    root.close();
  } finally {
    await host.close();
  }
});
