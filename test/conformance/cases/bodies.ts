// Bodies: files of any size between clients, the gateway and real devices.

import { createHash, randomBytes } from "node:crypto";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import type { IncomingBody, OutgoingBody } from "../../../src/hardware/body.ts";
import { BODY_CHUNK_BYTES, BODY_WINDOW_BYTES } from "../../../src/protocol/body.ts";
import { plugIn } from "../../support/devices.ts";
import { ALICE } from "../../support/people.ts";
import { RawSocket } from "../../support/raw-socket.ts";
import { expectRefusal, verifies } from "../verifies.ts";

let made = 0;
const name = (prefix: string) => `${prefix}-${made++}`;
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

function outgoing(bytes: Uint8Array): OutgoingBody {
  return { size: bytes.length, version: "", mode: 0o644, read: async (start, end) => bytes.subarray(start, end) };
}

function collector(): { incoming: IncomingBody; bytes: () => Buffer } {
  const chunks: Uint8Array[] = [];
  const incoming = { have: 0, read: async () => new Uint8Array(), write: async (chunk: Uint8Array) => void chunks.push(chunk) };
  return { incoming, bytes: () => Buffer.concat(chunks) };
}

async function downloadBytes(client: Client, place: { path: string; target?: string }): Promise<Buffer> {
  const { incoming, bytes } = collector();
  const answer = await client.download(place, async () => incoming);
  expect(answer).toMatchObject({ ok: true, sha256: sha256(bytes()), size: bytes().length });
  return bytes();
}

function put(client: Client, place: { path: string; target?: string; tag?: string }, bytes: Uint8Array) {
  return client.upload({ ...place, size: bytes.length }, outgoing(bytes));
}

verifies("fs.upload:bytes", async ({ host, alice }) => {
  const client = await alice();
  const device = await plugIn(host, client, name("lap"));
  const bytes = randomBytes(3 * BODY_CHUNK_BYTES + 17);
  for (const content of [bytes, bytes.subarray(0, 100), new Uint8Array()]) {
    expect(await put(client, { path: "~/up.bin" }, content)).toEqual({
      ok: true,
      path: "/home/alice/up.bin",
      size: content.length,
      sha256: sha256(content),
      received: content.length,
    });
    expect((await downloadBytes(client, { path: "~/up.bin" })).equals(content)).toBe(true);
    expect(await put(client, { target: device.deviceId, path: "deep/er/up.bin" }, content)).toMatchObject({ ok: true });
    expect(readFileSync(join(device.workspace, "deep/er/up.bin")).equals(content)).toBe(true);
    const run = name("run");
    for (const place of [{ path: `~/${run}` }, { target: device.deviceId, path: run }])
      await client.upload({ ...place, size: content.length, mode: 0o755 }, outgoing(content));
    expect(await client.call("shell.exec", { input: `stat -c %a ~/${run}` })).toMatchObject({ output: "755\n" });
    expect(statSync(join(device.workspace, run)).mode & 0o777).toBe(0o755);
  }
  device.close();
});

verifies("fs.upload:resumes", async ({ host, alice }) => {
  const client = await alice();
  const device = await plugIn(host, client, name("lap"));
  const bytes = randomBytes(12 * 1024 * 1024);
  const half = outgoing(bytes);
  const breaking: OutgoingBody = {
    ...half,
    read: async (start, end) => {
      if (start >= 9 * 1024 * 1024) throw new Error("the disk was pulled out");
      return half.read(start, end);
    },
  };
  for (const place of [{ path: "~/big.bin" }, { target: device.deviceId, path: "big.bin" }]) {
    const args = { ...place, size: bytes.length, tag: "big-1" };
    await expect(client.upload(args, breaking)).rejects.toThrow("the disk was pulled out");
    const again = await client.upload(args, outgoing(bytes));
    expect(again).toMatchObject({ ok: true, sha256: sha256(bytes) });
    expect((again as { received: number }).received).toBeLessThan(bytes.length / 2);
    expect((await downloadBytes(client, place)).equals(bytes)).toBe(true);
  }
  expect(readdirSync(device.workspace)).toEqual(["big.bin"]);
  device.close();
});

