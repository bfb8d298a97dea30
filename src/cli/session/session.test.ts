// Which credential goes to which gateway. A recording gateway plays a hostile one: it answers like a real one, records every byte
// it receives, and must never receive anything that was not meant for exactly its origin.

import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { parse } from "smol-toml";
import { authenticate } from "./session.ts";
import { setGatewayUrl, updateConfig } from "./config-file.ts";

const SESSION = "gsv_user_SESSIONSECRET";
const TOKEN = "gsv_user_CONFIGSECRET";
const OTHER = "gsv_node_OTHERSECRET";
const FUTURE = 4_102_444_800_000;
const PAST = 1_000_000_000_000;

type Recorder = { port: number; received: string[]; close(): void };

let scratch: string;
let evil: Recorder;
let redirector: Recorder;

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), "gsv-cli-session-"));
  evil = await record(null);
  redirector = await record(`http://127.0.0.1:${evil.port}`);
});

afterAll(() => {
  evil.close();
  redirector.close();
  rmSync(scratch, { recursive: true, force: true });
});

type Case = {
  name: string;
  url?: (port: number) => string;
  user?: string;
  config?: (port: number) => string;
  mode?: number;
};

const configFor = (url: string, more = "") =>
  `[gateway]\nurl = "${url}"\nusername = "alice"\ntoken = "${TOKEN}"\nsession_token = "${SESSION}"\nsession_expires_at = ${FUTURE}\n${more}`;
const homeConfig = () => configFor("ws://gsv.invalid:8787/ws");
const configForOther = (origin: string) =>
  `[gateways."${origin}"]\nusername = "alice"\ntoken = "${TOKEN}"\nsession_token = "${SESSION}"\nsession_expires_at = ${FUTURE}\n`;

const HOSTILE: Case[] = [
  { name: "another origin, given by flag", url: (port) => `ws://127.0.0.1:${port}/ws` },
  { name: "another origin as http", url: (port) => `http://127.0.0.1:${port}` },
  { name: "user and password in the URL", url: (port) => `ws://alice:${OTHER}@127.0.0.1:${port}/ws` },
  { name: "an empty user in the URL", url: (port) => `ws://@127.0.0.1:${port}/ws` },
  { name: "our host as the user name of another", url: (port) => `ws://gsv.invalid:8787@127.0.0.1:${port}/ws` },
  { name: "a backslash before the real host", url: (port) => `ws://gsv.invalid:8787\\@127.0.0.1:${port}/ws` },
  { name: "a token in the query", url: (port) => `ws://127.0.0.1:${port}/ws?token=${OTHER}` },
  { name: "an endpoint in the query", url: (port) => `ws://127.0.0.1:${port}/ws?gatewayUrl=ws://gsv.invalid:8787` },
  { name: "a token in the fragment", url: (port) => `ws://127.0.0.1:${port}/ws#token=${OTHER}` },
  { name: "a line break in the URL", url: (port) => `ws://127.0.0.1:${port}/ws\nws://gsv.invalid:8787` },
  {
    name: "the same port under another host name",
    url: (port) => `ws://127.0.0.1:${port}/ws`,
    config: (port) => configFor(`ws://localhost:${port}/ws`),
  },
  { name: "the same host with TLS", url: (port) => `ws://127.0.0.1:${port}/ws`, config: (port) => configFor(`wss://127.0.0.1:${port}/ws`) },
  {
    name: "a port that starts like a stored one",
    url: (port) => `ws://127.0.0.1:${port}/ws`,
    config: (port) => configForOther(`ws://127.0.0.1:${String(port).slice(0, -1)}`),
  },
  {
    name: "an entry whose key is not an origin",
    url: (port) => `ws://127.0.0.1:${port}/ws`,
    config: (port) => configForOther(`ws://127.0.0.1:${port}/ws`),
  },
  { name: "a query in the configured URL", config: (port) => configFor(`ws://127.0.0.1:${port}/ws?a=b`) },
  { name: "a user in the configured URL", config: (port) => configFor(`ws://a@127.0.0.1:${port}/ws`) },
  {
    name: "a URL edited by hand after the login",
    config: (port) => configFor(`ws://127.0.0.1:${port}/ws`, `session_origin = "ws://gsv.invalid:8787"\n`).replace(/^token.*\n/m, ""),
  },
  { name: "a file others can read", config: (port) => configFor(`ws://127.0.0.1:${port}/ws`), mode: 0o644 },
  { name: "a file others can write", config: (port) => configFor(`ws://127.0.0.1:${port}/ws`), mode: 0o660 },
  {
    name: "an expired session",
    config: (port) =>
      configFor(`ws://127.0.0.1:${port}/ws`)
        .replace(String(FUTURE), String(PAST))
        .replace(/^token.*\n/m, ""),
  },
  { name: "another user than the one logged in", user: "mallory", config: (port) => configFor(`ws://127.0.0.1:${port}/ws`) },
  {
    name: "tokens of other sections",
    config: (port) =>
      `[gateway]\nurl = "ws://127.0.0.1:${port}/ws"\nusername = "alice"\n[node]\ntoken = "${OTHER}"\n[cloudflare]\napi_token = "${TOKEN}"\n`,
  },
];

