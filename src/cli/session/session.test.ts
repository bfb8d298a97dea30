// Which credential goes where. A recording gateway stands in for a hostile one: it answers like a real one, writes down
// every byte it is sent, and must never see anything that was not meant for exactly its origin.

import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { parse } from "smol-toml";
import { enter } from "./session.ts";
import { setGatewayUrl, updateConfig } from "./config-file.ts";

const SESSION = "gsv_user_SESSIONSECRET";
const TOKEN = "gsv_user_CONFIGSECRET";
const OTHER = "gsv_node_OTHERSECRET";
const FUTURE = 4_102_444_800_000;
const PAST = 1_000_000_000_000;

type Recorder = { port: number; heard: string[]; close(): void };

let scratch: string;
let evil: Recorder;
let redirecting: Recorder;

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), "gsv-cli-session-"));
  evil = await record(null);
  redirecting = await record(`http://127.0.0.1:${evil.port}`);
});

afterAll(() => {
  evil.close();
  redirecting.close();
  rmSync(scratch, { recursive: true, force: true });
});

type Case = {
  name: string;
  url?: (port: number) => string;
  user?: string;
  config?: (port: number) => string;
  mode?: number;
};

const kept = (url: string, more = "") =>
  `[gateway]\nurl = "${url}"\nusername = "alice"\ntoken = "${TOKEN}"\nsession_token = "${SESSION}"\nsession_expires_at = ${FUTURE}\n${more}`;
const home = () => kept("ws://gsv.invalid:8787/ws");
const keptElsewhere = (origin: string) =>
  `[gateways."${origin}"]\nusername = "alice"\ntoken = "${TOKEN}"\nsession_token = "${SESSION}"\nsession_expires_at = ${FUTURE}\n`;

const HOSTILE: Case[] = [
  { name: "another origin by flag", url: (port) => `ws://127.0.0.1:${port}/ws` },
  { name: "another origin as http", url: (port) => `http://127.0.0.1:${port}` },
  { name: "user and password in the URL", url: (port) => `ws://alice:${OTHER}@127.0.0.1:${port}/ws` },
  { name: "an empty user in the URL", url: (port) => `ws://@127.0.0.1:${port}/ws` },
  { name: "our host as the user of theirs", url: (port) => `ws://gsv.invalid:8787@127.0.0.1:${port}/ws` },
  { name: "a backslash before the real host", url: (port) => `ws://gsv.invalid:8787\\@127.0.0.1:${port}/ws` },
  { name: "a token in the query", url: (port) => `ws://127.0.0.1:${port}/ws?token=${OTHER}` },
  { name: "an endpoint in the query", url: (port) => `ws://127.0.0.1:${port}/ws?gatewayUrl=ws://gsv.invalid:8787` },
  { name: "a token in the fragment", url: (port) => `ws://127.0.0.1:${port}/ws#token=${OTHER}` },
  { name: "a line break in the URL", url: (port) => `ws://127.0.0.1:${port}/ws\nws://gsv.invalid:8787` },
  {
    name: "the same port by another name",
    url: (port) => `ws://127.0.0.1:${port}/ws`,
    config: (port) => kept(`ws://localhost:${port}/ws`),
  },
  { name: "the same name encrypted", url: (port) => `ws://127.0.0.1:${port}/ws`, config: (port) => kept(`wss://127.0.0.1:${port}/ws`) },
  {
    name: "a port that begins like ours",
    url: (port) => `ws://127.0.0.1:${port}/ws`,
    config: (port) => keptElsewhere(`ws://127.0.0.1:${String(port).slice(0, -1)}`),
  },
  {
    name: "an entry that is no origin",
    url: (port) => `ws://127.0.0.1:${port}/ws`,
    config: (port) => keptElsewhere(`ws://127.0.0.1:${port}/ws`),
  },
  { name: "a query in the configured URL", config: (port) => kept(`ws://127.0.0.1:${port}/ws?a=b`) },
  { name: "a user in the configured URL", config: (port) => kept(`ws://a@127.0.0.1:${port}/ws`) },
  {
    name: "a URL edited by hand after the login",
    config: (port) => kept(`ws://127.0.0.1:${port}/ws`, `session_origin = "ws://gsv.invalid:8787"\n`).replace(/^token.*\n/m, ""),
  },
  { name: "a file others can read", config: (port) => kept(`ws://127.0.0.1:${port}/ws`), mode: 0o644 },
  { name: "a file others can write", config: (port) => kept(`ws://127.0.0.1:${port}/ws`), mode: 0o660 },
  {
    name: "an expired session",
    config: (port) =>
      kept(`ws://127.0.0.1:${port}/ws`)
        .replace(String(FUTURE), String(PAST))
        .replace(/^token.*\n/m, ""),
  },
  { name: "another user than the one logged in", user: "mallory", config: (port) => kept(`ws://127.0.0.1:${port}/ws`) },
  {
    name: "tokens of other sections",
    config: (port) =>
      `[gateway]\nurl = "ws://127.0.0.1:${port}/ws"\nusername = "alice"\n[node]\ntoken = "${OTHER}"\n[cloudflare]\napi_token = "${TOKEN}"\n`,
  },
];