verifies("fs.upload:checked", async ({ host, alice }) => {
  const client = await alice();
  const device = await plugIn(host, client, name("lap"));
  const old = Buffer.from("the old one");
  for (const place of [{ path: "~/checked.bin" }, { target: device.deviceId, path: "checked.bin" }]) {
    await put(client, place, old);
    const socket = await RawSocket.open(host.url);
    await socket.connect(ALICE, { id: name("raw") });
    const send = async (size: number, bytes: Uint8Array, announced: string) => {
      const id = name("q");
      socket.sendFrame({ type: "req", id, call: "fs.upload", args: { ...place, size, body: 7 } });
      expect(await socket.frame()).toMatchObject({ type: "sig", signal: "body", payload: { id: 7, kind: "more", from: 0 } });
      socket.send(Buffer.concat([Buffer.from([7, 0, 0, 0]), bytes]));
      socket.sendFrame({ type: "sig", signal: "body", payload: { id: 7, kind: "end", sha256: announced } });
      for (;;) {
        const frame = await socket.frame();
        if (frame.type === "res") return frame.data as { ok: boolean; error?: string };
      }
    };
    const bytes = randomBytes(1_000);
    expect((await send(1_000, bytes, sha256(old))).error).toMatch(/checksums differ/);
    expect((await send(1_001, bytes, sha256(bytes))).error).toMatch(/ended after 1000 of 1001 bytes/);
    expect((await send(999, bytes, sha256(bytes))).error).toMatch(/more/i);
    expect(await downloadBytes(client, place)).toEqual(old);
    expect((await send(1_000, bytes, sha256(bytes))).ok).toBe(true);
    socket.close();
  }
  expect(readdirSync(device.workspace)).toEqual(["checked.bin"]);
  device.close();
});

verifies("fs.upload:rights", async ({ alice, bob }) => {
  const [client, other] = [await alice(), await bob()];
  await put(client, { path: "/home/alice/mine.bin" }, randomBytes(100_000));
  const large = randomBytes(200_000);
  const refused = { ok: false, error: "Permission denied: /home/alice/mine.bin" };
  expect(await put(other, { path: "/home/alice/mine.bin" }, large)).toEqual(refused);
  expect(await other.download({ path: "/home/alice/mine.bin" }, async () => collector().incoming)).toMatchObject({ ok: false });
  expect(await put(client, { path: "/etc/new.bin" }, large)).toMatchObject({ ok: false });
});

verifies("fs.download:bytes", async ({ host, alice }) => {
  const client = await alice();
  const device = await plugIn(host, client, name("lap"));
  const large = randomBytes(9 * 1024 * 1024 + 5);
  writeFileSync(join(device.workspace, "large.bin"), large);
  writeFileSync(join(device.workspace, "empty"), "");
  expect((await downloadBytes(client, { target: device.deviceId, path: "large.bin" })).equals(large)).toBe(true);
  expect(await downloadBytes(client, { target: device.deviceId, path: "empty" })).toEqual(Buffer.alloc(0));
  expect((await downloadBytes(client, { path: "/etc/passwd" })).toString()).toMatch(/^root:/);
  const both = await Promise.all([1, 2, 3].map(() => downloadBytes(client, { target: device.deviceId, path: "large.bin" })));
  for (const one of both) expect(sha256(one)).toBe(sha256(large));
  device.close();
});

verifies("fs.download:window", async ({ host, alice }) => {
  const client = await alice();
  const device = await plugIn(host, client, name("lap"));
  writeFileSync(join(device.workspace, "large.bin"), randomBytes(BODY_WINDOW_BYTES * 2));
  const socket = await RawSocket.open(host.url);
  await socket.connect(ALICE, { id: name("raw") });
  let came = 0;
  socket.onBytes = (bytes) => (came += bytes.length - 4);
  const nextNote = async () => (await socket.frame()).payload as { kind: string; size: number };
  socket.sendFrame({ type: "req", id: "d", call: "fs.download", args: { target: device.deviceId, path: "large.bin", body: 3 } });
  expect(await nextNote()).toMatchObject({ id: 3, kind: "begin", size: BODY_WINDOW_BYTES * 2 });
  const more = (until: number) => socket.sendFrame({ type: "sig", signal: "body", payload: { id: 3, kind: "more", from: 0, until } });
  more(1_000);
  await expect.poll(() => came).toBe(1_000);
  // A request for everything at once gets one window.
  more(BODY_WINDOW_BYTES * 2);
  await expect.poll(() => came).toBe(1_000 + BODY_WINDOW_BYTES);
  await client.call("fs.read", { target: device.deviceId, path: "." });
  expect(came).toBe(1_000 + BODY_WINDOW_BYTES);
  socket.sendFrame({ type: "sig", signal: "body", payload: { id: 3, kind: "stop", why: "enough" } });
  expect(await socket.frame()).toMatchObject({ type: "res", id: "d", ok: true, data: { ok: false, error: "enough" } });
  socket.close();
  device.close();
});

