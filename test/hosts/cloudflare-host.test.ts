// What only the Cloudflare host does: ports over workerd, sockets that outlive memory, and answers that never reach the kernel.
// The conformance suite tests the meaning of calls, on both hosts.

import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LIMITS } from "../../src/protocol/limits.ts";
import { type CloudflareHost, startCloudflareHost } from "../support/cloudflare-host.ts";
import { ALICE, enter, populate, ROOT } from "../support/people.ts";

const KEY = { key: "config/ai/api_key" };

describe("cloudflare host", () => {
  let host: CloudflareHost;

  beforeAll(async () => {
    host = await startCloudflareHost({ setupCode: "Abcd-2345" });
  });
  afterAll(() => host.close());

  test("can be set up only with the code, in upper or lower case", async () => {
    await expect(populate({ ...host, setupCode: "WRONG" })).rejects.toMatchObject({ code: 403 });
    await populate(host);
    expect(await health()).toMatchObject({ status: "ok", setupMode: false });
  });

  test("authenticates users by password and by token", async () => {
    const alice = await enter(host, ALICE);
    const { token } = await alice.call("sys.token.create", { kind: "user" });
    const again = await enter(host, { username: ALICE.username, token: token.token });
    expect(again.session.identity.process.username).toBe("alice");
    expect(await alice.call("sys.info", {})).toMatchObject({ host: "cloudflare" });
    alice.close();
    again.close();
  });

  test("keeps acknowledged changes across a restart, sealed values included", async () => {
    const before = await enter(host, ROOT);
    await before.call("sys.config.set", { ...KEY, value: "a secret" });
    before.close();
    await host.restart();
    const after = await enter(host, ROOT);
    expect(await after.call("sys.config.get", KEY)).toEqual({ entries: [{ ...KEY, value: "a secret" }] });
    expect(await after.call("sys.config.get", { key: "config/ai/provider" })).toEqual({
      entries: [{ key: "config/ai/provider", value: "workers-ai" }],
    });
    after.close();
  });

  test("recognizes every socket after it lost its memory", async () => {
    const root = await enter(host, ROOT);
    const alice = await enter(host, ALICE);
    const stranger = await Wire.open(host);
    const { startedAt } = await health();
    await host.hibernate();
    // The platform answers pings without waking the kernel.
    stranger.send("ping");
    expect(await stranger.nextText()).toBe("pong");
    const { connections } = await root.call("sys.connection.list", {});
    expect(connections.map((connection) => connection.uid)).toEqual(expect.arrayContaining([0, 1000]));
    expect((await health()).startedAt).not.toBe(startedAt);

    await host.hibernate();
    alice.close();
    await expect.poll(async () => (await root.call("sys.connection.list", {})).connections.length).toBe(1);
    stranger.send('{"type":"req","id":"1","call":"sys.info"}');
    expect(JSON.parse(await stranger.nextText())).toMatchObject({ id: "1", ok: false, error: { code: 403 } });
    stranger.close();
    root.close();
  });

  test("accepts twenty sockets, closes those of a revoked token, and forgets them", async () => {
    const root = await enter(host, ROOT);
    const { token } = await root.call("sys.token.create", { kind: "user" });
    const closed: Promise<string>[] = [];
    for (let count = 0; count < 20; count++) {
      const client = await enter(host, { username: ROOT.username, token: token.token });
      closed.push(new Promise((resolve) => (client.onStatus = (_status, reason) => resolve(String(reason?.message)))));
    }
    expect((await root.call("sys.connection.list", {})).connections).toHaveLength(21);
    await root.call("sys.token.revoke", { tokenId: token.tokenId });
    expect(new Set(await Promise.all(closed))).toEqual(new Set(["Credential revoked"]));
    expect((await root.call("sys.connection.list", {})).connections).toHaveLength(1);
    root.close();
  });

  test("accepts a large frame from an identified peer and none from a stranger", async () => {
    const alice = await enter(host, ALICE);
    // The call refuses it, so the whole frame was read.
    await expect(alice.call("sys.config.set", { key: "users/1000/ai/model", value: "x".repeat(20 << 20) })).rejects.toMatchObject({
      code: 400,
    });
    alice.close();
    const stranger = await Wire.open(host);
    stranger.send("x".repeat(LIMITS.strangerFrameBytes + 1));
    expect(await stranger.ended).toMatchObject({ code: 1009 });
  });

  test("answers malformed requests, and ignores unexpected frames", async () => {
    const stranger = await Wire.open(host);
    stranger.send(new Uint8Array(100));
    stranger.send('{"type":"res","id":"1","ok":true}');
    stranger.send('{"type":"req","id":"2","call":"sys.connect","args":{"text":"\\ud800"}}');
    expect(JSON.parse(await stranger.nextText())).toMatchObject({
      id: "2",
      error: { code: 400, message: "Malformed text: a lone surrogate" },
    });
    stranger.close();
    expect((await stranger.ended).code).toBe(1000);
  });

  test("accepts sockets only from its own origin, only at /ws, and only a limited number of strangers", async () => {
    const foreign = { origin: "https://evil.example" };
    const upgrade = {
      connection: "upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": btoa("x".repeat(16)),
    };
    expect(await status("/healthz", foreign)).toBe(421);
    expect(await status("/healthz", { origin: host.url })).toBe(200);
    expect(await status("/ws", { ...upgrade, ...foreign })).toBe(403);
    expect(await status("/elsewhere", upgrade)).toBe(404);
    expect(await status("/metrics", {})).toBe(404);
    const strangers = await Promise.all(Array.from({ length: LIMITS.strangersPerAddress }, () => Wire.open(host)));
    expect(await status("/ws", upgrade)).toBe(503);
    for (const stranger of strangers) stranger.close();
  });

  async function health(): Promise<{ status: string; setupMode: boolean; startedAt: number }> {
    return (await (await fetch(`${host.url}/healthz`)).json()) as Awaited<ReturnType<typeof health>>;
  }

  function status(path: string, headers: Record<string, string>): Promise<number> {
    return new Promise((resolve, reject) => {
      const sent = request(`${host.url}${path}`, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      sent.on("error", reject).end();
    });
  }
});

test("answers only to the origin that the operator has set", async () => {
  const host = await startCloudflareHost({ env: { GSV_ORIGIN: "https://gsv.example.com" } });
  try {
    expect((await fetch(`${host.url}/healthz`)).status).toBe(421);
  } finally {
    await host.close();
  }
});

test("an invalid secret key stops the gateway with the reason", async () => {
  const host = await startCloudflareHost({ env: { GSV_SECRET_KEY: "too short" } });
  try {
    const answer = await fetch(`${host.url}/healthz`);
    expect(answer.status).toBe(500);
    expect(await answer.text()).toContain("GSV_SECRET_KEY must be 32 bytes in base64");
  } finally {
    await host.close();
  }
});

/** A raw socket: sends anything, receives text. */
class Wire {
  readonly #socket: WebSocket;
  readonly #unread: string[] = [];
  readonly #readers: ((text: string) => void)[] = [];
  readonly ended: Promise<{ code: number; reason: string }>;

  static open(host: CloudflareHost): Promise<Wire> {
    const socket = new WebSocket(`${host.url.replace("http", "ws")}/ws`);
    return new Promise((resolve, reject) => {
      socket.addEventListener("open", () => resolve(new Wire(socket)));
      socket.addEventListener("error", () => reject(new Error("No socket")));
    });
  }

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      const reader = this.#readers.shift();
      if (reader === undefined) this.#unread.push(String(data));
      else reader(String(data));
    });
    this.ended = new Promise((resolve) => socket.addEventListener("close", ({ code, reason }) => resolve({ code, reason })));
  }

  send(what: string | Uint8Array<ArrayBuffer>): void {
    this.#socket.send(what);
  }

  nextText(): Promise<string> {
    const text = this.#unread.shift();
    return text === undefined ? new Promise((resolve) => this.#readers.push(resolve)) : Promise.resolve(text);
  }

  close(): void {
    this.#socket.close(1000);
  }
}
