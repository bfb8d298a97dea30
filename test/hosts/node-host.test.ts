// What only the Node host does: its directory and lock, starting and stopping as a program, TLS, logs, metrics, limits on
// sockets.

import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type CallError, connect, Connection } from "../../src/client/client.ts";
import { OperatorError } from "../../src/hosts/node/home.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import { VERSION } from "../../src/protocol/version.ts";
import { BUILD } from "../support/current-build.ts";
import { startNodeHost } from "../support/node-host.ts";
import { ALICE, enter, populate, ROOT } from "../support/people.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { TEST_CERT, TEST_KEY } from "../support/tls.ts";

const scratch = mkdtempSync(join(tmpdir(), "gsv-node-host-"));
const children: ChildProcess[] = [];

afterEach(() => children.splice(0).forEach((child) => child.kill("SIGKILL")));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

test("the version in the sources is that of package.json", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  expect(VERSION).toBe(version);
});

test("of several gateways started at once on one directory exactly one serves, and its lock ends with it", async () => {
  const home = join(scratch, "raced");
  const runs = await Promise.all(Array.from({ length: 5 }, () => up("--home", home)));
  const serving = runs.filter(({ url }) => url !== null);
  expect(serving).toHaveLength(1);
  for (const { output } of runs.filter(({ url }) => url === null)) expect(output).toMatch(/^gsv: Another gateway uses .*: stop it first/m);
  serving[0]!.child.kill("SIGKILL");
  await serving[0]!.ended;
  expect((await up("--home", home)).url).not.toBeNull();
});

test("SIGTERM closes sockets with 1001, and the exit code is 0", async () => {
  const { url, child, ended } = await up("--home", join(scratch, "stopped"));
  const socket = await RawSocket.open(url!);
  child.kill("SIGTERM");
  expect((await socket.closed).code).toBe(1001);
  expect(await ended).toBe(0);
});

test("a refused upgrade is disconnected, and one during shutdown does not keep the gateway running", async () => {
  const { url, child, ended } = await up("--home", join(scratch, "held"));
  const { port, host } = new URL(url!);
  const wire = async (text: string) => {
    const socket = createConnection({ port: Number(port), host: "127.0.0.1", allowHalfOpen: true });
    let received = "";
    socket.on("error", () => {}).on("data", (data: Buffer) => (received += data.toString("latin1")));
    const ended = new Promise((resolve) => socket.on("close", resolve));
    await new Promise((resolve) => socket.once("connect", resolve));
    socket.write(text);
    return { socket, ended, received: () => received };
  };
  const request = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
  const refused = await wire(request("/nope"));
  await expect.poll(refused.received).toMatch(/^HTTP\/1\.1 404 /);
  // A write fails only once the other side has closed the socket.
  const writing = setInterval(() => refused.socket.write("x"), 50);
  await refused.ended;
  clearInterval(writing);

  const deaf = await wire(request("/ws"));
  const late = await wire(request("/ws").slice(0, 40));
  await expect.poll(deaf.received).toMatch(/^HTTP\/1\.1 101 /);
  // Connections are accepted in order, so the late one is open once a later one is answered.
  await (await fetch(url!)).text();
  child.kill("SIGTERM");
  // The close frame.
  await expect.poll(deaf.received).toMatch(/\r\n\r\n[^]*\x88[^]*shutting down$/);
  late.socket.end(request("/ws").slice(40));
  await late.ended;
  expect(late.received()).not.toMatch(/^HTTP\/1\.1 101 /);
  deaf.socket.destroy();
  expect(await ended).toBe(0);
});

