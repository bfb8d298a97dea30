// The command line as people use it: the real bundle in its own processes, against a started gateway.

import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "smol-toml";
import type { Client } from "../../src/client/client.ts";
import { reference } from "../../src/generated/reference.ts";
import { NOTIFICATION_CREATED } from "../../src/protocol/signal-names.ts";
import { VERSION } from "../../src/protocol/version.ts";
import { BUILD } from "../support/current-build.ts";
import type { Host } from "../support/host.ts";
import { plugIn } from "../support/devices.ts";
import { startNodeHost } from "../support/node-host.ts";
import { ALICE, enter, ROOT } from "../support/people.ts";

type Run = { code: number | null; out: string; err: string };
type Options = { stdin?: string | Uint8Array; env?: Record<string, string>; config?: string };

let host: Host & { home: string };
let scratch: string;
let configFile: string;
/** Tests pass it before or after the command, as people do. */
let url: string;

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), "gsv-cli-"));
  configFile = join(scratch, "config", "config.toml");
  host = await startNodeHost();
  url = host.url;
});

afterAll(async () => {
  await host.close();
  rmSync(scratch, { recursive: true, force: true });
});

describe("setup of a fresh gateway", () => {
  test("before setup every command says what to do", async () => {
    expect(await gsv(["--url", url, "status"])).toMatchObject({ code: 0, out: expect.stringContaining("run gsv auth setup") });
    const call = await gsv(["call", "sys.info", "--url", url]);
    expect(call).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(/^gsv: The gateway at .* has no user yet: run gsv auth setup\n$/),
    });
  });

  test("setup without a terminal names everything that is missing", async () => {
    const { code, err } = await gsv(["auth", "setup", "--url", url]);
    expect({ code, lines: err.trim().split("\n") }).toEqual({
      code: 1,
      lines: [expect.stringMatching(/--username NAME and --new-password -/)],
    });
    expect(await gsv(["auth", "setup", "--url", url, "--username", "alice", "--new-password", "-"])).toMatchObject({ code: 1 });
    const half = await gsv(["auth", "setup", "--url", url, "--username", "alice", "--new-password", "x", "--ai-provider", "openai"]);
    expect(half).toMatchObject({ code: 1, err: "gsv: --ai-provider needs --ai-model\n" });
    // A name that is taken does not mean that the gateway is set up.
    const taken = await gsv(["auth", "setup", "--url", url, "--username", "root", "--new-password", ALICE.password]);
    expect(taken).toMatchObject({ code: 1, err: "gsv: User already exists: root (409)\n" });
  });

  test("setup with passwords from standard input logs in and stores a private session", async () => {
    const args = ["auth", "setup", "--url", url, "--username", ALICE.username, "--new-password", "-", "--root-password", "-"];
    const done = await gsv([...args, "--node-id", "laptop", "--node-expires-at", "30d", "--timezone", "Europe/Berlin"], {
      stdin: `${ALICE.password}\n${ROOT.password}\n`,
    });
    expect(done).toMatchObject({ code: 0, out: expect.stringMatching(/^gsv_node_\S{43}\n$/), err: expect.stringContaining("Next:") });
    expect(done.out + done.err).not.toContain(ALICE.password);
    expect(statSync(configFile).mode & 0o777).toBe(0o600);
    expect(localConfig().gateway).toMatchObject({ username: "alice", session_token: expect.stringMatching(/^gsv_user_/) });
    expect(localConfig().gateway.url).toBe(`${url.replace("http", "ws")}/ws`);
    expect(await gsv(["auth", "setup"])).toMatchObject({ code: 1, err: expect.stringContaining("already set up") });
  });

  test("ai check tries the configured model or another one", async () => {
    expect(await gsv(["ai", "check"])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/The demo model, model demo answered in \d+ ms/),
    });
    const wrong = await gsv(["ai", "check", "--provider", "openai"]);
    expect(wrong).toMatchObject({ code: 1, out: expect.stringContaining("OpenAI needs a key") });
    const programs = await gsv(["ai", "check", "--provider", "nobody", "--api-key", "-", "--json"], { stdin: "sk-canary-0000\n" });
    expect(programs.code).toBe(1);
    expect(JSON.parse(programs.out)).toMatchObject({ check: { ok: false, problem: { field: "provider" } } });
    expect(programs.out + programs.err).not.toContain("sk-canary");
  });

  test("status prints text or JSON", async () => {
    const people = await gsv(["status"]);
    expect(people.out).toMatch(/^you +alice, session expires in 8 h$/m);
    expect(people.out).toMatch(/^model +demo\nmachines +none: gsv token create --device NAME connects one\nwaiting +nothing\n$/m);
    expect(people.out).not.toContain("\u001b");
    const programs = await gsv(["status", "--json"]);
    expect(JSON.parse(programs.out)).toMatchObject({
      reachable: true,
      setupMode: false,
      version: VERSION,
      username: "alice",
      connections: 0,
      machines: { online: 0, all: 0 },
      waiting: 0,
      model: { provider: "demo", model: "demo" },
    });
  });
});

describe("status by password", () => {
  test("shows the user of the password, and stores no session", async () => {
    const before = readFileSync(configFile, "utf8");
    expect((await gsv(["-u", "root", "-p", ROOT.password, "status"])).out).toMatch(/^you +root$/m);
    expect(await gsv(["-p", "status"], { stdin: `${ALICE.password}\n` })).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^you +alice$/m),
    });
    const wrong = await gsv(["-u", "root", "-p", "not the password", "status"]);
    expect(wrong.out).toMatch(/^you +not logged in, the password was refused: Authentication failed \(401\)/m);
    expect(await gsv(["-t", "x", "-p", "y", "status"])).toMatchObject({ code: 1, err: expect.stringContaining("not both") });
    expect(readFileSync(configFile, "utf8")).toBe(before);
  });
});

