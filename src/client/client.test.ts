// What the client does when the other side misbehaves or goes away at the wrong moment.

import type { AddressInfo } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { connect, ConnectionLost, Connection } from "./client.ts";

const AUTH = { username: "alice", password: "correct horse" };
const servers: WebSocketServer[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    for (const socket of server.clients) socket.terminate();
    server.close();
  }
});

it("hangs up on what is not a frame instead of throwing where nobody catches it", async () => {
  for (const nonsense of ["{nope", "null", "3", '"text"']) {
    const { url } = await serve((socket) => socket.send(nonsense));
    const line = await Connection.open(url);
    await expect(line.call("sys.info", {})).rejects.toBeInstanceOf(ConnectionLost);
  }
});

it("stays closed when it is closed while it comes back", async () => {
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

it("comes back at once when it is told to hurry", async () => {
  let connects = 0;
  const { url, server } = await serve((socket, id) => {
    connects++;
    socket.send(JSON.stringify({ type: "res", id, ok: true, data: {} }));
  });
  const client = await connect({ url, auth: AUTH });
  const states: string[] = [];
  client.onStatus = (status) => states.push(status);
  // By itself it would wait for days.
  const random = vi.spyOn(Math, "random").mockReturnValue(1_000_000);
  try {
    for (const socket of server.clients) socket.terminate();
    await expect.poll(() => states).toEqual(["reconnecting"]);
    client.hurry();
    await expect.poll(() => states).toEqual(["reconnecting", "connected"]);
    expect(connects).toBe(2);
  } finally {
    random.mockRestore();
    client.close();
  }
});

it("carries out what it is asked in the same breath as it is let in, and notices that it is hung up on", async () => {
  const answered: unknown[] = [];
  const { url, server } = await serve((socket, id) => {
    if (id === "asked") return void answered.push(id);
    socket.send(JSON.stringify({ type: "res", id, ok: true, data: {} }));
    socket.send(JSON.stringify({ type: "req", id: "asked", call: "fs.read", args: {} }));
  });
  // Whether both come in one piece is the network's choice; enough tries see it happen.
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

/** A gateway that does with each request what it is told. */
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
