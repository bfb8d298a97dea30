// B02: the HTTP front. Which Host and Origin may open a socket, what a stranger reaches over HTTP and over a socket, which
// headers every page carries, that forwarded headers are trusted only from named proxies, and that nobody outside can fill the
// log.

import { readFileSync } from "node:fs";
import { connect as connectTcp } from "node:net";
import { join } from "node:path";
import { OperatorError } from "../../src/hosts/node/home.ts";
import { type UpFlags, parseUpOptions } from "../../src/hosts/node/options.ts";
import { kernelCalls } from "../../src/kernel/calls/table.ts";
import { startNodeHost } from "../support/node-host.ts";
import { populate } from "../support/people.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { Bar } from "./bar.ts";

const bar = new Bar("B02 trust:origin");
/** How often each kind of request is sent. */
const FLOOD = 100;

await handshakes();
await paths();
await strangers();
await forwarded();
await listening();
await floods();
bar.end();

/** Every Host with every Origin: only the gateway's own names, with its own pages or no Origin, are accepted. */
async function handshakes(): Promise<void> {
  const host = await startNodeHost({ origin: ["https://gsv.example.com"] });
  const port = new URL(host.url).port;
  const goodHosts = [
    `127.0.0.1:${port}`,
    `localhost:${port}`,
    `LOCALHOST:${port}`,
    `[::1]:${port}`,
    "gsv.example.com",
    "gsv.example.com:443",
  ];
  const badHosts = [
    "evil.example",
    "localhost",
    "127.0.0.1",
    "127.0.0.1:1",
    `localhost.evil.example:${port}`,
    `evil-localhost:${port}`,
    `127.0.0.1.nip.io:${port}`,
    `0.0.0.0:${port}`,
    `localhost:${port}.evil.example`,
    `[::ffff:127.0.0.1]:${port}`,
    "gsv.example.com.evil.example",
    "gsv.example.com:80",
    `user@localhost:${port}`,
    "",
  ];
  const goodOrigins = [null, `http://127.0.0.1:${port}`, `http://localhost:${port}`, `http://[::1]:${port}`, "https://gsv.example.com"];
  const badOrigins = [
    "null",
    "",
    `https://localhost:${port}`,
    "http://localhost",
    "http://localhost:1",
    "http://evil.example",
    `http://localhost.evil.example:${port}`,
    `http://localhost:${port}.evil.example`,
    `http://evil.example/http://localhost:${port}`,
    "http://gsv.example.com",
    "https://gsv.example.com.evil.example",
    "https://evil-gsv.example.com",
    "file://",
    "chrome-extension://abcdefgh",
    `http://localhost:${port}, http://evil.example`,
  ];
  for (const name of [...goodHosts, ...badHosts]) {
    for (const origin of [...goodOrigins, ...badOrigins]) {
      const wanted = goodHosts.includes(name) && goodOrigins.includes(origin) ? 101 : 403;
      const got = await upgrade(Number(port), "/ws", name, origin);
      bar.check("handshakes", got === wanted, () => `Host ${name}, Origin ${origin}: ${got}, wanted ${wanted}`);
    }
    const status = await request(Number(port), "/healthz", name);
    bar.check("hosts over http", status === (goodHosts.includes(name) ? 200 : 421), () => `GET /healthz, Host ${name}: ${status}`);
  }
  await host.close();
}

/** Spellings of paths: upgrades only at /ws, the operator's page never without a token, the same headers everywhere. */
async function paths(): Promise<void> {
  const host = await startNodeHost();
  await populate(host);
  const port = Number(new URL(host.url).port);
  const name = `localhost:${port}`;
  for (const path of ["/ws/", "//ws", "/WS", "/%77s", "/ws/../ws", "/ws;x", "/ws%00", "/", "/healthz", "/.ws", "/ws/x", "/x/ws"]) {
    const status = await upgrade(port, path, name, null);
    bar.check("paths", status === 404, () => `upgrade at ${path}: ${status}`);
  }
  bar.check("paths", (await upgrade(port, "/ws?x=1", name, null)) === 101, () => "upgrade at /ws?x=1");
  for (const path of [
    "/metrics",
    "//metrics",
    "/metrics/",
    "/%6detrics",
    "/METRICS",
    "/metrics?x",
    "/./metrics",
    "/x/../metrics",
    "/metrics%00",
    "/metrics;x",
  ]) {
    for (const token of [null, "", "Bearer", "Bearer x", "Bearer gsv_user_x", "Basic cm9vdDpyb290"]) {
      const response = await fetch(`${host.url}${path}`, token === null ? {} : { headers: { authorization: token } });
      bar.check("operator pages", [401, 404].includes(response.status), () => `GET ${path} with ${token}: ${response.status}`);
      await response.text();
    }
  }
  for (const path of ["/", "/healthz", "/health", "/metrics", "/no/such"]) {
    const { headers } = await fetch(`${host.url}${path}`);
    const safe =
      headers.get("content-security-policy")?.includes("frame-ancestors 'none'") &&
      headers.get("x-content-type-options") === "nosniff" &&
      headers.get("x-frame-options") === "DENY";
    bar.check("headers", safe === true, () => `GET ${path}: ${JSON.stringify([...headers])}`);
  }
  await host.close();
}