describe("calls", () => {
  test("arguments come from the command line, a pipe, or a dash", async () => {
    const entries = [{ key: "config/server/timezone", value: "Europe/Berlin" }];
    const json = '{"key":"config/server/timezone"}';
    expect(JSON.parse((await gsv(["call", "sys.config.get", json])).out)).toEqual({ entries });
    expect(JSON.parse((await gsv(["call", "sys.config.get"], { stdin: json })).out)).toEqual({ entries });
    expect(JSON.parse((await gsv(["call", "sys.config.get", "-"], { stdin: json })).out)).toEqual({ entries });
    expect(JSON.parse((await gsv(["call", "sys.info"])).out)).toMatchObject({ version: VERSION });
  });

  test("a refusal is one line with its code", async () => {
    expect(await gsv(["call", "sys.user.list"])).toEqual({ code: 1, out: "", err: "gsv: Permission denied: sys.user.list (403)\n" });
    expect(await gsv(["call", "sys.config.get", '{"key":1}'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^gsv: .*key.* \(400\)\n$/),
    });
    expect(await asRoot(["call", "later.than.this"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("Unknown syscall: later.than.this (404)\n"),
    });
    const secret = await gsv(["call", "sys.info"], { stdin: "hunter2" });
    expect(secret).toMatchObject({ code: 1, err: expect.not.stringContaining("hunter2") });
    expect(await gsv(["call", "sys.info", "{"])).toMatchObject({ code: 1, err: expect.stringContaining("not valid JSON") });
    expect(await gsv(["call", "sys.info", "[]"])).toMatchObject({ code: 1, err: expect.stringContaining("JSON object") });
  });

  test("an unknown field is dropped and reported on standard error", async () => {
    const typo = await gsv(["call", "sys.config.get", '{"kye":"config/server/timezone"}']);
    expect(typo).toMatchObject({
      code: 0,
      out: expect.stringContaining("config/server/name"),
      err: "gsv: warning: sys.config.get has no field kye; it is ignored. Did you mean key?\n",
    });
    const piped = await gsv(["call", "sys.info"], { stdin: '{"\\u001b[2J":1}' });
    expect(piped).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^gsv: warning: sys\.info has no field \S+; it is ignored\n$/),
    });
    expect(piped.err).not.toContain("\u001b");
    expect(await gsv(["call", "sys.setup", '{"usrname":"mallory"}'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^gsv: warning: .*Did you mean username\?\ngsv: System already initialized \(409\)\n$/),
    });
    expect(await gsv(["call", "later.than.this", '{"any":1}'])).toEqual({
      code: 1,
      out: "",
      err: "gsv: Unknown syscall: later.than.this (404)\n",
    });
  });

  test("a call open to strangers sends no credential", async () => {
    expect(await gsv(["call", "sys.setup", "{}"])).toMatchObject({ code: 1, err: "gsv: System already initialized (409)\n" });
  });

  test("output from a gateway cannot control the terminal", async () => {
    const evil = "\u001b]0;owned\u0007\u009b2J\u202e";
    expect(await asRoot(["config", "set", "config/server/name", evil])).toMatchObject({ code: 0 });
    for (const words of [
      ["config", "get", "config/server/name"],
      ["config", "get"],
      ["call", "sys.config.get", "{}"],
    ]) {
      const { code, out } = await gsv(words);
      expect(code).toBe(0);
      expect(out.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }
    await asRoot(["config", "set", "config/server/name", "gsv"]);
  });
});

describe("configuration", () => {
  test("the gateway's values are read and written", async () => {
    expect(await gsv(["config", "get", "config/server/name"])).toMatchObject({ code: 0, out: "gsv\n" });
    expect(await gsv(["config", "set", "users/1000/ai/model", "small"])).toMatchObject({ code: 0 });
    expect(await gsv(["config", "get", "users/1000/ai/model"])).toMatchObject({ out: "small\n" });
    expect(await gsv(["config", "unset", "users/1000/ai/model"])).toMatchObject({ code: 0, err: "Unset users/1000/ai/model.\n" });
    expect(await gsv(["config", "unset", "users/1000/ai/model"])).toMatchObject({ code: 1, err: "gsv: Not set: users/1000/ai/model\n" });
    expect(await gsv(["config", "set", "config/server/name", "mine"])).toMatchObject({ code: 1, err: expect.stringContaining("(403)") });
    expect(await gsv(["config", "get", "users/1000/ai/none"])).toMatchObject({ code: 1, err: "gsv: Not set: users/1000/ai/none\n" });
  });

  test("secrets are read from standard input and masked", async () => {
    expect(await gsv(["config", "set", "users/1000/ai/api_key", "-"], { stdin: "sk-very-secret-indeed-0123456789\n" })).toMatchObject({
      code: 0,
    });
    expect((await gsv(["config", "get", "users/1000/ai"])).out).not.toContain("indeed");
    expect((await gsv(["config", "get", "users/1000/ai/api_key", "--reveal"])).out).toBe("sk-very-secret-indeed-0123456789\n");
  });

  test("--local reads and writes the file of this machine", async () => {
    const config = join(scratch, "local.toml");
    expect(await gsv(["config", "--local", "set", "node.token", "gsv_node_abcdefghijklmnopqrstuvwxyz"], { config })).toMatchObject({
      code: 0,
    });
    expect(await gsv(["config", "set", "--local", "gateway.url", "wss://gsv.example.com"], { config })).toMatchObject({ code: 0 });
    expect(await gsv(["config", "--local", "get", "gateway.url"], { config })).toMatchObject({ out: "wss://gsv.example.com\n" });
    const all = await gsv(["config", "get", "--local"], { config });
    expect(all.out).toContain("gsv_node... (hidden");
    expect(all.out).not.toContain("uvwxyz");
    expect(statSync(config).mode & 0o777).toBe(0o600);
    for (const key of ["gateway.session_token", "gateway.nope", "nothing.here", "gateway", "__proto__.x", "gateways.x.token"])
      expect(await gsv(["config", "--local", "set", key, "v"], { config })).toMatchObject({ code: 1 });
    expect(await gsv(["config", "--local", "set", "gateway.url", "ws://u:secret@h/"], { config })).toMatchObject({
      code: 1,
      err: expect.not.stringContaining("secret"),
    });
  });
});

