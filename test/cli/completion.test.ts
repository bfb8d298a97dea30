// Completion in real shells, and gsv open: the real bundle against a started gateway.

import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { BUILD } from "../support/current-build.ts";
import { plugIn } from "../support/devices.ts";
import type { Host } from "../support/host.ts";
import { startNodeHost } from "../support/node-host.ts";
import { ALICE, enter, populate } from "../support/people.ts";
import { hasTmux, Terminal } from "../support/tmux.ts";

type Run = { code: number | null; out: string; err: string };

const hasProgram = (program: string) => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;

let host: Host & { home: string };
let scratch: string;
let env: Record<string, string>;
let conversation: string;
let terminal: Terminal | null = null;

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), "gsv-completion-"));
  host = await startNodeHost();
  await populate(host);
  const alice = await enter(host, ALICE);
  const { token } = (await alice.call("sys.token.create", { kind: "user" })).token;
  await plugIn(host, alice, "laptop");
  conversation = (await alice.call("proc.conversation.open", { pid: `init:${alice.session.identity.process.uid}`, title: "Taxes" }))
    .conversation.id;
  alice.close();
  writeFileSync(join(scratch, "gsv"), `#!/bin/sh\nexec '${process.execPath}' '${join(BUILD, "gsv.js")}' "$@"\n`);
  chmodSync(join(scratch, "gsv"), 0o755);
  const config = join(scratch, "config.toml");
  writeFileSync(config, `[gateway]\nurl = "${host.url}"\nusername = "alice"\ntoken = "${token}"\n`, { mode: 0o600 });
  env = { PATH: `${scratch}${delimiter}${process.env.PATH}`, HOME: scratch, GSV_HOME: host.home, GSV_CONFIG: config, LANG: "C.UTF-8" };
});

afterEach(() => {
  terminal?.close();
  terminal = null;
});

afterAll(async () => {
  await host.close();
  rmSync(scratch, { recursive: true, force: true });
});

describe("completion", () => {
  test("offers commands, subcommands, options and names of the gateway", async () => {
    expect(await offered("tok")).toEqual(["token"]);
    expect(await offered("token", "")).toEqual(["create", "list", "revoke"]);
    expect(await offered("approvals", "approve", "--sc")).toEqual(["--scope"]);
    expect(await offered("-u", "alice", "approvals", "approve", "--scope", "")).toEqual(["exact", "folder", "tool"]);
    expect(await offered("shell", "--target", "")).toEqual(["gsv", "laptop"]);
    expect(await offered("cp", "notes.md", "lap")).toEqual(["laptop:"]);
    expect(await offered("chat", "--conversation", conversation.slice(0, 4))).toEqual([conversation]);
    expect(await offered("proc", "abort", "i")).toEqual(["init"]);
    expect(await offered("help", "approv")).toEqual(["approvals"]);
    expect(await offered("run", "--", "")).toEqual([]);
    expect((await gsv(["__complete", "--line", "gsv token 're"])).out).toMatch(/^revoke\t/);
  });

  test("keeps names in a private file, and offers none of another user or without a login", async () => {
    await offered("shell", "--target", "");
    const cache = join(scratch, "completion.json");
    expect(statSync(cache).mode & 0o777).toBe(0o600);
    expect(readFileSync(cache, "utf8")).not.toContain("gsv_user_");
    expect(await offered("shell", "--target", "lap")).toEqual(["laptop"]);
    const nobody = join(scratch, "nobody", "config.toml");
    expect((await gsv(["__complete", "--", "shell", "--target", ""], { GSV_CONFIG: nobody })).out).toBe("");
    expect(existsSync(join(scratch, "nobody"))).toBe(false);
  });

  test.skipIf(!hasTmux || !hasProgram("bash"))("bash completes at Tab", async () => {
    terminal = new Terminal(scratch, 1, { ...env, PS1: "$ " }, ["bash", "--norc", "--noprofile", "-i"]);
    await terminal.shows("$");
    terminal.say("source <(gsv completion bash); echo rea''dy");
    await terminal.shows("ready");
    terminal.type("gsv tok");
    terminal.keys("Tab");
    await terminal.shows(/gsv token$/);
    terminal.type("cr");
    terminal.keys("Tab");
    await terminal.shows(/gsv token create$/);
    // tmux would take a leading dash for its own.
    terminal.type(" --dev");
    terminal.keys("Tab");
    terminal.type("lap");
    terminal.keys("Tab");
    await terminal.shows("gsv token create  --device laptop");
    terminal.keys("C-u");
    terminal.type("gsv cat lap");
    terminal.keys("Tab");
    terminal.type("notes.md");
    await terminal.shows("gsv cat laptop:notes.md");
  });

  test.skipIf(!hasProgram("zsh"))("zsh accepts the script", async () => {
    const { out } = await gsv(["completion", "zsh"]);
    expect(spawnSync("zsh", ["-f", "-n"], { input: out })).toMatchObject({ status: 0 });
  });

  test.skipIf(!hasProgram("fish"))("fish completes", async () => {
    const { out } = await gsv(["completion", "fish"]);
    const done = spawnSync("fish", ["--no-config", "-c", `${out}\ncomplete -C 'gsv token cr'`], { env, encoding: "utf8" });
    expect(done.stdout).toMatch(/^create\t/);
  });

  test("an unknown shell is refused", async () => {
    expect(await gsv(["completion", "tcsh"])).toMatchObject({ code: 2, err: "gsv: Which shell? gsv completion bash, zsh or fish\n" });
  });
});