verifies("fs.download:refused", async ({ host, alice, bob }) => {
  const [client, other] = [await alice(), await bob()];
  const device = await plugIn(host, client, name("lap"));
  const nowhere = async () => collector().incoming;
  for (const target of ["gsv", device.deviceId]) {
    expect(await client.download({ target, path: "." }, nowhere)).toMatchObject({
      ok: false,
      error: expect.stringMatching(/^Is a directory/),
    });
    expect(await client.download({ target, path: "no" }, nowhere)).toMatchObject({ ok: false, error: expect.stringMatching(/^Not found/) });
  }
  await expectRefusal(other.download({ target: device.deviceId, path: "x" }, nowhere), 403);
  await expectRefusal(client.download({ target: name("nobodys"), path: "x" }, nowhere), 403);
  writeFileSync(join(device.workspace, "x"), "x");
  const socket = await RawSocket.open(host.url);
  await socket.connect(ALICE, { id: name("raw") });
  const args = { target: device.deviceId, path: "x", body: 1 };
  socket.sendFrame({ type: "req", id: "first", call: "fs.download", args });
  expect(await socket.frame()).toMatchObject({ type: "sig", payload: { id: 1, kind: "begin" } });
  socket.sendFrame({ type: "req", id: "second", call: "fs.download", args });
  expect(await socket.frame()).toMatchObject({ id: "second", ok: false, error: { code: 409 } });
  socket.close();
  device.close();
});

verifies("fs.copy:targets", async ({ host, alice }) => {
  const client = await alice();
  const [lap, desk] = [await plugIn(host, client, name("lap")), await plugIn(host, client, name("desk"))];
  const bytes = randomBytes(BODY_WINDOW_BYTES + 12_345);
  writeFileSync(join(lap.workspace, "run.bin"), bytes);
  chmodSync(join(lap.workspace, "run.bin"), 0o755);
  const steps = [
    [
      { target: lap.deviceId, path: "run.bin" },
      { target: desk.deviceId, path: "new/place/run.bin" },
    ],
    [{ target: desk.deviceId, path: "new/place/run.bin" }, { path: "~/run.bin" }],
    [{ path: "~/run.bin" }, { target: "gsv", path: "~/again.bin" }],
    [
      { target: "gsv", path: "~/again.bin" },
      { target: lap.deviceId, path: "back.bin" },
    ],
    [
      { target: lap.deviceId, path: "back.bin" },
      { target: lap.deviceId, path: "back2.bin" },
    ],
  ] as const;
  for (const [from, to] of steps) {
    expect(await client.call("fs.copy", { from, to })).toMatchObject({
      ok: true,
      size: bytes.length,
      sha256: sha256(bytes),
      sent: bytes.length,
    });
  }
  expect(readFileSync(join(lap.workspace, "back2.bin")).equals(bytes)).toBe(true);
  expect(statSync(join(desk.workspace, "new/place/run.bin")).mode & 0o100).toBe(0o100);
  expect(readdirSync(lap.workspace).toSorted()).toEqual(["back.bin", "back2.bin", "run.bin"]);
  lap.close();
  desk.close();
});