describe("tokens", () => {
  test("a new token is alone on standard output and works", async () => {
    const made = await withPassword(["token", "create", "--label", "ci", "--expires", "30d"]);
    expect(made).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^gsv_user_\S{43}\n$/),
      err: expect.stringContaining("it expires in 30 d"),
    });
    const config = join(scratch, "nobody.toml");
    const env = { GSV_TOKEN: made.out.trim(), GSV_URL: url };
    expect(await gsv(["-u", "alice", "call", "sys.info"], { env, config })).toMatchObject({ code: 0 });
    expect(await gsv(["call", "sys.info"], { env, config })).toMatchObject({
      code: 1,
      err: "gsv: The owner of the token is not known: add --user NAME\n",
    });
  });

  test("a device token is created, listed and revoked, by gsv token and gsv auth token", async () => {
    expect(await gsv(["auth", "token", "create", "--device", "phone"])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^gsv_node_/),
      err: expect.stringMatching(/must be used within 1 h.*run this command on that machine within 1 h /s),
    });
    const { tokens } = JSON.parse((await gsv(["token", "list", "--json"])).out) as {
      tokens: { tokenId: string; allowedDeviceId: string | null }[];
    };
    const id = tokens.find(({ allowedDeviceId }) => allowedDeviceId === "phone")?.tokenId ?? "";
    const table = (await gsv(["token", "list"])).out.split("\n");
    expect(table[0]).toMatch(/^ID +UID +KIND +LABEL/);
    expect(table.find((line) => line.startsWith(id))).toMatch(/ node +- +phone .* never +in (1 h|60 min) if unused$/);
    const lasting = await gsv(["token", "create", "--device", "phone", "--within", "never", "--json"]);
    const { tokenId } = (JSON.parse(lasting.out) as { token: { tokenId: string } }).token;
    expect((await gsv(["token", "list"])).out).toMatch(new RegExp(`^${tokenId} .* in 365 d if unused$`, "m"));
    expect(await gsv(["token", "create", "--device", "phone", "--within", "soon"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("Invalid duration"),
    });
    expect(await gsv(["token", "revoke", id, "--reason", "lost"])).toMatchObject({ code: 0 });
    expect((await gsv(["token", "list"])).out).not.toContain(id);
    expect((await gsv(["auth", "token", "list", "--all"])).out).toContain(id);
    expect(await gsv(["token", "revoke", "no-such-id"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("You have no token no-such-id"),
    });
  });

  test("a session cannot create a token that outlives it, and the error says what to do", async () => {
    expect(await gsv(["token", "create", "--expires", "never"])).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining("add -p"),
    });
    expect(await gsv(["token", "create", "--expires", "soon"])).toMatchObject({ code: 1, err: expect.stringContaining("Invalid time") });
  });
});

describe("people", () => {
  test("a single command as root changes nobody's session", async () => {
    const added = await gsv(["-u", "root", "-p", "-", "user", "add", "bob", "--new-password", "-", "--name", "Bob B."], {
      stdin: `${ROOT.password}\nbattery staple\n`,
    });
    expect(added).toMatchObject({ code: 0, err: expect.stringContaining("you stay logged in as alice") });
    const list = await asRoot(["user", "list"]);
    expect(list.out).toMatch(/^1001 +bob +Bob B\. +users,bob +\/home\/bob +active$/m);
    expect(localConfig().gateway.username).toBe("alice");
    expect(await asRoot(["user", "lock", "bob"])).toMatchObject({ code: 0 });
    expect((await asRoot(["user", "list"])).out).toMatch(/bob .* locked$/m);
    expect(await asRoot(["user", "unlock", "bob"])).toMatchObject({ code: 0 });
    expect(await gsv(["user", "add", "eve"])).toMatchObject({ code: 1, err: expect.stringContaining("--new-password -") });
  });

  test("groups are managed by name, and capabilities granted to them", async () => {
    expect(await asRoot(["group", "add", "staff"])).toMatchObject({ code: 0 });
    expect(await asRoot(["group", "members", "staff", "alice", "--add"])).toMatchObject({ code: 0 });
    expect(await asRoot(["group", "members", "staff", "bob", "--add"])).toMatchObject({ code: 0 });
    expect(await asRoot(["group", "members", "staff"])).toMatchObject({ out: "alice\nbob\n" });
    expect(await asRoot(["capability", "grant", "staff", "sys.user.list"])).toMatchObject({ code: 0 });
    expect(await gsv(["user", "list", "--json"])).toMatchObject({ code: 0 });
    expect((await asRoot(["capability", "list", "staff"])).out).toMatch(/staff +sys\.user\.list$/m);
    expect(await asRoot(["capability", "revoke", "staff", "sys.user.list"])).toMatchObject({ code: 0 });
    expect(await gsv(["user", "list"])).toMatchObject({ code: 1 });
    expect(await asRoot(["group", "remove", "staff"])).toMatchObject({ code: 0 });
    expect(await asRoot(["group", "members", "staff"])).toMatchObject({ code: 1, err: expect.stringContaining("No such group") });
  });

  test("a user changes their own password", async () => {
    const change = (from: string, to: string) =>
      gsv(["user", "passwd", "--current", "-", "--new-password", "-"], { stdin: `${from}\n${to}\n` });
    expect(await change("wrong wrong", "another horse")).toMatchObject({ code: 1, err: expect.stringContaining("(401)") });
    expect(await change(ALICE.password, "another horse")).toMatchObject({ code: 0 });
    expect(await change("another horse", ALICE.password)).toMatchObject({ code: 0 });
  });
});