test("a port in use and invalid values are reported in one clear line", async () => {
  const { url } = await up("--home", join(scratch, "first"));
  const port = new URL(url!).port;
  const line = async (...args: string[]) => (await up("--home", join(scratch, "second"), ...args)).output.trim();
  expect(await line("--port", port)).toBe(`gsv: Port ${port} is in use: stop what uses it, or choose another with --port`);
  expect(await line("--port", "70000")).toMatch(/^gsv: Not a port: 70000/);
  expect(await line("--port", "x")).toMatch(/^gsv: Not a port: x/);
  expect(await line("--host", "0.0.0.0")).toMatch(/--allow-remote/);
  expect(await line("--origin", "nonsense")).toMatch(/^gsv: Not an origin: nonsense/);
  expect(await line("--trust-proxy", "nonsense")).toMatch(/^gsv: Not an address for --trust-proxy: nonsense/);
  expect(await line("--tls-cert", "x")).toBe("gsv: --tls-cert and --tls-key must be used together");
  expect(await line("--tls-cert", "/no/such", "--tls-key", "/no/such")).toMatch(/^gsv: Cannot read --tls-cert/);
  writeFileSync(join(scratch, "a-file"), "");
  expect(await line("--tls-cert", join(scratch, "a-file"), "--tls-key", join(scratch, "a-file"))).toMatch(/^gsv: .* in PEM: .*$/);
  for (const name of ["kernel.db", "gateway.lock"]) {
    const home = join(scratch, `damaged ${name}`);
    mkdirSync(home);
    for (const empty of ["kernel.db", "gateway.lock"]) writeFileSync(join(home, empty), "");
    writeFileSync(join(home, name), "not a database\n".repeat(100));
    writeFileSync(join(home, "secret.key"), Buffer.alloc(32));
    expect((await up("--home", home)).output).toBe(
      `gsv: Cannot ${name === "kernel.db" ? "use" : "lock"} ${home}/${name}: file is not a database\n`,
    );
  }
  expect((await up("--home", join(scratch, "a-file"))).output).toMatch(/^gsv: Cannot use the data directory/);
  expect((await up("--home", "/proc/no/such")).output).toMatch(/^gsv: Cannot use the data directory/);
});

test("setup needs a code if others can reach the gateway, also through a proxy", async () => {
  const checkSetup = async (flags: Parameters<typeof startNodeHost>[0]) => {
    const host = await startNodeHost(flags);
    const connection = await Connection.open(host.url.replace("0.0.0.0", "127.0.0.1"));
    const refusal = await connection.call("sys.setup", ALICE).then(
      () => null,
      (error: unknown) => (error as CallError).code,
    );
    connection.close();
    await host.close();
    return { code: /^[A-Z2-9]{4}(-[A-Z2-9]{4}){2}$/.test(host.setupCode ?? ""), refusal };
  };
  const needsCode = { code: true, refusal: 403 };
  expect(await checkSetup({ trustProxy: ["127.0.0.1"] })).toEqual(needsCode);
  expect(await checkSetup({ origin: ["https://gsv.example.com"] })).toEqual(needsCode);
  expect(await checkSetup({ host: "0.0.0.0", allowRemote: true })).toEqual(needsCode);
  expect(await checkSetup({ origin: ["http://localhost:9999"] })).toEqual({ code: false, refusal: null });
});

test("the console, and the first page without a built desktop, name a command that works at this port", async () => {
  const bare = join(scratch, "without-desktop");
  cpSync(realpathSync(BUILD), bare, { recursive: true, filter: (path) => !path.endsWith("/downloads/web") });
  const { url, output } = await upFrom(bare, "--home", join(scratch, "hints"));
  expect(output).toContain(`or run in another terminal: npx gsv --url ${url} auth setup\n`);
  expect(await (await fetch(url!)).text()).toContain(`<pre>npx gsv --url ${url} auth setup</pre>`);
  const everywhere = await up("--home", join(scratch, "everywhere"), "--host", "0.0.0.0", "--allow-remote");
  expect(everywhere.url).toMatch(/^http:\/\/localhost:/);
  expect((await fetch(everywhere.url!)).status).toBe(200);
});

test("everything in the data directory is private", async () => {
  const home = join(scratch, "private");
  const first = await up("--home", home);
  expect(statSync(home).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(home, { recursive: true, encoding: "utf8" })) {
    const stat = statSync(join(home, name));
    expect(`${name} ${(stat.mode & 0o077).toString(8)}`).toBe(`${name} 0`);
  }
  chmodSync(home, 0o755);
  first.child.kill("SIGKILL");
  await first.ended;
  expect((await up("--home", home)).url).not.toBeNull();
  expect(statSync(home).mode & 0o777).toBe(0o700);
});

