// gsv shell --target at a terminal: the real bundle inside tmux, a started gateway, and a device daemon in its own process.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { BUILD } from "../support/current-build.ts";
import type { Host } from "../support/host.ts";
import { startNodeHost } from "../support/node-host.ts";
import { ALICE, enter, populate } from "../support/people.ts";
import { steadyPort } from "../support/steady-port.ts";

const hasProgram = (program: string) => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
const PROMPT = "laptop-shell$";

describe.skipIf(!hasProgram("tmux") || !hasProgram("bash"))("gsv shell --target", () => {
  let host: Host & { home: string };
  let scratch: string;
  let client: Client;
  let daemon: ChildProcess;
  let screens = 0;
  let tokens: { user: string; device: string };

  beforeAll(async () => {
    scratch = mkdtempSync(join(tmpdir(), "gsv-terminal-"));
    // A restarted gateway keeps its port.
    const port = String(await steadyPort());
    host = await startNodeHost({ port });
    mkdirSync(join(scratch, "work"));
    writeFileSync(join(scratch, ".bash_profile"), `PS1='${PROMPT} '\n`);
    writeFileSync(join(scratch, ".vimrc"), "set noswapfile\n");
    await populate(host);
    client = await enter(host, ALICE);
    client.keepConnected();
    const make = async (args: { kind: "user" } | { kind: "node"; allowedDeviceId: string }) =>
      (await client.call("sys.token.create", args)).token.token;
    tokens = { user: await make({ kind: "user" }), device: await make({ kind: "node", allowedDeviceId: "laptop" }) };
    daemon = await startDaemon(BUILD, "laptop", tokens.device);
  });

  afterEach(() => void tmux("kill-server"));

  afterAll(async () => {
    daemon.kill("SIGKILL");
    client.close();
    await host.close();
    rmSync(scratch, { recursive: true, force: true });
  });

  test("Ctrl-C ends the command and not the shell, and the size and the exit code are passed through", async () => {
    open();
    await type("stty size", "30 100");
    await type("echo $TERM; tty | cut -c1-5", "/dev/");
    expect(screen()).toContain("xterm-256color");
    tmux("send-keys", "echo begun; sleep 1000", "Enter");
    await waitFor(/^begun$/m);
    tmux("send-keys", "C-c");
    await type('echo "[$?]"', "[130]");
    tmux("send-keys", "echo again; sleep 1000", "Enter");
    await waitFor(/^again$/m);
    tmux("send-keys", "C-z");
    await waitFor("Stopped");
    await type("kill %1; echo é漢🙂 | od -An -tx1", "c3 a9 e6 bc a2 f0 9f 99 82");
    tmux("resize-window", "-x", "77", "-y", "20");
    await expect.poll(() => (tmux("send-keys", "stty size", "Enter"), screen())).toContain("20 77");
    tmux("send-keys", "exit 7", "Enter");
    await waitFor("code=7");
  });

  test.skipIf(!hasProgram("vim"))("vim edits a file there and restores the screen", async () => {
    open();
    await type("echo before", "before");
    tmux("send-keys", "vim notes.txt", "Enter");
    await waitFor("~\n~\n");
    expect(screen()).not.toContain("before");
    tmux("send-keys", "i", "first line é", "Enter", "second", "Escape");
    await waitFor("second");
    tmux("send-keys", ":wq", "Enter");
    await waitFor("before");
    expect(readFileSync(join(scratch, "work", "notes.txt"), "utf8")).toBe("first line é\nsecond\n");
    tmux("send-keys", "exit", "Enter");
    await waitFor("code=0");
  });

  test.skipIf(!hasProgram("top"))("a full-screen program receives its keys", async () => {
    open();
    await type("echo before", "before");
    tmux("send-keys", "top -d 1", "Enter");
    await waitFor(/PID\s+USER/);
    tmux("send-keys", "q");
    await waitFor(PROMPT);
    await type("echo after", "after");
  });

  test("a large output is shown completely and in order", async () => {
    open("tmp=out");
    await type("seq 1 300000; echo end-of-$((40+2))", "end-of-42");
    // Without the terminal modes, which a shell switches before each command.
    const all = stripVTControlCharacters(readFileSync(join(scratch, "out"), "utf8"));
    const lines = all
      .split(/\r*\n\r*/)
      .map((line) => line.trim())
      .filter((line) => /^\d+$/.test(line));
    expect(lines).toEqual(Array.from({ length: 300_000 }, (_, at) => String(at + 1)));
  });

  test("a shell left with ~. keeps running, and can be listed, attached again and killed", async () => {
    open();
    await type("x=kept; echo ready", "ready");
    tmux("send-keys", "Enter", "~.");
    await waitFor(/it is still running; to return to it: gsv jobs attach (sh_\w+)/);
    await waitFor("code=0");
    const { sessions } = await client.call("shell.list", { target: "laptop" });
    const mine = sessions.find(({ state, tty }) => state === "running" && tty === true)!;
    expect(screen().replaceAll("\n", "")).toContain(mine.sessionId);
    tmux("kill-server");
    open("jobs", "attach", mine.sessionId.slice(0, 12));
    await type('echo "[$x]"', "[kept]");
    expect(await gsv("jobs", "kill", mine.sessionId)).toEqual({ code: 0, out: `Sent SIGHUP to ${mine.sessionId} on laptop.\n` });
    await waitFor("code=129");
  });

  test("the shell survives a restart of the gateway", async () => {
    open();
    await type("x=kept; (sleep 2; echo said meanwhile) & echo ready", "ready");
    await host.restart();
    await waitFor("reconnected");
    await waitFor("said meanwhile");
    await type('echo "[$x]"', "[kept]");
  });

  test("gsv run loses no output across a restart of the gateway and returns the exit code", async () => {
    const running = gsv("run", "--target", "laptop", "--", "for at in 1 2 3 4 5 6; do echo $at; sleep 0.5; done; exit 6");
    await expect
      .poll(async () => (await client.call("shell.list", { target: "laptop" })).sessions.map(({ command }) => command))
      .toContainEqual(expect.stringContaining("for at in"));
    await host.restart();
    expect(await running).toEqual({ code: 6, out: "1\n2\n3\n4\n5\n6\n" });
  });

  test("gsv jobs lists commands, follows them to their end, and sends them signals", async () => {
    const start = async (input: string) => {
      const result = await client.call("shell.exec", { target: "laptop", input, until: "sent" });
      if (result.status !== "running") throw new Error(JSON.stringify(result));
      return result.sessionId;
    };
    const [short, long] = [await start("echo one; sleep 1; echo two; exit 3"), await start("sleep 1000")];
    const { jobs } = JSON.parse((await gsv("jobs", "--json")).out) as { jobs: { sessionId: string; target: string; state: string }[] };
    expect(jobs.map(({ sessionId, target }) => [sessionId, target])).toEqual(
      expect.arrayContaining([short, long].map((id) => [id, "laptop"])),
    );
    expect((await gsv("jobs", "--target", "laptop")).out).toMatch(new RegExp(`^JOB .*\n[^]*${long} +laptop +running .*sleep 1000\n`));
    expect(await gsv("jobs", "attach", short)).toEqual({ code: 3, out: "one\ntwo\n" });
    expect(await gsv("jobs", "kill", long, "--signal", "sigint")).toEqual({ code: 0, out: `Sent SIGINT to ${long} on laptop.\n` });
    expect(await gsv("jobs", "attach", long)).toEqual({ code: 130, out: "" });
    expect(await gsv("jobs", "kill", long)).toMatchObject({ code: 1 });
  });

  test("a device without terminals says so and offers a prompt instead", async () => {
    const bare = mkdtempSync(join(tmpdir(), "gsv-bare-"));
    cpSync(realpathSync(BUILD), bare, { recursive: true });
    const { token } = await client.call("sys.token.create", { kind: "node", allowedDeviceId: "bare" });
    const other = await startDaemon(bare, "bare", token.token);
    try {
      open("shell", "--target", "bare");
      await waitFor("does not support terminals");
      await waitFor("alice@bare");
      await type('cd /; x=5; echo "[$x]"', "[5]");
    } finally {
      other.kill("SIGKILL");
      rmSync(bare, { recursive: true, force: true });
    }
  });

  test("a closed terminal ends the shell, and SIGTERM leaves the terminal usable", async () => {
    open();
    await type("echo ready", "ready");
    const running = async () => (await client.call("shell.list", { target: "laptop" })).sessions.filter(({ state }) => state === "running");
    const [mine] = (await running()).slice(-1);
    tmux("kill-server");
    await expect.poll(async () => (await running()).some(({ sessionId }) => sessionId === mine?.sessionId)).toBe(false);
    open();
    await type("vim", "~\n~\n");
    const pane = tmux("display-message", "-p", "#{pane_pid}").trim();
    const pid = Number(spawnSync("pgrep", ["-P", pane], { encoding: "utf8" }).stdout);
    process.kill(pid, "SIGTERM");
    await waitFor("code=143");
    tmux("send-keys", "echo typed", "Enter");
    await waitFor(/^typed$/m);
  });

  function environment(): NodeJS.ProcessEnv {
    return {
      PATH: process.env.PATH,
      HOME: scratch,
      SHELL: "/bin/bash",
      LANG: "C.UTF-8",
      GSV_HOME: host.home,
      GSV_URL: host.url,
      GSV_CONFIG: join(scratch, "config.toml"),
    };
  }

  function startDaemon(build: string, deviceId: string, token: string): Promise<ChildProcess> {
    const args = [join(build, "gsv.js"), "-u", "alice", "device", "run", "--id", deviceId, "--workspace", join(scratch, "work")];
    const env = { ...environment(), GSV_DEVICE_TOKEN: token };
    const child = spawn(process.execPath, args, { cwd: scratch, env, stdio: ["ignore", "pipe", "inherit"] });
    return new Promise((resolve) => child.stdout.once("data", () => resolve(child)));
  }

  function gsv(...args: string[]): Promise<{ code: number | null; out: string }> {
    const env = { ...environment(), GSV_TOKEN: tokens.user };
    const child = spawn(process.execPath, [join(BUILD, "gsv.js"), "-u", "alice", ...args], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    return new Promise((resolve) => child.on("close", (code) => resolve({ code, out })));
  }

  /** Opens a new screen that runs the command, prints its exit code and then starts a shell. */
  function open(...words: string[]): void {
    const copies = words[0] === "tmp=out" ? words.shift() : undefined;
    const args = words.length === 0 ? ["shell", "--target", "laptop"] : words;
    const line = [process.execPath, join(BUILD, "gsv.js"), ...args].join(" ");
    const env = Object.entries({ ...environment(), GSV_TOKEN: tokens.user, ENV: "" }).map(([name, value]) => `${name}='${value}'`);
    const all = `env -i TERM=screen ${env.join(" ")} ${line} -u alice; echo code=$?; exec sh`;
    // A server that is shutting down would still be found under its old name.
    screens++;
    tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30", all);
    if (copies !== undefined) tmux("pipe-pane", `cat > ${join(scratch, "out")}`);
  }

  /** Types a line at the prompt and waits for the answer, ignoring the echo of the line. */
  async function type(line: string, answer: string): Promise<void> {
    tmux("send-keys", "-l", line);
    tmux("send-keys", "Enter");
    await expect
      .poll(() =>
        screen()
          .split("\n")
          .filter((shown) => !shown.includes(line))
          .join("\n"),
      )
      .toContain(answer);
  }

  async function waitFor(wanted: string | RegExp): Promise<void> {
    await expect.poll(screen).toMatch(wanted instanceof RegExp ? wanted : new RegExp(wanted.replace(/[$[\].*+?(){}|\\^]/g, "\\$&")));
  }

  function screen(): string {
    return tmux("capture-pane", "-p");
  }

  function tmux(...args: string[]): string {
    return spawnSync("tmux", ["-S", join(scratch, `tmux-${screens}`), ...args], {
      encoding: "utf8",
      env: { ...environment(), TERM: "xterm-256color" },
    }).stdout;
  }
});