describe("files", () => {
  /** Colours, titles, a C1 control and a direction mark. */
  const EVIL = "\u001b[2J\u001b]0;owned\u0007\u009b31m\u202e\r";

  test("a file is read back byte for byte", async () => {
    for (const content of ["", "\n", "one", "one\n", "\n\n", "     1\tnumbered\n", "a\r\nb\r\n", "\ufeffbom é 漢字 👩‍💻\n\n", EVIL]) {
      expect(await gsv(["write", "f/exact.txt"], { stdin: content })).toMatchObject({ code: 0, out: "" });
      expect(await gsv(["cat", "gsv:~/f/exact.txt"])).toEqual({ code: 0, out: content, err: "" });
    }
  });

  test("content comes from a file, or from standard input after the password", async () => {
    const file = join(scratch, "here.txt");
    writeFileSync(file, "from here\n");
    expect(await gsv(["write", "f/b.txt", file])).toEqual({ code: 0, out: "", err: "Wrote 10 bytes to /home/alice/f/b.txt.\n" });
    expect(await gsv(["cat", "f/b.txt"])).toMatchObject({ out: "from here\n" });
    const typed = await gsv(["-p", "-", "write", "--json", "f/b.txt", "-"], { stdin: `${ALICE.password}\nsecond\nthird` });
    expect(JSON.parse(typed.out)).toEqual({ path: "/home/alice/f/b.txt", size: 12 });
    expect(await gsv(["cat", "f/b.txt"])).toMatchObject({ out: "second\nthird" });
    expect(await gsv(["write", "f/c.txt", join(scratch, "none")])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^gsv: Not found: .*none/),
    });
    expect(await gsv(["write", "/etc/nope", file])).toMatchObject({ code: 1, err: expect.stringMatching(/^gsv: .*\/etc.*\n$/) });
  });

  test("binary files are written and read unchanged", async () => {
    const bytes = Uint8Array.from([0x61, 0x00, 0xff, 0x63]);
    expect(await gsv(["write", "f/bytes"], { stdin: bytes })).toMatchObject({ code: 0, err: "Wrote 4 bytes to /home/alice/f/bytes.\n" });
    expect(JSON.parse((await gsv(["cat", "--json", "f/bytes"])).out)).toMatchObject({ data: Buffer.from(bytes).toString("base64") });
    const large = join(scratch, "large.bin");
    writeFileSync(large, "x".repeat(33 * 1024 * 1024));
    expect(await gsv(["write", "f/large.bin", large])).toMatchObject({ code: 0 });
    expect((await gsv(["cat", "f/large.bin"])).out.length).toBe(33 * 1024 * 1024);
    expect(await gsv(["write", "f/bytes", join(scratch, "no-such")])).toMatchObject({ code: 1, err: expect.stringMatching(/no-such/) });
    expect(await gsv(["cat", "f/none.txt"])).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(/^gsv: Not found: \/home\/alice\/f\/none\.txt/),
    });
  });

  test("long texts are complete, with many lines or long ones", async () => {
    const file = join(scratch, "long.txt");
    const many = Array.from({ length: 200_000 }, (_, at) => `${at} ${"é".repeat(at % 60)}`).join("\n");
    const long = Array.from({ length: 20 }, (_, at) => String(at % 10).repeat(1_000_000)).join("\n");
    for (const content of [many, `${long}\n`, "x\n".repeat(1_000), "x\n".repeat(9_000).trimEnd()]) {
      writeFileSync(file, content);
      expect(await gsv(["write", "f/long.txt", file])).toMatchObject({ code: 0 });
      const { code, out, err } = await gsv(["cat", "f/long.txt"]);
      expect({ code, err, same: out === content }).toEqual({ code: 0, err: "", same: true });
    }
    const json = JSON.parse((await gsv(["cat", "--json", "f/exact.txt"])).out) as unknown;
    expect(json).toEqual({ path: "/home/alice/f/exact.txt", size: Buffer.byteLength(EVIL), content: EVIL });
  });

  test("file names and contents cannot control the terminal", async () => {
    await gsv(["write", "f/evil.txt"], { stdin: `a\tb\nneedle ${EVIL}\n` });
    await gsv(["call", "fs.write", JSON.stringify({ path: `f/evil/n${EVIL}\n`, content: "needle" })]);
    for (const words of [
      ["cat", "f/evil.txt"],
      ["ls", "f/evil"],
      ["search", "needle", "f"],
      ["cat", "--json", "f/evil.txt"],
    ]) {
      const { code, out } = await gsv(words, { env: TERMINAL });
      expect(code).toBe(0);
      expect(out.replaceAll("\n", "").replaceAll("\t", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }
    expect((await gsv(["cat", "f/evil.txt"], { env: TERMINAL })).out).toMatch(/^a\tb\nneedle \\x1b\[2J.*\\x0d\n$/);
    expect((await gsv(["ls", "f/evil"])).out).toBe(`n${EVIL}\n\n`);
    await gsv(["rm", "-r", "f/evil"]);
  });

  test("binary content goes to a pipe and not to a terminal", async () => {
    await gsv(["write", "f/bin"], { stdin: "a\0b" });
    expect(await gsv(["cat", "f/bin"])).toEqual({ code: 0, out: "a\0b", err: "" });
    expect(await gsv(["cat", "f/bin"], { env: TERMINAL })).toEqual({
      code: 1,
      out: "",
      err: "gsv: Not a text file: f/bin. To save it: gsv cat f/bin > FILE\n",
    });
    expect(await gsv(["cat", "f"])).toMatchObject({
      code: 1,
      out: "",
      err: "gsv: Is a directory: /home/alice/f. To list it: gsv ls\n",
    });
  });

  test("directories are listed", async () => {
    await gsv(["write", "d/sub/x"], { stdin: "x" });
    await gsv(["write", "d/a.txt"], { stdin: "a" });
    await gsv(["write", "d/z.bin"], { stdin: "\0" });
    expect(await gsv(["ls", "d"])).toEqual({ code: 0, out: "a.txt\nsub/\nz.bin\n", err: "" });
    expect((await gsv(["ls"])).out.split("\n")).toContain("d/");
    expect((await gsv(["ls", "gsv:"])).out.split("\n")).toContain("d/");
    expect(await gsv(["ls", "d/a.txt"])).toMatchObject({ code: 0, out: "d/a.txt\n" });
    expect(await gsv(["ls", "d/z.bin"])).toMatchObject({ code: 0, out: "d/z.bin\n" });
    expect(await gsv(["ls", "d/none"])).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(/^gsv: Not found: \/home\/alice\/d\/none/),
    });
    const json = JSON.parse((await gsv(["ls", "--json", "d"])).out) as unknown;
    expect(json).toEqual({ path: "/home/alice/d", files: ["a.txt", "z.bin"], directories: ["sub"] });
  });

  test("search works like grep", async () => {
    await gsv(["write", "s/a.md"], { stdin: "one\n\tTODO: two\n" });
    await gsv(["write", "s/b.txt"], { stdin: "TODO" });
    const both = "/home/alice/s/a.md:2: \tTODO: two\n/home/alice/s/b.txt:1: TODO\n";
    expect(await gsv(["search", "TODO", "s"])).toEqual({ code: 0, out: both, err: "" });
    expect(await gsv(["search", "TODO", "gsv:~/s", "--include", "*.txt"])).toMatchObject({ out: "gsv:/home/alice/s/b.txt:1: TODO\n" });
    expect(await gsv(["search", "nowhere to be found", "s"])).toEqual({ code: 1, out: "", err: "" });
    expect(await gsv(["search", "x", "s/none"])).toMatchObject({ code: 1, err: expect.stringMatching(/^gsv: Not found/) });
    await gsv(["write", "s/many.txt"], { stdin: "many\n".repeat(501) });
    const many = await gsv(["search", "many", "s"]);
    expect(many).toMatchObject({ code: 0, err: expect.stringMatching(/^gsv: the search stopped after 500 lines/) });
    expect(many.out.trim().split("\n")).toHaveLength(500);
    expect(JSON.parse((await gsv(["search", "TODO", "s", "--json"])).out)).toMatchObject({ count: 2, truncated: false });
  });

  test("without a terminal a directory needs -r", async () => {
    for (const path of ["r/d/x", "r/e/x", "r/f", "r/g.bin"]) await gsv(["write", path], { stdin: "\0" });
    const some = await gsv(["rm", "r/f", "r/d", "r/none", "r/g.bin"]);
    expect(some).toMatchObject({ code: 1, out: "" });
    expect(some.err).toMatch(/^gsv: Is a directory: r\/d\. Add -r .*\ngsv: Not found: \/home\/alice\/r\/none.*\n$/);
    expect(await gsv(["rm", "-f", "r/d/"])).toMatchObject({ code: 1 });
    for (const path of ["~", ".", "/", "r/d/.."])
      expect(await gsv(["rm", path])).toMatchObject({ code: 1, err: expect.stringContaining("Add -r") });
    expect(await gsv(["ls", "r"])).toMatchObject({ out: "d/\ne/\n" });
    const rest = await gsv(["rm", "--json", "-r", "r/d", "gsv:r/e"]);
    expect(JSON.parse(rest.out)).toEqual({ deleted: [{ path: "/home/alice/r/d" }, { path: "/home/alice/r/e", target: "gsv" }] });
    expect(await gsv(["ls", "r"])).toMatchObject({ code: 0, out: "" });
  });

  test.skipIf(process.platform !== "linux" || !existsSync("/usr/bin/script"))(
    "at a terminal rm asks before it deletes a directory",
    async () => {
      for (const path of ["t/d/x", "t/e/x", "t/f"]) await gsv(["write", path], { stdin: "x" });
      expect(await atTerminal(["rm", "t/f"], "")).not.toContain("Delete the directory");
      expect(await atTerminal(["rm", "-r", "t/d"], "n")).toContain("Delete the directory t/d with everything in it?");
      expect(await gsv(["ls", "t"])).toMatchObject({ out: "d/\ne/\n" });
      expect(await atTerminal(["rm", "t/d"], "y")).toContain("Delete the directory");
      expect(await atTerminal(["rm", "-f", "t/e"], "")).not.toContain("Delete the directory");
      expect(await gsv(["ls", "t"])).toMatchObject({ out: "" });
    },
  );

  test("a command for a target never falls back to the gateway", async () => {
    for (const words of [
      ["ls", "laptop:"],
      ["cat", "laptop:/etc/hosts"],
      ["write", "laptop:x"],
      ["rm", "-r", "laptop:x"],
      ["search", "x", "laptop:"],
    ])
      expect(await gsv(words)).toEqual({
        code: 1,
        out: "",
        err: "gsv: no such device: laptop. You have none yet. To add one: gsv token create --device NAME\n",
      });
    for (const words of [
      ["cat", "laptop:"],
      ["write", "laptop:"],
      ["rm", "-rf", "f", "laptop:"],
    ])
      expect(await gsv(words)).toEqual({ code: 1, out: "", err: "gsv: No path on laptop: write laptop:PATH\n" });
    expect(await gsv(["write", "./a:b"], { stdin: "colon" })).toMatchObject({ code: 0 });
    expect(await gsv(["cat", "/home/alice/a:b"])).toMatchObject({ code: 0, out: "colon" });
  });

  test("every command reports an unknown or foreign device with the user's own devices", async () => {
    const own = await connect(ALICE.username);
    const other = await connect("bob");
    const workshop = await plugIn(host, own, "workshop");
    const vault = await plugIn(host, other, "vault");
    const commands = [
      ["ls", "worksop:"],
      ["rm", "-r", "worksop:x"],
      ["cp", "worksop:x", "gsv:x"],
      ["cp", join(scratch, "config", "config.toml"), "worksop:x"],
      ["run", "--target", "worksop", "--", "ls"],
      ["shell", "--target", "worksop"],
      ["jobs", "--target", "worksop"],
      ["device", "describe", "worksop", "what", "for"],
      ["device", "remove", "worksop"],
      ["call", "fs.read", '{"target":"worksop","path":"x"}'],
    ];
    const err = "gsv: no such device: worksop. Did you mean workshop? Your devices: workshop\n";
    const results = await Promise.all(commands.map(async (words) => ({ words, ...(await gsv(words, { stdin: "ls\n" })) })));
    expect(results).toEqual(commands.map((words) => ({ words, code: 1, out: "", err })));
    const [foreign, absent] = await Promise.all([gsv(["ls", "vault:"]), gsv(["ls", "fault:"])]);
    expect(foreign).toEqual({ code: 1, out: "", err: "gsv: no such device: vault. Your devices: workshop\n" });
    expect(absent).toEqual({ ...foreign, err: foreign.err.replace("vault", "fault") });
    workshop.close();
    await expect.poll(async () => (await own.call("sys.device.list", {})).devices).toEqual([]);
    expect((await gsv(["ls", "worksop:"])).err).toContain("Your devices: workshop (offline)");
    expect((await gsv(["ls", "workshop:"])).err).toBe("gsv: Device offline: workshop (503)\n");
    expect((await asRoot(["ls", "worksop:"])).err).toContain("Did you mean workshop? Your devices: vault, workshop (offline)");
    vault.close();
    for (const [client, deviceId] of [
      [own, "workshop"],
      [other, "vault"],
    ] as const) {
      await client.call("sys.device.remove", { deviceId });
      client.close();
    }
  });
});