test("a directory with other files is refused and left unchanged", async () => {
  const shared = join(scratch, "shared");
  mkdirSync(shared);
  chmodSync(shared, 0o755);
  writeFileSync(join(shared, "notes.txt"), "");
  const says =
    /^gsv: Cannot use the data directory .*: it contains other files and no gateway data.* With --home, choose an empty directory/;
  const refused = async () => {
    expect((await up("--home", shared)).output).toMatch(says);
    return [statSync(shared).mode & 0o777, readdirSync(shared).toSorted()];
  };
  expect(await refused()).toEqual([0o755, ["notes.txt"]]);
  // Names of ours, with content that we never write.
  writeFileSync(join(shared, "secret.key"), "another program's");
  writeFileSync(join(shared, "kernel.db"), "another program's");
  mkdirSync(join(shared, "logs"), { mode: 0o755 });
  expect(await refused()).toEqual([0o755, ["kernel.db", "logs", "notes.txt", "secret.key"]]);
  expect([readFileSync(join(shared, "secret.key"), "utf8"), statSync(join(shared, "logs")).mode & 0o777]).toEqual([
    "another program's",
    0o755,
  ]);
  for (const name of ["secret.key", "kernel.db"]) rmSync(join(shared, name));
  // A single file of ours, which other programs have as well.
  for (const [name, content] of [
    ["gateway.lock", ""],
    ["kernel.db", ""],
    ["secret.key", "k".repeat(32)],
  ] as const) {
    writeFileSync(join(shared, name), content);
    expect(await refused()).toEqual([0o755, ["logs", "notes.txt", name].toSorted()]);
    rmSync(join(shared, name));
  }
  rmSync(join(shared, "notes.txt"));
  expect(await refused()).toEqual([0o755, ["logs"]]);
  rmSync(join(shared, "logs"), { recursive: true });
  mkdirSync(join(shared, "lost+found"));
  // Files of a gateway that was killed while it wrote its first files.
  for (const name of ["gateway.lock", "secret.key.7.new"]) writeFileSync(join(shared, name), "");
  mkdirSync(join(shared, "log"), { mode: 0o700 });
  expect((await up("--home", shared)).url).not.toBeNull();
});

test("accepts a home behind a link, and one that a daemon or the CLI has used before", async () => {
  const home = join(scratch, "linked");
  mkdirSync(home);
  for (const name of ["device", "logs", "parts"]) mkdirSync(join(home, name), { mode: 0o700 });
  const first = await up("--home", home);
  expect(first.url).not.toBeNull();
  first.child.kill("SIGKILL");
  await first.ended;
  symlinkSync(home, join(scratch, "link"));
  writeFileSync(join(home, "notes of the operator"), "");
  expect((await up("--home", join(scratch, "link"))).url).not.toBeNull();
  // This link leads to other files.
  const other = join(scratch, "other files");
  mkdirSync(other);
  chmodSync(other, 0o775);
  writeFileSync(join(other, "notes.txt"), "");
  symlinkSync(other, join(scratch, "other link"));
  expect((await up("--home", join(scratch, "other link"))).output).toMatch(/it contains other files and no gateway data/);
  expect([statSync(other).mode & 0o777, readdirSync(other)]).toEqual([0o775, ["notes.txt"]]);
});

test.runIf(process.getuid?.() === 0)("a directory of another user is refused and left unchanged, whatever is in it", async () => {
  const theirs = join(scratch, "theirs");
  mkdirSync(theirs);
  chmodSync(theirs, 0o777);
  for (const plant of [() => {}, () => writeFileSync(join(theirs, "gateway.lock"), "")]) {
    plant();
    for (const path of [theirs, ...readdirSync(theirs).map((name) => join(theirs, name))]) chownSync(path, 12345, 12345);
    expect((await up("--home", theirs)).output).toMatch(/it belongs to another user\. With --home, choose/);
    expect(statSync(theirs).mode & 0o777).toBe(0o777);
  }
});

test("a gateway whose data was removed stops rather than acknowledge changes that will be lost", async () => {
  const home = join(scratch, "removed");
  const { child, ended } = await up("--home", home);
  let stderr = "";
  child.stderr?.on("data", (data: Buffer) => (stderr += data.toString()));
  rmSync(home, { recursive: true });
  expect(await ended).toBe(74);
  expect(stderr).toMatch(/^gsv: .*kernel\.db was removed or replaced; stopping/);
});

test("a gateway whose journal was removed stops as well", async () => {
  const home = join(scratch, "without-journal");
  const { child, ended } = await up("--home", home);
  let stderr = "";
  child.stderr?.on("data", (data: Buffer) => (stderr += data.toString()));
  rmSync(join(home, "journal"), { recursive: true });
  expect(await ended).toBe(74);
  expect(stderr).toMatch(/^gsv: .*journal was removed or replaced; stopping/);
});

