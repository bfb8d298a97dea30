// Adds a second machine, from the gateway's downloads to an installed device: the line that `gsv token create --device` prints
// runs in a real shell, with its own home, the machine's own Node (20 if there is one) and a fake service manager that really
// starts what the unit describes.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "smol-toml";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { BUILD } from "../support/current-build.ts";
import { startCloudflareHost } from "../support/cloudflare-host.ts";
import type { Host } from "../support/host.ts";
import { ALICE, enter, populate } from "../support/people.ts";
import { steadyPort } from "../support/steady-port.ts";
import { type ServiceManagers, standIns } from "../support/service-managers.ts";

type Run = { code: number | null; out: string; err: string };
type Machine = { home: string; env: Record<string, string>; stand: ServiceManagers };

/** The fake service manager is systemd's. */
const LINUX = process.platform === "linux";
const scratch = realpathSync(mkdtempSync(join(tmpdir(), "gsv-second-")));
const dist = realpathSync(BUILD);
const children: ChildProcess[] = [];
const machines: Machine[] = [];
let host: Host;
let alice: Client;

beforeAll(async () => {
  host = await gateway("--origin", "https://gsv.example.com");
  await populate(host);
  alice = await enter(host, ALICE);
});

afterAll(async () => {
  alice?.close();
  for (const { stand } of machines) end(stand.pid());
  for (const child of children) {
    if (child.exitCode !== null) continue;
    const exit = new Promise((done) => child.once("exit", done));
    if (child.kill("SIGTERM")) await exit;
  }
  rmSync(scratch, { recursive: true, force: true });
});