describe("repositories", () => {
  test("are created and listed, with their log and diffs", async () => {
    const made = await gsv(["repo", "create", "notes", "--description", "what I read"]);
    expect(made).toMatchObject({ code: 0, out: `git clone ${url}/git/alice/notes\n`, err: expect.stringContaining("Created alice/notes") });
    expect(await gsv(["repo", "create", "alice/notes"])).toMatchObject({ code: 0, err: "alice/notes already exists.\n" });
    expect(await gsv(["repo", "create", "root/mine"])).toMatchObject({ code: 1, err: "gsv: Repository not found: root/mine (404)\n" });
    const list = await gsv(["repo", "list"]);
    expect(list.out).toMatch(/^alice\/home +home +private /m);
    expect(list.out).toMatch(/^alice\/notes +user +private +\S.* what I read$/m);
    const ops = [{ type: "put", path: "a\u001b[2J.txt", content: "one\n\u001b[31mtwo\n" }];
    await gsv(["call", "repo.apply", JSON.stringify({ repo: "alice/notes", message: "write", ops })]);
    expect((await gsv(["repo", "log", "notes", "--limit", "1"])).out).toMatch(/^[0-9a-f]{10} +alice +\S.* write$/m);
    const diff = await gsv(["repo", "diff", "notes", "main"]);
    expect(diff.out).toContain("+++ b/a\u001b[2J.txt\n@@ -0,0 +1,2 @@\n+one\n+\u001b[31mtwo\n");
    const shown = await gsv(["repo", "diff", "notes", "main"], { env: TERMINAL });
    expect(shown.out).toContain("\u001b[32m+\\x1b[31mtwo\u001b[0m");
    expect(shown.out).not.toContain("\u001b[2J");
    expect(JSON.parse((await gsv(["repo", "diff", "notes", "main", "--json"])).out)).toMatchObject({ stats: { filesChanged: 1 } });
  });

  test("workspaces are created and listed", async () => {
    const made = await gsv(["workspace", "create", "taxes"]);
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^ws_[0-9a-f-]{36}\n$/) });
    expect((await gsv(["workspace", "list"])).out).toMatch(/^ws_\S+ +taxes +thread +active/m);
  });
});

