import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { isHiddenFromProxies, loadSocketConstructor } from "./socket.ts";

const servers: WebSocketServer[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

test("a message on loopback is sent unmasked and arrives unchanged", async () => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  servers.push(server);
  await once(server, "listening");
  const Socket = await loadSocketConstructor();
  const payload = new Uint8Array(300_000).fill(7);
  const client = new Socket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  client.addEventListener("open", () => client.send(payload));
  const [peer, request] = (await once(server, "connection")) as [WebSocket, { socket: NodeJS.ReadableStream }];
  const wire: Buffer[] = [];
  request.socket.on("data", (chunk: Buffer) => wire.push(Buffer.from(chunk)));
  const [message] = (await once(peer, "message")) as [Buffer];
  expect(Buffer.compare(message, payload)).toBe(0);
  expect(Buffer.concat(wire).includes(Buffer.alloc(1_000, 7))).toBe(true);
  peer.terminate();
});

test("traffic that a proxy may see is masked", () => {
  expect(isHiddenFromProxies("ws://gateway.example/ws")).toBe(false);
  expect(isHiddenFromProxies("ws://10.0.0.2:8787/ws")).toBe(false);
  expect(isHiddenFromProxies("wss://gateway.example/ws")).toBe(true);
  expect(isHiddenFromProxies("ws://[::1]:8787/ws")).toBe(true);
});