describe("the downloads of the gateway", () => {
  test("are one file that matches its checksum, and scripts with the address they came from", async () => {
    const file = await get("latest/gsv.mjs");
    expect(file.headers["cache-control"]).toBe("no-store");
    expect((await get("latest/gsv.mjs.sha256")).text).toBe(`${createHash("sha256").update(file.text).digest("hex")}  gsv.mjs\n`);
    for (const script of ["install.sh", "install.ps1"]) {
      expect((await get(script)).text).toContain(`'${host.url}'`);
      // For the host name that a proxy forwards, the address is the one that the operator listed, with its scheme.
      expect((await get(script, { host: "gsv.example.com" })).text).toContain("'https://gsv.example.com'");
      expect((await get(script)).text).not.toContain("@GSV_ORIGIN@");
    }
  });

  test("install the pty library in the version that the sources use", async () => {
    const { optionalDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { optionalDependencies: Record<string, string> };
    const version = optionalDependencies["@lydell/node-pty"] ?? "1.1.0";
    for (const script of ["install.sh", "install.ps1"]) expect((await get(script)).text).toContain(`'@lydell/node-pty@${version}'`);
  });

  test("are not served under an unlisted host name, nor other files, nor other methods than GET", async () => {
    expect(await get("install.sh", { host: "evil.example.com" })).toMatchObject({ status: 421 });
    expect(await get("install.sh", { host: "gsv.example.com'; rm -rf ~; '" })).toMatchObject({ status: 421 });
    expect(await get("latest/../install.sh.map")).toMatchObject({ status: 404 });
    expect(await get("constructor")).toMatchObject({ status: 404 });
    expect(await get("install.sh", {}, "POST")).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
    expect(await get("install.sh", {}, "HEAD")).toMatchObject({ status: 200, text: "" });
  });

  test("are the same from Cloudflare if deployed with it, and explain themselves if not", async () => {
    const cloudflare = await startCloudflareHost({ downloads: join(dist, "downloads") });
    try {
      const fetched = await fetch(`${cloudflare.url}/downloads/cli/latest/gsv.mjs`);
      expect(await fetched.text()).toBe(readFileSync(join(dist, "downloads/gsv.mjs"), "utf8"));
      expect(await (await fetch(`${cloudflare.url}/downloads/cli/install.sh`)).text()).toContain(`ORIGIN='${cloudflare.url}'`);
      expect((await fetch(`${cloudflare.url}/gsv.mjs`)).status).toBe(404);
    } finally {
      await cloudflare.close();
    }
    const bare = await startCloudflareHost();
    try {
      const refused = await fetch(`${bare.url}/downloads/cli/install.sh`);
      expect([refused.status, await refused.text()]).toEqual([404, expect.stringContaining("without its downloads")]);
    } finally {
      await bare.close();
    }
  });

  test("contain the command line without a gateway", async () => {
    const file = join(dist, "downloads/gsv.mjs");
    expect(statSync(file).size).toBeLessThan(2 * 1024 * 1024);
    const { home, env } = machine("alone");
    expect(await run(env, systemNode(), [file, "up"])).toMatchObject({ code: 1, err: expect.stringContaining("npm start") });
    expect(await run(env, systemNode(), [file, "up", "--service"])).toMatchObject({ code: 1, err: expect.stringContaining("npm start") });
    expect(await run(env, systemNode(), [file, "--url", host.url, "status"])).toMatchObject({ code: 0 });
    expect(readdirSync(home)).toEqual(["bin"]);
  });
});

describe.skipIf(!LINUX)("the line that token create prints", () => {
  let laptop: Machine;
  let line: string;
  let token: string;

  test("contains the token only if the token is not piped elsewhere", async () => {
    const created = JSON.parse((await gsv(["token", "create", "--device", "laptop", "--json"])).out) as {
      token: { token: string };
      install: string;
    };
    token = created.token.token;
    line = created.install;
    expect(line).toBe(
      `curl -fsSL ${host.url}/downloads/cli/install.sh | GSV_DEVICE_TOKEN=${token} sh -s -- --device laptop --user ${ALICE.username}`,
    );
    const piped = await gsv(["token", "create", "--device", "phone"]);
    expect(piped.out).toMatch(/^gsv_node_\S{43}\n$/);
    expect(piped.err).toContain("GSV_DEVICE_TOKEN=TOKEN sh -s -- --device phone --user alice\n");
    expect(piped.err).not.toContain(piped.out.trim());
  });

  test("makes the machine a working device, run once or twice", async () => {
    laptop = machine("laptop");
    const first = await paste(laptop.env, line);
    expect(first).toMatchObject({ code: 0, err: "" });
    expect(first.out).toContain(`Installed gsv`);
    expect(first.out).toContain(`export PATH="${laptop.home}/.local/bin:$PATH"`);
    expect(first.out).toContain("sudo loginctl enable-linger");
    const second = await paste({ ...laptop.env, PATH: `${laptop.home}/.local/bin:${laptop.env.PATH}` }, line);
    expect(second).toMatchObject({ code: 0, out: expect.not.stringContaining("export PATH") });
    await expectOnline("laptop", true);
    const answer = await alice.call("shell.exec", { target: "laptop", input: "pwd; echo $((6 * 7)); env | grep -c gsv_node" });
    expect(answer).toMatchObject({ output: `${laptop.home}\n42\n0\n` });
    const program = readlinkSync(`/proc/${laptop.stand.pid()}/exe`);
    expect(program).toBe(realpathSync(systemNode()));
  });

  test("stores the token in one private file, and shows it to no other program", () => {
    const config = join(laptop.home, ".config/gsv/config.toml");
    expect(statSync(config).mode & 0o777).toBe(0o600);
    const url = `${host.url.replace("http", "ws")}/ws`;
    expect(parse(readFileSync(config, "utf8"))).toEqual({
      node: { id: "laptop", token, workspace: laptop.home, url, username: "alice" },
      gateway: { url, username: "alice" },
    });
    const holding = execFileSync("grep", ["-rlF", token, laptop.home], { encoding: "utf8" }).trim().split("\n");
    expect(holding).toEqual([config]);
    // The output of ps during the installation.
    expect(readFileSync(join(laptop.stand.folder, "ps"), "utf8")).toMatch(/^sh -s -- --device laptop/m);
  });

  test("installs a service that can be inspected, stopped with its commands, started and removed", async () => {
    const { env, stand, home } = laptop;
    const own = (...args: string[]) => run(env, join(home, ".local/bin/gsv"), ["device", ...args]);
    expect(await own("status")).toMatchObject({ code: 0, out: expect.stringMatching(/^service +active \(running\), process \d+/m) });
    const { out } = await run(env, join(home, ".local/bin/gsv"), ["doctor"]);
    expect(out).toContain("This machine is the device laptop at");
    const marker = join(home, "still-running");
    const running = await alice.call("shell.exec", {
      target: "laptop",
      input: `trap 'rm -f ${marker}; exit' TERM INT; touch ${marker}; while :; do sleep 0.1; done`,
    });
    expect(running).toMatchObject({ status: "running" });
    expect(existsSync(marker)).toBe(true);
    expect(await own("stop")).toMatchObject({ code: 0 });
    await expect.poll(() => existsSync(marker)).toBe(false);
    await expectOnline("laptop", false);
    expect(await own("status")).toMatchObject({ code: 1, out: expect.stringMatching(/^service +inactive/m) });
    expect(await own("start")).toMatchObject({ code: 0 });
    await expectOnline("laptop", true);
    await alice.call("fs.read", { target: "laptop", path: "no-such-secret-name" });
    const log = join(home, ".gsv/logs/node.log");
    await expect.poll(() => readFileSync(log, "utf8")).toMatch(/"call":"fs\.read","ms":\d+,"outcome":"refused"/);
    expect(statSync(log).mode & 0o777).toBe(0o600);
    expect(readFileSync(log, "utf8")).not.toMatch(/no-such-secret-name|trap|gsv_node_/);
    expect((await own("logs", "-l", "1")).out).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}info {3}call {2}call=fs\.read .*outcome=refused\n$/,
    );
    expect(JSON.parse((await own("logs", "-l", "1", "--json")).out)).toMatchObject({ msg: "call", call: "fs.read" });
    expect(await own("uninstall")).toMatchObject({ code: 0, out: expect.stringContaining("gsv token revoke") });
    expect(existsSync(join(home, ".config/systemd/user/gsvd.service"))).toBe(false);
    expect(await own("start")).toMatchObject({ code: 1, err: expect.stringContaining("gsv device install") });
    await expectOnline("laptop", false);
    expect(stand.asked().at(-1)).toMatch(/show/);
  });

  test("reports a missing service manager, and device run then needs no flags", async () => {
    const bare = machine("bare");
    bare.stand.vanish();
    const done = await paste(bare.env, line);
    expect(done).toMatchObject({
      code: 0,
      out: expect.stringMatching(/gsv device run\n$/),
      err: expect.stringContaining("does not respond"),
    });
    const daemon = spawn(join(bare.home, ".local/bin/gsv"), ["device", "run"], { env: bare.env, stdio: ["ignore", "ignore", "pipe"] });
    children.push(daemon);
    await expectOnline("laptop", true);
    // The newest connection wins: an attended daemon exits and says why, a service stays and waits.
    const log = join(bare.home, "service.log");
    const replaced = waitForExit(daemon);
    const service = spawn(join(bare.home, ".local/bin/gsv"), ["device", "run", "--log-file", log], { env: bare.env, stdio: "ignore" });
    children.push(service);
    expect(await replaced).toEqual([1, expect.stringContaining("Another machine or program has connected as laptop")]);
    children.push(spawn(join(bare.home, ".local/bin/gsv"), ["device", "run"], { env: bare.env, stdio: "ignore" }));
    await expect.poll(() => readFileSync(log, "utf8")).toMatch(/"level":"error","msg":"Another machine or program has connected as laptop/);
    expect(service.exitCode).toBeNull();
    const other = spawn(join(bare.home, ".local/bin/gsv"), ["device", "run", "--id", "another"], { env: bare.env });
    const [code, err] = await waitForExit(other);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("gsv token create --device another") });
    const elsewhere = spawn(join(bare.home, ".local/bin/gsv"), ["--url", "ws://127.0.0.1:9", "device", "run"], { env: bare.env });
    expect((await waitForExit(elsewhere))[1]).toContain("This device needs a token");
  });
});