describe("schedules and notifications", () => {
  const env = { TZ: "Europe/Berlin", PATH: process.env.PATH ?? "" };

  test("a schedule in plain words is echoed with its next runs, in this machine's time zone", async () => {
    const added = await gsv(["sched", "add", "every", "weekday", "at", "9", "summarise", "my", "mail"], { env });
    expect(added).toMatchObject({ code: 0, err: "" });
    const [first, when, next, ...runs] = added.out.trimEnd().split("\n");
    expect([first, when, next]).toEqual([
      expect.stringMatching(/^Added [0-9a-f-]{36}: summarise my mail$/),
      "When: every weekday at 09:00 (Europe/Berlin)",
      "Next runs (Europe/Berlin):",
    ]);
    expect(runs).toHaveLength(3);
    for (const run of runs) expect(run).toMatch(/^ {2}(Mon|Tue|Wed|Thu|Fri) \d+ \w{3} \d{4} 09:00$/);
    expect((await gsv(["sched"], { env })).out).toContain("summarise my mail");
  });

  test("what is not a time, or never comes, is refused with what to write", async () => {
    expect(await gsv(["sched", "add", "every", "blue", "moon", "dance"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("every weekday at 9:30"),
    });
    expect(await gsv(["sched", "add", "--cron", "0 0 30 2 *", "never"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("never runs"),
    });
    expect(await gsv(["sched", "add", "every", "day", "at", "9"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("say what to do"),
    });
  });

  test("a schedule that is run shows in its history and notifies; its result and errors have exit codes", async () => {
    const client = await enter(host, ALICE);
    const told = new Promise<void>((resolve) => client.onSignal(({ signal }) => signal === NOTIFICATION_CREATED && resolve()));
    expect(await gsv(["sched", "run", "summarise", "--force"])).toMatchObject({ code: 0, out: expect.stringContaining('"ran": 1') });
    await told;
    client.close();
    expect((await gsv(["sched", "history", "summarise"])).out).toMatch(/ +forced +ok +\d+\.\d s /);
    expect((await gsv(["notify", "list", "--unread"])).out).toMatch(/unread +info +schedules +summarise my mail/);
    expect(await gsv(["notify", "dismiss", "--all"])).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+ dismissed\n$/) });
    expect(await gsv(["notify", "list"])).toMatchObject({ out: "", err: "notify: nothing to show\n" });
    expect(await gsv(["sched", "run", "nothing-like-it", "--force"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("no schedule"),
    });
  });

  test("the crontab is printed, edited and installed, and what is wrong in it changes nothing", async () => {
    const printed = (await gsv(["crontab", "-l"], { env })).out;
    expect(printed).toMatch(/^CRON_TZ=Europe\/Berlin\n# [0-9a-f-]{36} summarise my mail\n0 9 \* \* 1-5 summarise my mail$/m);
    const file = join(scratch, "crontab");
    writeFileSync(file, printed.replace("0 9", "30 9"));
    expect((await gsv(["crontab", file], { env })).out).toBe("changed summarise my mail\n");
    expect(await gsv(["crontab", "-"], { env, stdin: `${printed}nonsense\n` })).toMatchObject({
      code: 1,
      err: expect.stringMatching(/line \d+: write minute hour .*; nothing was changed/),
    });
    const before = (await gsv(["crontab", "-l"], { env })).out;
    for (const [line, why] of [
      ["0 9 * * * @init:99999 read the mail", /line \d+: there is no process init:99999: .*; nothing was changed/],
      [`# ${"0".repeat(8)}-${"0".repeat(27)} ${"x".repeat(201)}\n0 9 * * * read`, /line \d+: the name .*; nothing was changed/],
    ] as const)
      expect(await gsv(["crontab", "-"], { env, stdin: `${before.replace("30 9", "31 9")}0 8 * * * new\n${line}\n` })).toMatchObject({
        code: 1,
        err: expect.stringMatching(why),
      });
    expect((await gsv(["crontab", "-l"], { env })).out).toBe(before);
    expect(await gsv(["crontab", "-e"], { env: { ...env, EDITOR: "sed -i s/^30/45/" } })).toMatchObject({
      err: "",
      out: "changed summarise my mail\n",
    });
    expect((await gsv(["crontab", "-e"], { env: { ...env, EDITOR: "true" } })).out).toBe("No changes\n");
    // What was edited is kept if it is not accepted, and if the gateway cannot be reached.
    const kept = async (editor: string, exitCode: number) => {
      const config = join(scratch, "config", "unreachable.toml");
      writeFileSync(config, readFileSync(configFile), { mode: 0o600 });
      const { code, err } = await gsv(["crontab", "-e"], { config, env: { ...env, EDITOR: editor, TMPDIR: scratch } });
      const [, path] = /your text is still in (\S+):/.exec(err) ?? [];
      expect([code, path]).toEqual([exitCode, expect.stringContaining(scratch)]);
      return readFileSync(path!, "utf8");
    };
    expect(await kept("sed -i '$a nonsense'", 1)).toMatch(/\n45 9 .*\nnonsense\n$/);
    const lose = `sed -i 's,^ *url *=.*,url = "ws://127.0.0.1:9/ws",' ${join(scratch, "config", "unreachable.toml")}`;
    expect(await kept(`${lose}; sed -i s/^45/46/`, 3)).toContain("\n46 9 ");
    expect((await gsv(["crontab", "-l"], { env })).out).toContain("\n45 9 ");
    expect((await gsv(["sched", "show", "summarise"], { env })).out).toContain("every weekday at 09:45 (Europe/Berlin)");
    expect((await gsv(["crontab", "-r"])).out).toBe("Removed 1\n");
    expect(await gsv(["sched", "list", "--all", "--json"])).toMatchObject({ code: 0, out: "[]\n" });
  });

  test("a person has an agent told of a signal", async () => {
    const watched = await gsv(["signal", "watch", "proc.run.finished", "--key", "k", "--ttl", "2h"]);
    expect(watched).toMatchObject({ code: 0, out: expect.stringMatching(/^Watching [0-9a-f-]{36} until /) });
    expect((await gsv(["signal", "list"])).out).toMatch(/proc\.run\.finished +any +init:1000 +k +once +active/);
    expect((await gsv(["signal", "unwatch", "--key", "k"])).out).toBe("Removed 1\n");
    expect(await gsv(["signal", "watch", "proc.run.finishes"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("proc.run.finished"),
    });
  });
});

describe("help", () => {
  test("help covers every syscall", async () => {
    const { out } = await gsv(["help", "syscalls"]);
    for (const { name } of reference) expect(out).toContain(name);
    const page = await gsv(["help", "sys.token.create"]);
    for (const part of ["Who may call it", "Arguments: {", "Result: {", "Errors:", "gsv call sys.token.create"])
      expect(page.out).toContain(part);
  });

  test("help lists all commands in groups, one line each, and ends with examples", async () => {
    const { out } = await gsv(["help"]);
    expect((await gsv([])).out).toBe(out);
    const groups = ["Start", "Chat and agents", "Approvals", "Machines", "Files", "Schedules and notifications"];
    for (const group of [...groups, "Models and integrations", "Administration", "Advanced"]) expect(out).toContain(`\n${group}:\n`);
    expect(out).toMatch(/\n {2}capability .*what groups may do\n/);
    expect(out.slice(out.indexOf("\nExamples:\n"))).toMatch(/^\nExamples:\n( {2}\S.* # .*\n)+$/);
    expect((await gsv(["help", "token", "create"])).out).toMatch(/--device <id>[^]*\nExamples:\n {2}gsv token create --device laptop/);
    expect((await gsv(["cp", "--help"])).out).toMatch(/^Usage: gsv cp \[options\] <from...> <to>\n\nCopy files between this computer/);
  });

  test("a mistyped command is answered with the nearest one", async () => {
    const answers = {
      statsu: "Did you mean gsv status?",
      login: "Use gsv auth login",
      "token crate": "Did you mean gsv token create?",
      "approvals aprove x": "Did you mean gsv approvals approve?",
      ps: "gsv run -- ps",
      xyzzy: "gsv help lists all commands",
      "help sys.tokn.create": "Did you mean sys.token.create",
    };
    for (const [line, answer] of Object.entries(answers))
      expect(await gsv(line.split(" ")), line).toMatchObject({ code: 1, out: "", err: expect.stringContaining(answer) });
    expect(await gsv(["version"])).toMatchObject({ code: 0, out: `${VERSION}\n` });
  });
});

describe("errors", () => {
  test("a wrong password is refused", async () => {
    const wrong = await gsv(["-u", "alice", "-p", "-", "call", "sys.info"], { stdin: "not the password\n" });
    expect(wrong).toEqual({ code: 1, out: "", err: "gsv: Authentication failed (401)\n" });
  });

  test("-p before the command does not take the command for a password", async () => {
    expect(await gsv(["-p", "call", "sys.info", "{}"], { stdin: `${ALICE.password}\n` })).toMatchObject({ code: 0 });
  });

  test("an unreachable gateway exits with 3", async () => {
    const gone = await gsv(["--url", "ws://localhost:9", "status"]);
    expect(gone.code).toBe(3);
    const nobody = await gsv(["--url", "http://127.0.0.1:18", "status"], { env: { GSV_HOME: join(scratch, "nobody") } });
    expect(nobody).toMatchObject({ code: 3, out: expect.stringContaining("Start it with: gsv up") });
    const elsewhere = await gsv(["--url", "http://127.0.0.1:18", "status"]);
    expect(elsewhere).toMatchObject({ code: 3, out: expect.stringContaining(`is at ${url}: add --url ${url}\n`) });
    expect(await gsv(["--url", "http://127.0.0.1:18", "call", "sys.info"])).toMatchObject({
      code: 3,
      out: "",
      err: expect.stringMatching(/^gsv: No gateway at .*\n$/),
    });
    expect(await gsv(["--url", "http://127.0.0.1:18", "doctor"])).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^fail +No gateway at/m),
    });
  });

  test("a URL with more than an address is refused", async () => {
    const bare = url.replace("http://", "");
    for (const hostile of [`ws://alice:pw@${bare}/ws`, `ws://${bare}/ws?token=x`, `ws://${bare}/ws#x`, `ws://gsv.example\\@${bare}/`, bare])
      expect(await gsv(["status", "--url", hostile])).toMatchObject({
        code: 1,
        out: "",
        err: expect.stringMatching(/^gsv: Invalid gateway address.*\n$/),
      });
  });

  test("a configuration that others can read is not used", async () => {
    chmodSync(configFile, 0o644);
    expect(await gsv(["call", "sys.info"])).toMatchObject({ code: 1, err: expect.stringMatching(/chmod 600 .*\ngsv: Not logged in at/) });
    expect(await gsv(["doctor"])).toMatchObject({ code: 1, out: expect.stringMatching(/^fail .*config\.toml has mode 644/m) });
    chmodSync(configFile, 0o600);
  });

  test("an invalid configuration is reported", async () => {
    const config = join(scratch, "damaged.toml");
    writeFileSync(config, "[gateway\n", { mode: 0o600 });
    expect(await gsv(["status"], { config })).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^gsv: .*damaged\.toml is not valid TOML/),
    });
  });

  test("doctor checks the gateway, this machine and the account", async () => {
    chmodSync(join(host.home, "secret.key"), 0o644);
    const { code, out } = await asRoot(["doctor"]);
    expect(code).toBe(1);
    expect(out).toMatch(/^fail .*secret\.key can be read by other users/m);
    expect(out).toMatch(/^ok +Gateway and CLI are both version/m);
    expect(out).toMatch(/^ok +A gateway runs with data directory /m);
    expect(out).toMatch(/^ok +Rights: Only root may do everything/m);
    chmodSync(join(host.home, "secret.key"), 0o600);
    const after = JSON.parse((await gsv(["doctor", "--json"])).out) as { findings: { mark: string; text: string }[] };
    expect(after.findings.filter(({ text }) => text.includes("secret.key"))).toEqual([]);
  });
});