describe("no credential reaches a gateway it was not made for", () => {
  test.each(HOSTILE)("$name", async ({ url, user, config = home, mode = 0o600 }) => {
    const file = configWith(config(evil.port), mode);
    const before = evil.heard.length;
    await expect(
      enter({ ...(url === undefined ? {} : { url: url(evil.port) }), ...(user === undefined ? {} : { user }) }, file),
    ).rejects.toThrow();
    expectNoSecret(evil.heard.slice(before));
  });

  test("a gateway that sends the client on to another", async () => {
    const file = configWith(kept(`ws://127.0.0.1:${redirecting.port}/ws`));
    const before = evil.heard.length;
    await expect(enter({}, file)).rejects.toThrow("is not a GSV gateway");
    expect(evil.heard.slice(before)).toEqual([]);
  });

  test("gateway.url set to another address leaves the credentials with the old one, and finds them again", () => {
    const file = configWith(home());
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

describe("what is meant for a gateway does reach it", () => {
  test("the session of its exact origin, once; refused, it is forgotten", async () => {
    const file = configWith(kept(`http://127.0.0.1:${evil.port}`).replace(/^token.*\n/m, ""));
    const before = evil.heard.length;
    await expect(enter({}, file)).rejects.toThrow("Not logged in");
    expect(evil.heard.slice(before).filter((text) => text.includes(SESSION))).toHaveLength(1);
    expect(readFileSync(file, "utf8")).not.toContain(SESSION);
  });

  test("the session kept for a further gateway", async () => {
    const file = configWith(`${home()}\n${keptElsewhere(`ws://127.0.0.1:${evil.port}`)}`.replace(SESSION, OTHER));
    const before = evil.heard.length;
    await expect(enter({ url: `ws://127.0.0.1:${evil.port}` }, file)).rejects.toThrow("Not logged in");
    const heard = evil.heard.slice(before).join("\n");
    expect(heard).toContain(SESSION);
    expect(heard).not.toContain(OTHER);
  });

  test("a token the user typed", async () => {
    const before = evil.heard.length;
    const typed = { url: `ws://127.0.0.1:${evil.port}`, user: "alice", token: OTHER };
    await expect(enter(typed, configWith(home()))).rejects.toThrow("Authentication failed");
    const heard = evil.heard.slice(before).join("\n");
    expect(heard).toContain(OTHER);
    expect(heard).not.toContain(SESSION);
    expect(heard).not.toContain(TOKEN);
  });
});

function expectNoSecret(heard: readonly string[]): void {
  const text = heard.join("\n");
  for (const secret of [SESSION, TOKEN, OTHER]) {
    expect(text).not.toContain(secret);
    // A URL's user and password would travel like this.
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

/** Looks like a gateway with users and refuses every login, or sends everybody elsewhere. */
async function record(elsewhere: string | null): Promise<Recorder> {
  const heard: string[] = [];
  const note = (request: IncomingMessage) => heard.push(`${request.method} ${request.url}\n${request.rawHeaders.join("\n")}`);
  const sockets = new WebSocketServer({ noServer: true });
  const server = createServer((request, response) => {
    note(request);
    if (elsewhere !== null) response.writeHead(302, { location: `${elsewhere}${request.url}` }).end();
    else response.end(JSON.stringify({ status: "ok", version: "0.1.0", setupMode: false, startedAt: PAST }));
  });
  server.on("upgrade", (request, wire, head) => {
    note(request);
    if (elsewhere !== null) {
      wire.end(`HTTP/1.1 302 Found\r\nLocation: ${elsewhere.replace("http", "ws")}/ws\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, wire, head, (socket) => {
      socket.on("message", (data: Buffer) => {
        const text = data.toString("utf8");
        heard.push(text);
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
  return { port, heard, close };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)));
}