describe("the installer refuses", () => {
  const install = (env: Record<string, string>, ...args: string[]) =>
    run(env, "/bin/sh", ["-c", `curl -fsSL ${host.url}/downloads/cli/install.sh | sh -s -- ${args.join(" ")}`]);

  test("a file that was altered in transit, and keeps the installed one", async () => {
    const { env, home, stand } = machine("altered");
    expect(await install(env)).toMatchObject({ code: 0, out: expect.stringContaining("Next: ") });
    const before = readFileSync(join(home, ".local/share/gsv/gsv.mjs"));
    const curl = execFileSync("/bin/sh", ["-c", "command -v curl"], { encoding: "utf8" }).trim();
    program(
      join(stand.folder, "curl"),
      `#!/bin/sh\n${curl} "$@"\nfor last; do :; done\ncase $last in *.mjs) echo '// evil' >>"$3" ;; esac\n`,
    );
    const refused = await install(env);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("does not match its checksum") });
    expect(readFileSync(join(home, ".local/share/gsv/gsv.mjs")).equals(before)).toBe(true);
    expect(readdirSync(join(home, ".local/share/gsv"))).toEqual(["gsv.mjs"]);
  });

  test("a Node that is too old", async () => {
    const { env, stand } = machine("old");
    program(join(stand.folder, "node"), "#!/bin/sh\ncase $1 in -p) echo 18 ;; *) echo v18.20.0 ;; esac\n");
    expect(await install(env)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/Node\.js 20 or newer is required, but .* is v18\.20\.0/),
    });
  });

  test("to replace another program named gsv", async () => {
    const { env, home } = machine("taken");
    mkdirSync(join(home, ".local/bin"), { recursive: true });
    program(join(home, ".local/bin/gsv"), "#!/bin/sh\necho mine\n");
    expect(await install(env)).toMatchObject({ code: 1, err: expect.stringContaining("is another program") });
    expect(await install({ ...env, INSTALL_DIR: join(home, "it's here") })).toMatchObject({ code: 0 });
    expect(await run(env, join(home, "it's here/gsv"), ["version"])).toMatchObject({ code: 0 });
  });

  test("a device without a token or an owner, before it changes anything", async () => {
    const { env, home } = machine("halves");
    expect(await install(env, "--device", "x")).toMatchObject({ code: 1, err: expect.stringContaining("--user NAME") });
    expect(await install(env, "--device", "x", "--user", "alice")).toMatchObject({
      code: 1,
      err: expect.stringContaining("needs a token"),
    });
    expect(await install(env, "--device")).toMatchObject({ code: 1, err: "gsv: --device needs a value\n" });
    expect(await install(env, "--nonsense")).toMatchObject({ code: 1, err: expect.stringContaining("Unknown option: --nonsense") });
    expect(readdirSync(home)).toEqual(["bin"]);
  });
});