describe("sessions", () => {
  test("a revoked session is dropped, and the next login is stored", async () => {
    await gsv(["token", "revoke", localConfig().gateway.session_token_id ?? ""]);
    expect(await gsv(["status"])).toMatchObject({ code: 0, out: expect.stringContaining("not logged in, the token was refused") });
    expect(await gsv(["call", "sys.info"])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/the session is no longer valid.*\ngsv: Not logged in at/),
    });
    expect(localConfig().gateway).not.toHaveProperty("session_token");
    expect(await gsv(["auth", "login", "-p", "-"], { stdin: `${ALICE.password}\n` })).toMatchObject({
      code: 0,
      err: expect.stringContaining("Logged in as alice"),
    });
    expect(await gsv(["call", "sys.info"])).toMatchObject({ code: 0 });
  });

  test("logout also revokes the token at the gateway", async () => {
    const token = localConfig().gateway.session_token ?? "";
    expect(await gsv(["auth", "logout"])).toMatchObject({ code: 0, err: expect.stringContaining("is revoked") });
    expect(readFileSync(configFile, "utf8")).not.toContain("gsv_user_");
    expect(await gsv(["-t", token, "call", "sys.info"])).toMatchObject({ code: 1, err: "gsv: Authentication failed (401)\n" });
    expect(await gsv(["status"])).toMatchObject({ code: 0, out: expect.stringContaining("not logged in: run gsv auth login") });
  });
});