/** An unauthenticated socket reaches only the calls that are open to strangers. */
async function strangers(): Promise<void> {
  const host = await startNodeHost();
  await populate(host);
  const socket = await RawSocket.open(host.url);
  for (const call of kernelCalls) {
    if (call.from.includes("stranger")) continue;
    for (const args of [{}, call.example.args, { auth: { username: "root" }, token: "x", uid: 0 }]) {
      const answer = await socket.call(call.name, args);
      bar.check("strangers", answer.error?.code === 403, () => `${call.name}: ${JSON.stringify(answer)}`);
    }
  }
  socket.close();
  await host.close();
}

/** X-Forwarded-For has no effect, except from a named proxy: then it names the peer. */
async function forwarded(): Promise<void> {
  const refusedAt = async (flags: UpFlags, header: (at: number) => Record<string, string>) => {
    const host = await startNodeHost(flags);
    await populate(host);
    let refusals = 0;
    for (let at = 0; at < 30; at++) {
      const socket = await RawSocket.open(host.url, { headers: header(at) });
      const answer = await socket.connect({ username: "alice", token: "gsv_user_wrong" });
      if (answer.error?.code === 429) refusals++;
      socket.terminate();
    }
    await host.close();
    return refusals;
  };
  const each = (at: number) => ({ "x-forwarded-for": `203.0.113.${at}`, forwarded: `for=203.0.113.${at}`, "x-real-ip": `203.0.113.${at}` });
  const spoofed = await refusedAt({}, each);
  bar.check("forwarded", spoofed === 10, () => `spoofed headers: ${spoofed} of 30 tries were refused, wanted 10`);
  const proxied = await refusedAt({ trustProxy: ["127.0.0.1"] }, each);
  bar.check("forwarded", proxied === 0, () => `behind a named proxy: ${proxied} of 30 tries were refused, wanted 0`);
  const chained = await refusedAt({ trustProxy: ["127.0.0.0/8"] }, (at) => ({
    "x-forwarded-for": `203.0.113.${at}, 198.51.100.7, 127.0.0.9`,
  }));
  bar.check("forwarded", chained === 10, () => `a peer that forges the start of the chain: ${chained} of 30 refused, wanted 10`);
  const withPorts = await refusedAt({ trustProxy: ["127.0.0.1"] }, (at) => ({ "x-forwarded-for": `203.0.113.${at}, 198.51.100.7:5${at}` }));
  bar.check("forwarded", withPorts === 10, () => `behind a proxy that adds ports: ${withPorts} of 30 refused, wanted 10`);
  const unread = await refusedAt({ trustProxy: ["127.0.0.1"] }, (at) => ({ "x-forwarded-for": `203.0.113.${at}, unknown` }));
  bar.check("forwarded", unread === 10, () => `behind a proxy that says nothing: ${unread} of 30 refused, wanted 10`);
}

/** The gateway listens beyond this machine only when told to, and then setup needs the code. */
async function listening(): Promise<void> {
  for (const host of ["0.0.0.0", "::", "192.0.2.1", "gsv.example.com"]) {
    let refused = false;
    try {
      parseUpOptions({ host }, {});
    } catch (error) {
      refused = error instanceof OperatorError && error.message.includes("--allow-remote");
    }
    bar.check("listening", refused, () => `--host ${host} without --allow-remote was taken`);
  }
  const host = await startNodeHost({ host: "0.0.0.0", allowRemote: true });
  bar.check("listening", /^[A-Z2-9]{4}-[A-Z2-9]{4}-[A-Z2-9]{4}$/.test(host.setupCode ?? ""), () => `setup code ${host.setupCode}`);
  const port = new URL(host.url).port;
  const socket = await RawSocket.open(`http://127.0.0.1:${port}`);
  const args = { username: "mallory", password: "long enough" };
  let codes = 0;
  const guesses = ["AAAA-AAAA-AAAA", "x".repeat(200), host.setupCode?.slice(0, -1), "CCCC-CCCC-CCCC", "DDDD-DDDD-DDDD"];
  // A missing code is refused too, but does not count as a guess.
  for (const code of [undefined, "", ...guesses]) codes += (await socket.call("sys.setup", { ...args, code })).error?.code === 403 ? 1 : 0;
  bar.check("listening", codes === 7, () => `${codes} of 7 wrong setup codes were refused with 403`);
  const throttled = await socket.call("sys.setup", { ...args, code: "BBBB-BBBB-BBBB" });
  bar.check("listening", throttled.error?.code === 429, () => `a sixth wrong code: ${JSON.stringify(throttled)}`);
  // The code has 60 bits: nobody guesses it, so its owner need not wait for those who try.
  const right = await socket.call("sys.setup", { ...args, code: host.setupCode });
  bar.check("listening", right.ok === true, () => `the right code after six wrong ones: ${JSON.stringify(right)}`);
  await host.close();
}