describe.skipIf(!LINUX)("gsv up --service", () => {
  test("keeps the gateway running with its flags until the service is removed", async () => {
    const { env, home, stand } = machine("gateway");
    const port = await steadyPort();
    const own = (...args: string[]) => run(env, process.execPath, [join(dist, "gsv.js"), "up", ...args]);
    expect(await own("--service", "status")).toMatchObject({ code: 1, err: expect.stringContaining("To install it: gsv up --service") });
    expect(await own("--service", "--port", "nonsense")).toMatchObject({ code: 1, err: expect.stringContaining("Not a port") });
    expect(await own("--service", "nonsense")).toMatchObject({ code: 1, err: expect.stringContaining("Use one of: install, status") });
    const flags = ["--home", join(home, "my data"), "--port", String(port), "--origin", "http://localhost:1", "http://localhost:2"];
    expect(await own("--service", ...flags)).toMatchObject({ code: 0, out: expect.stringContaining("Started the service gsv") });
    const health = async () => (await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => null))?.status;
    await expect.poll(health).toBe(200);
    expect(await own("--service", "status")).toMatchObject({ code: 0, out: expect.stringContaining("active (running)") });
    expect((await own("--service", "logs", "--home", join(home, "my data"))).out).toContain("gateway is up");
    expect(readFileSync(join(home, ".config/systemd/user/gsv.service"), "utf8")).toContain(
      '"--origin=http://localhost:1" "--origin=http://localhost:2"',
    );
    const before = stand.pid();
    expect(await own("--service", "restart")).toMatchObject({ code: 0 });
    expect(stand.pid()).not.toBe(before);
    await expect.poll(health).toBe(200);
    expect(await own("--service", "uninstall")).toMatchObject({ code: 0, out: expect.stringContaining("data stays") });
    expect(await health()).toBeUndefined();
  });

  test("refuses while a gateway runs in the foreground", async () => {
    const { env } = machine("both");
    const { home } = await gateway();
    const refused = await run(env, process.execPath, [join(dist, "gsv.js"), "up", "--service", "--home", home]);
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringMatching(/already runs with data directory .* \(process \d+\)\. Stop it first/),
    });
  });
});