/** Makes a program believe that its output is a terminal. */
const TERMINAL = { NODE_OPTIONS: "--import=data:text/javascript,process.stdout.isTTY=true" };

let rootToken: string | null = null;

/** A client of this user, with a token that root creates. */
async function connect(username: string): Promise<Client> {
  const { users } = JSON.parse((await asRoot(["user", "list", "--json"])).out) as { users: { uid: number; username: string }[] };
  const uid = users.find((user) => user.username === username)!.uid;
  const token = (await asRoot(["token", "create", "--uid", String(uid)])).out.trim();
  return enter(host, { username, token });
}

/** Runs a command as root, with a token, because passwords are slow on purpose. */
async function asRoot(args: string[], stdin = ""): Promise<Run> {
  rootToken ??= (await gsv(["-u", "root", "-p", "-", "token", "create"], { stdin: `${ROOT.password}\n` })).out.trim();
  return gsv(["-u", "root", ...args], { stdin, env: { GSV_TOKEN: rootToken } });
}

function withPassword(args: string[]): Promise<Run> {
  return gsv([...args, "-p", "-"], { stdin: `${ALICE.password}\n` });
}

function localConfig(): { gateway: Record<string, string | undefined> } {
  return parse(readFileSync(configFile, "utf8")) as { gateway: Record<string, string | undefined> };
}

function gsv(args: string[], { stdin = "", env = {}, config = configFile }: Options = {}): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(BUILD, "gsv.js"), ...args], {
      env: { PATH: process.env.PATH, HOME: scratch, GSV_HOME: host.home, GSV_CONFIG: config, ...env },
    });
    let out = "";
    let err = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, out, err }));
    // A command that reads nothing may have exited before this arrives.
    child.stdin.on("error", () => {});
    child.stdin.end(stdin);
  });
}

/** Runs a command in its own terminal and types `keys` once it asks. Returns its whole output. */
function atTerminal(args: string[], keys: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const command = [process.execPath, join(BUILD, "gsv.js"), ...args].map((word) => `'${word}'`).join(" ");
    const child = spawn("/usr/bin/script", ["-qec", `stty cols 100 rows 30; ${command}`, "/dev/null"], {
      env: { PATH: process.env.PATH, HOME: scratch, GSV_HOME: host.home, GSV_CONFIG: configFile, SHELL: "/bin/sh", TERM: "xterm" },
    });
    let shown = "";
    let unsent = keys;
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      shown += text;
      if (!shown.includes("everything in it?")) return;
      child.stdin.write(unsent);
      unsent = "";
    });
    child.on("error", reject);
    child.on("close", () => resolve(shown));
  });
}