/** However often requests come from outside: one log line a minute for each kind and source, written at once. */
async function floods(): Promise<void> {
  const host = await startNodeHost();
  await populate(host);
  const file = join(host.home, "log/gateway.log");
  const lines = () => readFileSync(file, "utf8").trimEnd().split("\n");
  const before = lines().length;
  const startedAt = Date.now();
  const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;
  const times = async (body: (at: number) => Promise<unknown>) => {
    for (let at = 0; at < FLOOD; at += 20) await Promise.all(Array.from({ length: 20 }, (_, more) => body(at + more)));
  };
  const get = async (path: string, headers: Record<string, string> = {}) => (await fetch(`${host.url}${path}`, { headers })).text();
  const git = "/git/alice/home.git/info/refs?service=git-upload-pack";
  const credentials: ((at: number) => string)[] = [
    (at) => basic(`alice:wrong ${at}`),
    (at) => basic(`nobody ${at}:gsv_user_wrong${at}`),
    (at) => basic(`\u001b[2J\u202e${"x".repeat(4_000)}${at}:y`),
    (at) => `Basic ${"!".repeat(at)}`,
    () => basic(":"),
    (at) => `Bearer ${at}`,
  ];
  for (const authorization of credentials) await times((at) => get(git, { authorization: authorization(at) }));
  await times((at) => get(`/no/such/${at}`));
  await times((at) => get(`/git/${at}`, { authorization: basic("a:b") }));
  await times((at) => get("/metrics", { authorization: `Bearer gsv_user_${at}` }));
  await times((at) => get(`/downloads/cli/${at}`));
  for (let at = 0; at < FLOOD / 2; at++) {
    // From an address whose budget is unused, and on a new socket each time, since a stranger's time is short.
    const socket = await RawSocket.open(host.url, { localAddress: "127.0.0.9" });
    await socket.connect({ username: "alice", token: `gsv_user_wrong${at}` });
    await socket.connect({ username: "alice", password: `wrong ${at}` });
    await socket.call(`no.such.call${at}`, {});
    socket.send(`{"type":"req","id":${at}`);
    await socket.frame();
    socket.terminate();
  }
  const minutes = 1 + Math.floor((Date.now() - startedAt) / 60_000);
  const counts: Record<string, number> = {};
  for (const line of lines().slice(before)) {
    const { msg, call, status } = JSON.parse(line) as Record<string, unknown>;
    const kind = `${String(msg)} ${String(call)} ${String(status)}`;
    counts[kind] = (counts[kind] ?? 0) + 1;
    bar.check("log lines", line.length < 600 && !/\\u00[01]|\p{Cc}|\p{Cf}/u.test(line), () => `a line like this: ${line.slice(0, 200)}`);
  }
  for (const [kind, count] of Object.entries(counts))
    bar.check("log floods", count <= minutes, () => `${count} lines "${kind}" in ${minutes} minutes`);
  for (const kind of ["git-upload-pack 401", "git-upload-pack 429", "sys.connect 401", "sys.connect 429"])
    bar.check("log floods", counts[`refused ${kind}`] !== undefined, () => `no line says ${kind}: ${JSON.stringify(counts)}`);
  await host.close();
}

/** The status of the answer to a hand-written upgrade request. */
function upgrade(port: number, path: string, host: string, origin: string | null): Promise<number> {
  const lines = [
    `GET ${path} HTTP/1.1`,
    `Host: ${host}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  ];
  if (origin !== null) lines.push(`Origin: ${origin}`);
  return statusOf(port, lines);
}

function request(port: number, path: string, host: string): Promise<number> {
  return statusOf(port, [`GET ${path} HTTP/1.1`, `Host: ${host}`, "Connection: close"]);
}

function statusOf(port: number, lines: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp(port, "127.0.0.1", () => socket.write(`${lines.join("\r\n")}\r\n\r\n`));
    socket.once("data", (data) => {
      resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(data.toString())?.[1]));
      socket.destroy();
    });
    socket.once("error", reject);
    socket.setTimeout(60_000, () => reject(new Error(`no answer to ${lines[0]}`)));
  });
}