test("serves TLS if given a certificate", async () => {
  writeFileSync(join(scratch, "cert.pem"), TEST_CERT);
  writeFileSync(join(scratch, "key.pem"), TEST_KEY);
  const host = await startNodeHost({ tlsCert: join(scratch, "cert.pem"), tlsKey: join(scratch, "key.pem") });
  expect(host.url).toMatch(/^https:/);
  class Trusting extends WebSocket {
    constructor(url: string) {
      super(url, { ca: TEST_CERT });
    }
  }
  const connection = await Connection.open(host.url, Trusting);
  await connection.call("sys.setup", ALICE);
  connection.close();
  const client = await connect({ url: host.url, auth: ALICE, WebSocket: Trusting });
  expect(client.session.identity.process.username).toBe("alice");
  client.close();
  await host.close();
});

test("only root can read metrics, and they count calls and drops", async () => {
  const host = await startNodeHost();
  await populate(host);
  const token = async (auth: typeof ALICE, kind: "user" | "node") => {
    const client = await enter(host, auth);
    const issued = await client.call("sys.token.create", { kind });
    client.close();
    return issued.token.token;
  };
  const get = (value: string) => fetch(`${host.url}/metrics`, { headers: { authorization: `Bearer ${value}` } });
  expect((await get(await token(ALICE, "user"))).status).toBe(401);
  expect((await get(await token(ROOT, "node"))).status).toBe(401);
  const socket = await RawSocket.open(host.url);
  await socket.call("no.such.call");
  socket.send("nonsense");
  await socket.frame();
  socket.close();
  const page = await (await get(await token(ROOT, "user"))).text();
  expect(page).toMatch(/gsv_calls_total\{call="sys.connect",code="200"\} [1-9]/);
  expect(page).toMatch(/gsv_calls_total\{call="unknown",code="403"\} 1/);
  expect(page).toMatch(/gsv_dropped_total\{reason="malformed"\} 1/);
  expect(page).toContain("process_resident_memory_bytes");
  await host.close();
});

test("no secret reaches the log or the database in the clear", async () => {
  const host = await startNodeHost({ logLevel: "debug" });
  await populate(host);
  const root = await enter(host, ROOT);
  const { token } = await root.call("sys.token.create", { kind: "user" }, { key: "kept" });
  await root.call("sys.config.set", { key: "config/ai/api_key", value: "canary-api-key" }, { key: "kept too" });
  const carol = { username: "carol", password: "canary-password" };
  await root.call("sys.user.create", carol, { key: "kept as well" });
  const digest = createHash("sha256")
    .update(JSON.stringify(["sys.user.create", carol]))
    .digest();
  await enter(host, { username: "carol", password: "canary-wrong" }).catch(() => {});
  await enter(host, { username: "carol", token: "canary-token" }).catch(() => {});
  // This commit includes all earlier rows of the relaxed lane.
  await root.call("sys.config.set", { key: "config/last", value: "kept" });
  root.close();
  for (const name of readdirSync(host.home, { recursive: true, encoding: "utf8" })) {
    if (!statSync(join(host.home, name)).isFile()) continue;
    const bytes = readFileSync(join(host.home, name));
    for (const secret of [
      token.token,
      "canary-api-key",
      "canary-password",
      "canary-wrong",
      "canary-token",
      ROOT.password,
      ALICE.password,
      digest.toString("hex"),
    ]) {
      for (const form of [secret, Buffer.from(secret).toString("base64").replace(/=+$/, ""), Buffer.from(secret).toString("hex")]) {
        expect(`${name} holds ${form}: ${bytes.includes(form)}`).toBe(`${name} holds ${form}: false`);
      }
    }
  }
  await host.close();
});

test("sockets without identity are limited per address, and a closed one makes room", async () => {
  const host = await startNodeHost();
  const sockets = await Promise.all(Array.from({ length: LIMITS.strangersPerAddress }, () => RawSocket.open(host.url)));
  await expect(RawSocket.open(host.url)).rejects.toThrow("503");
  const elsewhere = await RawSocket.open(host.url, { localAddress: "127.0.0.9" });
  sockets[0]!.terminate();
  await expect
    .poll(() =>
      RawSocket.open(host.url).then(
        (socket) => (sockets.push(socket), true),
        () => false,
      ),
    )
    .toBe(true);
  for (const socket of [...sockets, elsewhere]) socket.terminate();
  await host.close();
});