describe("no credential reaches a gateway it was not made for", () => {
  test.each(HOSTILE)("$name", async ({ url, user, config = homeConfig, mode = 0o600 }) => {
    const file = configWith(config(evil.port), mode);
    const before = evil.received.length;
    await expect(
      authenticate({ ...(url === undefined ? {} : { url: url(evil.port) }), ...(user === undefined ? {} : { user }) }, file),
    ).rejects.toThrow();
    expectNoSecret(evil.received.slice(before));
  });

  test("a gateway that redirects to another", async () => {
    const file = configWith(configFor(`ws://127.0.0.1:${redirector.port}/ws`));
    const before = evil.received.length;
    await expect(authenticate({}, file)).rejects.toThrow("is not a GSV gateway");
    expect(evil.received.slice(before)).toEqual([]);
  });

  test("changing gateway.url leaves the credentials with the old address, and changing it back restores them", () => {
    const file = configWith(homeConfig());
    updateConfig(file, (table) => setGatewayUrl(table, `ws://127.0.0.1:${evil.port}/ws`));
    expect(parse(readFileSync(file, "utf8"))).toMatchObject({
      gateway: { url: `ws://127.0.0.1:${evil.port}/ws` },
      gateways: { "ws://gsv.invalid:8787": { username: "alice", token: TOKEN, session_token: SESSION } },
    });
    expect(parse(readFileSync(file, "utf8")).gateway).not.toHaveProperty("session_token");
    updateConfig(file, (table) => setGatewayUrl(table, "wss://gsv.invalid:8787/ws"));
    expect(parse(readFileSync(file, "utf8")).gateway).toEqual({ url: "wss://gsv.invalid:8787/ws" });
    updateConfig(file, (table) => setGatewayUrl(table, "http://gsv.invalid:8787"));
    expect(parse(readFileSync(file, "utf8")).gateway).toMatchObject({ token: TOKEN, session_token: SESSION });
  });
});

describe("credentials meant for a gateway reach it", () => {
  test("the session of its exact origin is sent once, and dropped when it is refused", async () => {
    const file = configWith(configFor(`http://127.0.0.1:${evil.port}`).replace(/^token.*\n/m, ""));
    const before = evil.received.length;
    await expect(authenticate({}, file)).rejects.toThrow("Not logged in");
    expect(evil.received.slice(before).filter((text) => text.includes(SESSION))).toHaveLength(1);
    expect(readFileSync(file, "utf8")).not.toContain(SESSION);
  });

  test("the session stored for another gateway", async () => {
    const file = configWith(`${homeConfig()}\n${configForOther(`ws://127.0.0.1:${evil.port}`)}`.replace(SESSION, OTHER));
    const before = evil.received.length;
    await expect(authenticate({ url: `ws://127.0.0.1:${evil.port}` }, file)).rejects.toThrow("Not logged in");
    const received = evil.received.slice(before).join("\n");
    expect(received).toContain(SESSION);
    expect(received).not.toContain(OTHER);
  });

  test("a token given by the user", async () => {
    const before = evil.received.length;
    const flags = { url: `ws://127.0.0.1:${evil.port}`, user: "alice", token: OTHER };
    await expect(authenticate(flags, configWith(homeConfig()))).rejects.toThrow("Authentication failed");
    const received = evil.received.slice(before).join("\n");
    expect(received).toContain(OTHER);
    expect(received).not.toContain(SESSION);
    expect(received).not.toContain(TOKEN);
  });
});

function expectNoSecret(received: readonly string[]): void {
  const text = received.join("\n");
  for (const secret of [SESSION, TOKEN, OTHER]) {
    expect(text).not.toContain(secret);
    // HTTP sends the user and password of a URL in this form.
    expect(text).not.toContain(Buffer.from(`alice:${secret}`).toString("base64"));
  }
}

let files = 0;

function configWith(text: string, mode = 0o600): string {
  const file = join(scratch, `config-${files++}.toml`);
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

/** Looks like a gateway with users and refuses every login, or redirects every request. */
async function record(redirectTo: string | null): Promise<Recorder> {
  const received: string[] = [];
  const recordRequest = (request: IncomingMessage) => received.push(`${request.method} ${request.url}\n${request.rawHeaders.join("\n")}`);
  const sockets = new WebSocketServer({ noServer: true });
  const server = createServer((request, response) => {
    recordRequest(request);
    if (redirectTo !== null) response.writeHead(302, { location: `${redirectTo}${request.url}` }).end();
    else response.end(JSON.stringify({ status: "ok", version: "0.1.0", setupMode: false, startedAt: PAST }));
  });
  server.on("upgrade", (request, wire, head) => {
    recordRequest(request);
    if (redirectTo !== null) {
      wire.end(`HTTP/1.1 302 Found\r\nLocation: ${redirectTo.replace("http", "ws")}/ws\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, wire, head, (socket) => {
      socket.on("message", (data: Buffer) => {
        const text = data.toString("utf8");
        received.push(text);
        const { id } = JSON.parse(text) as { id: string };
        socket.send(JSON.stringify({ type: "res", id, ok: false, error: { code: 401, message: "Authentication failed" } }));
      });
    });
  });
  const port = await listen(server);
  const close = () => {
    sockets.close();
    server.close();
    server.closeAllConnections();
  };
  return { port, received, close };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)));
}
