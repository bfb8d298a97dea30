// What peers send to use up a Node gateway's memory: each costs its own socket, and others do not notice.

import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { LIMITS } from "../src/protocol/limits.ts";
import { startNodeHost } from "./support/node-host.ts";
import { RawSocket } from "./support/raw-socket.ts";

test("a flood of pings from a peer that does not read is not answered into memory", async () => {
  const host = await startNodeHost();
  const socket = new WebSocket(`${host.url.replace("http", "ws")}/ws`);
  await new Promise((resolve) => socket.once("open", resolve));
  let pongs = 0;
  socket.on("pong", () => pongs++);
  socket.on("message", () => pongs++);
  socket.pause();
  const sent = 300_000;
  for (let at = 1; at <= sent; at++) {
    if (at % 2 === 0) socket.ping(Buffer.alloc(125));
    else socket.send("ping");
    if (at % 10_000 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await expect.poll(() => socket.bufferedAmount, { timeout: 8_000 }).toBe(0);
  socket.resume();
  await new Promise((resolve) => setTimeout(resolve, 500));
  // What the system itself buffers is beyond our reach.
  expect(pongs).toBeLessThan(sent / 2);
  const before = pongs;
  socket.ping();
  await expect.poll(() => pongs).toBe(before + 1);
  socket.terminate();
  await host.close();
});

test("a stranger that asks and reads nothing is cut off after few answers", async () => {
  const host = await startNodeHost();
  const socket = await RawSocket.open(host.url);
  socket.pause();
  const frame = JSON.stringify({ type: "req", id: "x".repeat(LIMITS.requestIdBytes), call: "sys.info" });
  const flood = setInterval(() => {
    for (let at = 0; at < 1_000; at++) socket.send(frame);
  }, 5);
  const elsewhere = await RawSocket.open(host.url);
  const late = new Promise((resolve) => setTimeout(resolve, 8_000, "still open"));
  expect(await Promise.race([socket.closed, late])).toMatchObject({ code: 1006 });
  clearInterval(flood);
  elsewhere.send("ping");
  expect(await elsewhere.text()).toBe("pong");
  elsewhere.close();
  await host.close();
});