/** A gateway from the bundle, in its own process. */
async function gateway(...flags: string[]): Promise<Host & { home: string }> {
  const home = mkdtempSync(join(scratch, "data-"));
  const child = spawn(process.execPath, [join(dist, "gsv.js"), "up", "--port", "0", "--home", home, ...flags]);
  children.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  // It prints its whole banner at once.
  await vi.waitFor(() => expect(output).toMatch(/Data and logs are in .*\n/), { timeout: 60_000 });
  const url = /GSV is up at (\S+)/.exec(output)?.[1] ?? "";
  const never = () => Promise.reject(new Error("not needed here"));
  return { name: "node", home, url, setupCode: /Setup code.*: (\S+)/.exec(output)?.[1] ?? null, restart: never, close: never };
}

/** Has its own home, and a PATH that starts with fakes of the programs that would reach beyond this test. */
function machine(name: string): Machine {
  const home = join(scratch, name);
  const folder = join(home, "bin");
  const stand = standIns(folder, systemNode());
  symlinkSync(systemNode(), join(folder, "node"));
  program(join(folder, "npm"), `#!/bin/sh\nps -eo args >"${folder}/ps"\nexit 1\n`);
  const env = { HOME: home, PATH: `${folder}:/usr/local/bin:/usr/bin:/bin`, SHELL: "/bin/sh", USER: "someone" };
  const made = { home, env, stand };
  machines.push(made);
  return made;
}

/** This machine's Node that is older than the gateway's, if there is one: devices and the command line run on 20. */
function systemNode(): string {
  const found = ["/usr/bin/node", "/usr/local/bin/node"].filter((file) => existsSync(file));
  const version = (file: string) => Number(execFileSync(file, ["-p", "process.versions.node.split('.')[0]"], { encoding: "utf8" }));
  return found.find((file) => version(file) >= 20 && version(file) < 24) ?? process.execPath;
}

function program(file: string, text: string): void {
  rmSync(file, { force: true });
  writeFileSync(file, text);
  chmodSync(file, 0o755);
}

async function expectOnline(deviceId: string, isExpected: boolean): Promise<void> {
  const isOnline = async () => (await alice.call("sys.device.get", { deviceId })).device?.online ?? false;
  await expect.poll(isOnline).toBe(isExpected);
}

/** Runs the bundle as alice, on the gateway's own machine. */
async function gsv(args: string[]): Promise<Run> {
  const { token } = await alice.call("sys.token.create", { kind: "user" });
  const env = { PATH: process.env.PATH ?? "", HOME: scratch, GSV_URL: host.url, GSV_TOKEN: token.token };
  return run(env, process.execPath, [join(dist, "gsv.js"), "-u", "alice", ...args]);
}

/** Types the line into a shell, so that it is no program's argument. */
function paste(env: Record<string, string>, line: string): Promise<Run> {
  return run(env, "/bin/sh", [], `${line}\n`);
}

async function run(env: Record<string, string>, command: string, args: string[], stdin = ""): Promise<Run> {
  const child = spawn(command, args, { env, cwd: scratch });
  child.stdin.on("error", () => {});
  child.stdin.end(stdin);
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  const [code, err] = await waitForExit(child);
  return { code, out, err };
}

function waitForExit(child: ChildProcess): Promise<[code: number | null, err: string]> {
  return new Promise((resolve, reject) => {
    let err = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (err += text));
    child.on("error", reject);
    child.on("close", (code) => resolve([code, err]));
  });
}

function get(
  path: string,
  headers: Record<string, string> = {},
  method = "GET",
): Promise<{ status: number; headers: Record<string, unknown>; text: string }> {
  return new Promise((resolve, reject) => {
    const call = request(`${host.url}/downloads/cli/${path}`, { method, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    call.on("error", reject).end();
  });
}

function end(pid: number | null): void {
  try {
    if (pid !== null) process.kill(pid, "SIGKILL");
  } catch {
    // It has exited already.
  }
}
