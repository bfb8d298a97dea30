// The Cloudflare host's own part: ports over workerd, sockets that outlive memory, the wire's answers before the kernel.
// What calls mean is the conformance suite's business, on both hosts.

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

  test("is set up by whoever holds the code, in any case, and nobody else", async () => {
    await expect(populate({ ...host, setupCode: "WRONG" })).rejects.toMatchObject({ code: 403 });
    await populate(host);
    expect(await health()).toMatchObject({ status: "ok", setupMode: false });
  });

  test("knows people by password and by token", async () => {
    const alice = await enter(host, ALICE);
    const { token } = await alice.call("sys.token.create", { kind: "user" });
    const again = await enter(host, { username: ALICE.username, token: token.token });
    expect(again.session.identity.process.username).toBe("alice");
    expect(await alice.call("sys.info", {})).toMatchObject({ host: "cloudflare" });
    alice.close();
    again.close();
  });

  test("keeps what it acknowledged, sealed values too, over a restart", async () => {
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

  test("loses its memory and knows every socket again", async () => {
    const root = await enter(host, ROOT);
    const alice = await enter(host, ALICE);
    const stranger = await Wire.open(host);
    const { startedAt } = await health();
    await host.hibernate();
    // Pings are answered without the kernel, which sleeps on.
    stranger.say("ping");
    expect(await stranger.heard()).toBe("pong");
    const { connections } = await root.call("sys.connection.list", {});
    expect(connections.map((connection) => connection.uid)).toEqual(expect.arrayContaining([0, 1000]));
    expect((await health()).startedAt).not.toBe(startedAt);

    await host.hibernate();
    alice.close();
    await expect.poll(async () => (await root.call("sys.connection.list", {})).connections.length).toBe(1);
    stranger.say('{"type":"req","id":"1","call":"sys.info"}');
    expect(JSON.parse(await stranger.heard())).toMatchObject({ id: "1", ok: false, error: { code: 403 } });
    stranger.close();
    root.close();
  });

  test("takes twenty sockets, closes those of a revoked token, and frees their places", async () => {
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

  test("takes a large frame from somebody it knows and none from a stranger", async () => {
    const alice = await enter(host, ALICE);
    // Refused by the call, so it was read to its end.
    await expect(alice.call("sys.config.set", { key: "users/1000/ai/model", value: "x".repeat(20 << 20) })).rejects.toMatchObject({
      code: 400,
    });
    alice.close();
    const stranger = await Wire.open(host);
    stranger.say("x".repeat(LIMITS.strangerFrameBytes + 1));
    expect(await stranger.ended).toMatchObject({ code: 1009 });
  });

  test("answers what is no frame, and leaves alone what nobody expects", async () => {
    const stranger = await Wire.open(host);
    stranger.say(new Uint8Array(100));
    stranger.say('{"type":"res","id":"1","ok":true}');
    stranger.say('{"type":"req","id":"2","call":"sys.connect","args":{"text":"\\ud800"}}');
    expect(JSON.parse(await stranger.heard())).toMatchObject({
      id: "2",
      error: { code: 400, message: "Malformed text: a lone surrogate" },
    });
    stranger.close();
    expect((await stranger.ended).code).toBe(1000);
  });

  test("lets in own pages only, at /ws only, and so many strangers", async () => {
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

test("an address of the operator's choice is the only one it answers to", async () => {
  const host = await startCloudflareHost({ env: { GSV_ORIGIN: "https://gsv.example.com" } });
  try {
    expect((await fetch(`${host.url}/healthz`)).status).toBe(421);
  } finally {
    await host.close();
  }
});

test("a bad key for secrets stops the gateway with the reason", async () => {
  const host = await startCloudflareHost({ env: { GSV_SECRET_KEY: "too short" } });
  try {
    const answer = await fetch(`${host.url}/healthz`);
    expect(answer.status).toBe(500);
    expect(await answer.text()).toContain("GSV_SECRET_KEY must be 32 bytes in base64");
  } finally {
    await host.close();
  }
});

/** A socket below the client: says anything, hears text. */
class Wire {
  readonly #socket: WebSocket;
  readonly #unheard: string[] = [];
  readonly #listening: ((text: string) => void)[] = [];
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
      const listener = this.#listening.shift();
      if (listener === undefined) this.#unheard.push(String(data));
      else listener(String(data));
    });
    this.ended = new Promise((resolve) => socket.addEventListener("close", ({ code, reason }) => resolve({ code, reason })));
  }

  say(what: string | Uint8Array<ArrayBuffer>): void {
    this.#socket.send(what);
  }

  heard(): Promise<string> {
    const text = this.#unheard.shift();
    return text === undefined ? new Promise((resolve) => this.#listening.push(resolve)) : Promise.resolve(text);
  }

  close(): void {
    this.#socket.close(1000);
  }
}