test("a frame over the limit and invalid UTF-8 close only their own socket", async () => {
  const host = await startNodeHost();
  await populate(host);
  const root = await enter(host, ROOT);
  const open = async (id: string) => {
    const socket = await RawSocket.open(host.url);
    await socket.connect(ROOT, { id });
    return socket;
  };
  const [giant, broken] = [await open("giant"), await open("broken")];
  giant.send("x".repeat(LIMITS.frameInBytes));
  expect((await giant.frame()).error?.message).toBe("Malformed JSON");
  giant.send("x".repeat(LIMITS.frameInBytes + 1));
  broken.sendText(Buffer.from([0x22, 0xc3, 0x28, 0x22]));
  expect((await Promise.all([giant.closed, broken.closed])).map(({ code }) => code)).toEqual([1009, 1007]);
  expect((await root.call("sys.info", {})).host).toBe("node");
  root.close();
  await host.close();
});

test("a large answer does not make a peer look like one that does not read", async () => {
  const host = await startNodeHost();
  await populate(host);
  const root = await enter(host, ROOT);
  for (let at = 0; at < 20; at++) await root.call("sys.config.set", { key: `config/big/${at}`, value: "x".repeat(1_000_000) });
  const [all, info] = await Promise.all([root.call("sys.config.get", { key: "config/big" }), root.call("sys.info", {})]);
  expect([all.entries.length, info.host]).toEqual([20, "node"]);
  root.close();
  await host.close();
});

test("a peer that reads nothing is disconnected, and others are not affected", async () => {
  const host = await startNodeHost();
  await populate(host);
  const root = await enter(host, ROOT);
  await root.call("sys.config.set", { key: "config/big", value: "x".repeat(1_000_000) });
  const deaf = await RawSocket.open(host.url);
  await deaf.connect(ROOT, { id: "deaf" });
  deaf.pause();
  for (let at = 0; at < 120; at++) deaf.sendFrame({ type: "req", id: String(at), call: "sys.config.get", args: { key: "config/big" } });
  await expect
    .poll(async () => (await root.call("sys.connection.list", {})).connections.some(({ clientId }) => clientId === "deaf"), {
      interval: 200,
    })
    .toBe(false);
  deaf.terminate();
  root.close();
  await host.close();
});

test("a peer that reads nothing is disconnected even while its own frames wait", { timeout: 60_000 }, async () => {
  const host = await startNodeHost();
  await populate(host);
  const root = await enter(host, ROOT);
  await root.call("sys.config.set", { key: "config/big", value: "x".repeat(1_000_000) });
  const deaf = await RawSocket.open(host.url);
  await deaf.connect(ROOT, { id: "deaf" });
  deaf.pause();
  const get = (id: string, key: string) => deaf.sendFrame({ type: "req", id, call: "sys.config.get", args: { key } });
  // Frames that take long to parse make the others wait.
  for (let at = 0; at < 3; at++) deaf.sendFrame({ type: "req", id: `long ${at}`, call: "sys.info", args: { more: "x".repeat(9_000_000) } });
  for (let at = 0; at < 30; at++) get(`big ${at}`, "config/big");
  for (let at = 0; at < 1_500; at++) deaf.sendFrame({ type: "req", id: `${at}`, call: "sys.info", args: { more: "x".repeat(3_000) } });
  await expect
    .poll(async () => (await root.call("sys.connection.list", {})).connections.some(({ clientId }) => clientId === "deaf"), {
      interval: 200,
      timeout: 40_000,
    })
    .toBe(false);
  deaf.terminate();
  root.close();
  await host.close();
});

test("invalid options are OperatorErrors", async () => {
  await expect(startNodeHost({ port: "-1" })).rejects.toBeInstanceOf(OperatorError);
});

type Run = { child: ChildProcess; url: string | null; output: string; ended: Promise<number | null> };

/** Runs `gsv up` until it serves or has ended. */
function up(...args: string[]): Promise<Run> {
  return upFrom(BUILD, ...args);
}

function upFrom(build: string, ...args: string[]): Promise<Run> {
  const child = spawn(process.execPath, [join(build, "gsv.js"), "up", "--port", "0", ...args], {
    env: { PATH: process.env.PATH, HOME: scratch },
  });
  children.push(child);
  // Not "exit", because its last output may arrive after that.
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  return new Promise((resolve) => {
    let output = "";
    const read = (data: Buffer) => {
      output += data.toString();
      const url = /up at (\S+)/.exec(output)?.[1];
      if (url !== undefined) resolve({ child, url, output, ended });
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    void ended.then(() => resolve({ child, url: null, output, ended }));
  });
}
