// How the client handles a peer that misbehaves or disconnects at a bad moment.

import type { AddressInfo } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { connect, ConnectionLost, Connection } from "./client.ts";

const AUTH = { username: "alice", password: "correct horse" };
const servers: WebSocketServer[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    for (const socket of server.clients) socket.terminate();
    server.close();
  }
});

it("closes the connection on an invalid frame instead of throwing an uncaught error", async () => {
  for (const nonsense of ["{nope", "null", "3", '"text"']) {
    const { url } = await serve((socket) => socket.send(nonsense));
    const connection = await Connection.open(url);
    await expect(connection.call("sys.info", {})).rejects.toBeInstanceOf(ConnectionLost);
  }
});

it("sends nothing on a socket that the gateway is closing, and rejects the call when it has closed", async () => {
  const { url, server } = await serve((socket) => {
    socket.pause();
    socket.close(1008, "Not you");
  });
  const sockets: WebSocket[] = [];
  const sentWhileClosing: unknown[] = [];
  const connection = await Connection.open(
    url,
    class extends WebSocket {
      constructor(address: string) {
        super(address);
        sockets.push(this);
      }
      override send(data: unknown): void {
        if (this.readyState === WebSocket.OPEN) super.send(data as string);
        else sentWhileClosing.push(data);
      }
    },
  );
  const first = connection.call("sys.info", {}).catch((error: unknown) => error);
  await expect.poll(() => sockets[0]!.readyState).toBe(WebSocket.CLOSING);
  const second = connection.call("sys.info", {}).catch((error: unknown) => error);
  for (const socket of server.clients) socket.terminate();
  for (const lost of [await first, await second]) expect(lost).toMatchObject({ code: 1008, message: "Not you" });
  expect(sentWhileClosing).toEqual([]);
});

it("stays closed when it is closed during a reconnect", async () => {
  let connects = 0;
  let answer = () => {};
  const { url, server } = await serve((socket, id) => {
    const welcome = () => socket.send(JSON.stringify({ type: "res", id, ok: true, data: {} }));
    connects++;
    if (connects === 1) welcome();
    else answer = welcome;
  });
  const client = await connect({ url, auth: AUTH });
  const states: string[] = [];
  client.onStatus = (status) => states.push(status);
  for (const socket of server.clients) socket.terminate();
  await expect.poll(() => connects).toBe(2);
  client.close();
  answer();
  await expect.poll(() => server.clients.size).toBe(0);
  expect(states).toEqual(["reconnecting", "closed"]);
});

it("reconnects at once after hurry()", async () => {
  let connects = 0;
  const { url, server } = await serve((socket, id) => {
    connects++;
    socket.send(JSON.stringify({ type: "res", id, ok: true, data: {} }));
  });
  const client = await connect({ url, auth: AUTH });
  const states: string[] = [];
  client.onStatus = (status) => states.push(status);
  // Without hurry() it would wait for days.
  const random = vi.spyOn(Math, "random").mockReturnValue(1_000_000);
  try {
    for (const socket of server.clients) socket.terminate();
    await expect.poll(() => states).toEqual(["reconnecting"]);
    client.reconnectNow();
    await expect.poll(() => states).toEqual(["reconnecting", "connected"]);
    expect(connects).toBe(2);
  } finally {
    random.mockRestore();
    client.close();
  }
});

it("answers a request that arrives together with the welcome, and notices an immediate close", async () => {
  const answered: unknown[] = [];
  const { url, server } = await serve((socket, id) => {
    if (id === "asked") return void answered.push(id);
    socket.send(JSON.stringify({ type: "res", id, ok: true, data: {} }));
    socket.send(JSON.stringify({ type: "req", id: "asked", call: "fs.read", args: {} }));
  });
  // The network decides whether both arrive in one piece; with enough attempts it happens.
  const clients = await Promise.all(Array.from({ length: 20 }, () => connect({ url, auth: AUTH, answer: () => Promise.resolve({}) })));
  await expect.poll(() => answered.length).toBe(20);
  for (const client of clients) client.close();
  server.removeAllListeners("connection");
  server.on("connection", (socket) =>
    socket.once("message", (data: Buffer) => {
      socket.send(JSON.stringify({ type: "res", id: (JSON.parse(data.toString()) as { id: string }).id, ok: true, data: {} }));
      socket.close(1008, "Not you");
    }),
  );
  const rejected = await connect({ url, auth: AUTH });
  await expect.poll(() => rejected.isClosed).toBe(true);
});

/** A gateway that passes each request to `answer`. */
async function serve(answer: (socket: WebSocket, id: string) => void): Promise<{ url: string; server: WebSocketServer }> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  servers.push(server);
  server.on("connection", (socket) =>
    socket.on("message", (data: Buffer) => {
      if (data.toString() !== "ping") answer(socket, (JSON.parse(data.toString()) as { id: string }).id);
    }),
  );
  await new Promise((resolve) => server.once("listening", resolve));
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}