describe("gsv open", () => {
  test("prints the address of a screen, a machine or a conversation where no browser is, and never a token", async () => {
    const init = encodeURIComponent("init:1000");
    const addresses = {
      "": "/",
      home: "/",
      approvals: "/approvals",
      "settings/ai": "/settings/ai",
      laptop: "/machines/laptop",
      Taxes: `/chat/${init}/${conversation}`,
    };
    for (const [place, path] of Object.entries(addresses))
      expect(await gsv(["open", ...(place === "" ? [] : [place])])).toEqual({ code: 0, out: `${host.url}${path}\n`, err: "" });
    expect(JSON.parse((await gsv(["open", "chat", "--json"])).out)).toEqual({ url: `${host.url}/chat` });
    expect(await gsv(["open", "setings"])).toMatchObject({ code: 1, err: expect.stringContaining("Did you mean gsv open settings?") });
    expect(await gsv(["open", "approvals"], { GSV_URL: "http://127.0.0.1:18" })).toMatchObject({ code: 3 });
  });

  test("starts the user's browser with nothing but the address", async () => {
    const browser = join(scratch, "browser");
    writeFileSync(browser, `#!/bin/sh\nprintf '%s\\n' "$#" "$@" > ${join(scratch, "opened")}\n`);
    chmodSync(browser, 0o755);
    expect(await gsv(["open", "machines"], { BROWSER: browser })).toMatchObject({
      code: 0,
      err: expect.stringContaining("in your browser"),
    });
    expect(readFileSync(join(scratch, "opened"), "utf8")).toBe(`1\n${host.url}/machines\n`);
    rmSync(join(scratch, "opened"));
    expect(await gsv(["open"], { BROWSER: browser, SSH_CONNECTION: "1" })).toMatchObject({ code: 0, out: `${host.url}/\n` });
    expect(existsSync(join(scratch, "opened"))).toBe(false);
    expect((await gsv(["open"], { BROWSER: "/nonexistent" })).err).toContain("no browser could be started");
  });
});

async function offered(...words: string[]): Promise<string[]> {
  const { out } = await gsv(["__complete", "--", ...words]);
  return out.split("\n").flatMap((line) => (line === "" ? [] : [line.split("\t")[0]!]));
}

function gsv(args: readonly string[], more: Record<string, string> = {}): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(join(scratch, "gsv"), args, { env: { ...env, ...more }, stdio: ["ignore", "pipe", "pipe"] });
    let out = "";
    let err = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, out, err }));
  });
}