verifies("fs.copy:resumes", async ({ host, alice }) => {
  const client = await alice();
  const [lap, desk] = [await plugIn(host, client, name("lap")), await plugIn(host, client, name("desk"))];
  const bytes = randomBytes(48 * 1024 * 1024);
  writeFileSync(join(lap.workspace, "big"), bytes);
  const args = { from: { target: lap.deviceId, path: "big" }, to: { target: desk.deviceId, path: "big" } };
  const other = await alice();
  const cut = new Promise<void>((resolve) => {
    const stop = other.onSignal(({ signal, payload }) => {
      if (signal !== "copy.progress" || (payload as { bytes: number }).bytes < 8 * 1024 * 1024) return;
      stop();
      other.close();
      resolve();
    });
  });
  await expect(other.call("fs.copy", { ...args, progress: "big" })).rejects.toThrow();
  await cut;
  expect(existsSync(join(desk.workspace, "big"))).toBe(false);
  const again = async () => {
    // The other end may not have noticed the disconnect yet.
    let answer = await client.call("fs.copy", args);
    while (!answer.ok && /on its way/.test(answer.error)) answer = await client.call("fs.copy", args);
    return answer;
  };
  const resumed = await again();
  expect(resumed).toMatchObject({ ok: true, sha256: sha256(bytes) });
  expect((resumed as { sent: number }).sent).toBeLessThan(bytes.length);
  bytes[0]! ^= 1;
  writeFileSync(join(lap.workspace, "big"), bytes);
  expect(await again()).toMatchObject({ ok: true, sent: bytes.length, sha256: sha256(bytes) });
  expect(readdirSync(desk.workspace)).toEqual(["big"]);
  lap.close();
  desk.close();
});

verifies("fs.copy:refused", async ({ host, alice, bob }) => {
  const [client, other] = [await alice(), await bob()];
  const [lap, desk] = [await plugIn(host, client, name("lap")), await plugIn(host, other, name("desk"))];
  writeFileSync(join(lap.workspace, "x"), randomBytes(300_000));
  const from = { target: lap.deviceId, path: "x" };
  await expectRefusal(client.call("fs.copy", { from, to: { target: desk.deviceId, path: "x" } }), 403);
  await expectRefusal(other.call("fs.copy", { from, to: { path: "~/x" } }), 403);
  expect(await client.call("fs.copy", { from, to: { path: "/etc/x" } })).toMatchObject({
    ok: false,
    error: expect.stringMatching(/^gsv: /),
  });
  expect(await client.call("fs.copy", { from: { ...from, path: "no" }, to: { path: "~/x" } })).toMatchObject({
    ok: false,
    error: expect.stringMatching(new RegExp(`^${lap.deviceId}: Not found`)),
  });
  expect(await client.call("fs.copy", { from, to: { ...from, path: "." } })).toMatchObject({ ok: false });
  expect(readdirSync(lap.workspace)).toEqual(["x"]);
  lap.close();
  desk.close();
});

verifies("fs.copy:gone", async ({ host, alice }) => {
  const client = await alice();
  const [lap, desk] = [await plugIn(host, client, name("lap")), await plugIn(host, client, name("desk"))];
  writeFileSync(join(lap.workspace, "big"), randomBytes(64 * 1024 * 1024));
  const stop = client.onSignal(({ signal }) => {
    if (signal === "copy.progress") desk.client.close();
  });
  const copying = client.call("fs.copy", {
    from: { target: lap.deviceId, path: "big" },
    to: { target: desk.deviceId, path: "big" },
    progress: "big",
  });
  await expectRefusal(copying, 503);
  stop();
  // The remaining device can be used for the next copy.
  expect(
    await client.call("fs.copy", { from: { target: lap.deviceId, path: "big" }, to: { target: lap.deviceId, path: "copy" } }),
  ).toMatchObject({
    ok: true,
  });
  lap.close();
  desk.close();
});

verifies("fs.copy:progress", async ({ host, alice, bob }) => {
  const [client, other] = [await alice(), await bob()];
  const lap = await plugIn(host, client, name("lap"));
  const size = 32 * 1024 * 1024;
  writeFileSync(join(lap.workspace, "big"), randomBytes(size));
  const told: { name: string; bytes: number; size: number }[] = [];
  const stop = client.onSignal(({ signal, payload }) => signal === "copy.progress" && told.push(payload));
  other.onSignal(({ signal }) => expect(signal).not.toBe("copy.progress"));
  const from = { target: lap.deviceId, path: "big" };
  await client.call("fs.copy", { from, to: { target: lap.deviceId, path: "copy" }, progress: "mine" });
  expect(told.length).toBeGreaterThan(0);
  for (const one of told) expect(one).toMatchObject({ name: "mine", size });
  expect(told.map(({ bytes }) => bytes)).toEqual(told.map(({ bytes }) => bytes).toSorted((a, b) => a - b));
  stop();
  lap.close();
});
