import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type ExecArgs, execCommand, type ExecResult } from "../hardware/exec.ts";
import { type Machine, NATIVE_LIMITS } from "../hardware/filesystem.ts";
import { makeMachineVitals } from "../hosts/shared/machine-vitals.ts";
import { makeCommandEnvironment } from "./environment.ts";
import { MachineFiles } from "./files.ts";
import { loadPty } from "./pty.ts";
import { MachineShell } from "./shell.ts";

const LONG_MS = 60_000;

let folder: string;
let machine: Machine;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gsv-machine-"));
  machine = machineIn(folder);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Uses its own home, so that nobody's start-up files interfere. */
function machineIn(home: string, from: NodeJS.ProcessEnv = {}): Machine {
  const files = new MachineFiles(home);
  const env = makeCommandEnvironment({ PATH: process.env.PATH, HOME: home, SHELL: "/bin/sh", ...from }, "laptop");
  const shell = new MachineShell({ files, env, waitMs: LONG_MS });
  const readVitals = makeMachineVitals(home);
  return { files, shell, limits: NATIVE_LIMITS, now: () => Date.now(), signal: new AbortController().signal, readVitals };
}

const run = (input: string, more: Partial<ExecArgs> = {}) => execCommand(machine, { input, ...more });

async function startSession(input: string, more: Partial<ExecArgs> = {}): Promise<string> {
  const result = await run(input, { until: "sent", ...more });
  if (result.status !== "running") throw new Error(JSON.stringify(result));
  return result.sessionId;
}

/** The output of a session until it contains the text, or the session ends. */
async function readUntil(sessionId: string, text: string | RegExp): Promise<string> {
  let all = "";
  while (typeof text === "string" ? !all.includes(text) : !text.test(all)) {
    const result = await run("", { sessionId, until: "output" });
    all += result.output;
    if (result.status !== "running") break;
  }
  return all;
}

/** V21: each of these changes the behaviour of some program, or names a secret. */
const DANGEROUS = (
  "GIT_SSH_COMMAND GIT_SSH GIT_EXTERNAL_DIFF GIT_PAGER GIT_EDITOR GIT_ASKPASS GIT_CONFIG_COUNT GIT_PROXY_COMMAND GIT_DIR SSH_ASKPASS " +
  "LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND BASH_ENV ENV " +
  "BASH_FUNC_ls%% IFS CDPATH GLOBIGNORE NODE_OPTIONS NODE_PATH PYTHONPATH PYTHONSTARTUP PYTHONHOME PERL5LIB PERL5OPT PERL5DB RUBYOPT RUBYLIB " +
  "JAVA_TOOL_OPTIONS _JAVA_OPTIONS EDITOR VISUAL PAGER MANPAGER LESSOPEN LESSCLOSE BROWSER GCONV_PATH MAKEFLAGS npm_config_script_shell " +
  "DOCKER_HOST KUBECONFIG HTTPS_PROXY AWS_SECRET_ACCESS_KEY GSV_TOKEN GSV_DEVICE_TOKEN OPENAI_API_KEY"
).split(" ");

describe.skipIf(process.platform === "win32")("commands", () => {
  test("their environment contains no variable that changes the behaviour of programs", async () => {
    expect(DANGEROUS.length).toBeGreaterThanOrEqual(40);
    const poison = Object.fromEntries(DANGEROUS.map((name) => [name, "poison"]));
    const poisoned = machineIn(folder, poison);
    for (const more of [{}, { tty: { cols: 200, rows: 50 } }]) {
      const { output } = await execCommand(poisoned, { input: "env", ...more });
      expect(output).toContain("GSV_DEVICE=laptop");
      expect(output).not.toContain("poison");
      const names = new Set(output.split(/\r?\n/).map((line) => line.slice(0, line.indexOf("="))));
      // A shell may set some of them itself, with correct values.
      expect(DANGEROUS.filter((name) => names.has(name) && name !== "SHELLOPTS")).toEqual([]);
    }
  });

  test("of half a gigabyte of output, the start, the end and the number of omitted bytes are kept", async () => {
    const result = await run("echo first; yes 0123456789 | head -c 500000000; echo; echo last");
    expect(result).toMatchObject({ status: "completed", truncated: true });
    expect(result.output.slice(0, 17)).toBe("first\n0123456789\n");
    expect(result.output.slice(-6)).toBe("\nlast\n");
    const [, missing] = /\n\.\.\.\[truncated: (\d+) bytes left out\]\.\.\.\n/.exec(result.output) ?? [];
    expect(Number(missing) + 256 * 1024).toBe("first\n".length + 500_000_000 + "\nlast\n".length);
  });

  test("a follower gets all output", async () => {
    let result: ExecResult = await run("seq 1 400000", { until: "output", after: 0 });
    let all = result.output;
    while (result.status === "running") {
      const { sessionId, part = 0 }: { sessionId: string; part?: number } = result;
      result = await run("", { sessionId, until: "output", after: part });
      all += result.output;
    }
    expect(result.status).toBe("completed");
    expect(all === Array.from({ length: 400_000 }, (_, at) => `${at + 1}\n`).join("")).toBe(true);
  });

  test("a flood from a background process does not keep a followed command from ending", async () => {
    const pid = join(folder, "flooding");
    let result: ExecResult = await run(`yes & echo $! > ${pid}`, { until: "output", after: 0 });
    while (result.status === "running") {
      const { sessionId, part = 0 }: { sessionId: string; part?: number } = result;
      result = await run("", { sessionId, until: "output", after: part });
    }
    process.kill(Number(readFileSync(pid, "utf8")));
    expect(result.status).toBe("completed");
  });

  test("a signal reaches every process the command has started", async () => {
    const pids = join(folder, "pids");
    const sessionId = await startSession(`(echo $BASHPID >/dev/null; sleep 1000 & echo $! > ${pids}; echo begun; wait) & wait`);
    await readUntil(sessionId, "begun");
    const inner = Number(readFileSync(pids, "utf8"));
    expect(await run("", { sessionId, signal: "TERM" })).toMatchObject({
      status: "failed",
      exitCode: 143,
      error: "Command was ended by SIGTERM",
    });
    await expect.poll(() => isAlive(inner)).toBe(false);
  });

  test("a command that traps signals receives them, and SIGKILL ends it", async () => {
    const sessionId = await startSession("trap 'echo heard' USR1; trap '' INT; echo ready; while :; do sleep 0.1; done");
    await readUntil(sessionId, "ready");
    await run("", { sessionId, signal: "USR1", until: "sent" });
    expect(await readUntil(sessionId, "heard")).toContain("heard\n");
    expect(await run("", { sessionId, signal: "KILL" })).toMatchObject({ exitCode: 137 });
  });

  test("a requested time limit ends the command and everything it started", async () => {
    // Far in the future; the test fires it once the command has run.
    const limitMs = 543_210;
    const set = vi.spyOn(globalThis, "setTimeout");
    const marker = join(folder, "limited");
    const sessionId = await startSession(`echo begun; touch ${marker}; sleep 1000`, { timeout: limitMs });
    const reachLimit = set.mock.calls.find(([, ms]) => ms === limitMs)![0];
    set.mockRestore();
    await expect.poll(() => existsSync(marker)).toBe(true);
    reachLimit();
    expect(await run("", { sessionId })).toMatchObject({
      exitCode: 124,
      error: `Command timed out after ${limitMs}ms`,
      output: "begun\n",
    });
  });

  test("a background process does not keep its command from ending", async () => {
    const result = await run("sleep 1000 & echo $!");
    expect(result).toMatchObject({ status: "completed" });
    process.kill(Number(result.output));
  });

  test("input arrives completely, and end of input ends the command", async () => {
    const text = "é0123456789\n".repeat(50_000);
    const sessionId = await startSession("wc -c");
    expect(await run(text, { sessionId, until: "sent" })).toMatchObject({ status: "running", output: "" });
    expect(await run("\u0004", { sessionId })).toMatchObject({ status: "completed", output: expect.stringContaining("650000") });
  });

  test("arguments that need a running command or a terminal are refused with a hint", async () => {
    expect(await run("ls", { signal: "INT" })).toMatchObject({ status: "failed", error: expect.stringContaining("give its sessionId") });
    const sessionId = await startSession("cat");
    expect(await run("", { sessionId, resize: { cols: 9, rows: 9 } })).toMatchObject({
      error: expect.stringContaining("no terminal to resize"),
    });
    expect(await run("", { sessionId, tty: { cols: 9, rows: 9 } })).toMatchObject({ error: expect.stringContaining("give resize") });
    expect(await run("\u0003", { sessionId })).toMatchObject({ status: "failed", exitCode: 130, error: "Interrupted" });
  });

  test("sixteen commands run at once, and ended ones are listed until they were polled", async () => {
    const crowded = machineIn(folder);
    const ids: string[] = [];
    for (let at = 0; at < 16; at++) {
      const result = await execCommand(crowded, { input: "read line; exit $line", until: "sent" });
      if (result.status === "running") ids.push(result.sessionId);
    }
    await expect(execCommand(crowded, { input: "true" })).rejects.toThrow(new RegExp(`at most 16 at once.*${ids.join(", ")}$`));
    for (const sessionId of ids) await execCommand(crowded, { input: "5\n", sessionId, until: "sent" });
    const states = async () => (await crowded.shell.list()).map(({ state, exitCode }) => `${state} ${exitCode}`);
    await expect.poll(states).toEqual(Array.from({ length: 16 }, () => "ended 5"));
    for (const sessionId of ids) expect(await execCommand(crowded, { input: "", sessionId })).toMatchObject({ exitCode: 5 });
    expect(await states()).toEqual([]);
  });
});

describe.skipIf(process.platform === "win32")("terminals", () => {
  const tty = { cols: 90, rows: 33 };

  test("a command gets a terminal of the requested size, and Ctrl-C interrupts it", async () => {
    const sessionId = await startSession("stty size; tty; echo $TERM; trap 'echo caught; exit 3' INT; echo ready; read line", { tty });
    const output = await readUntil(sessionId, "ready");
    expect(output).toMatch(/^33 90\r\n\/dev\/\S+\r\nxterm-256color\r\nready\r\n$/);
    expect(await run("\u0003", { sessionId })).toMatchObject({ status: "failed", exitCode: 3, output: expect.stringContaining("caught") });
  });

  test("without a command it is the user's shell, which sees size changes", async () => {
    const sessionId = await startSession("", { tty });
    expect(await machine.shell.list()).toMatchObject([{ sessionId, command: "/bin/sh", tty: true }]);
    await run("", { sessionId, resize: { cols: 44, rows: 11 }, until: "sent" });
    await run("stty size; echo over # said\n", { sessionId, until: "sent" });
    expect(await readUntil(sessionId, "over\r\n")).toContain("11 44\r\n");
    expect(await run("exit 9\n", { sessionId })).toMatchObject({ exitCode: 9 });
  });

  test("a signal reaches the foreground job, and SIGHUP ends the shell", async () => {
    const sessionId = await startSession("", { tty });
    // The job itself prints it, so it is running. It uses exec, because sh may lose an interrupt that arrives while it starts a
    // program.
    await run("sh -c 'echo begun; exec sleep 1000'\n", { sessionId, until: "sent" });
    await readUntil(sessionId, "begun\r");
    await run("", { sessionId, signal: "INT", until: "sent" });
    // An interrupted shell drops input typed before its next prompt.
    await readUntil(sessionId, /[#$] $/);
    await run("echo after-$?\n", { sessionId, until: "sent" });
    expect(await readUntil(sessionId, "after-1")).toContain("after-130");
    expect(await run("", { sessionId, signal: "HUP" })).toMatchObject({ status: "failed", exitCode: 129 });
  });

  test("a follower gets all output, including the last of a command that exits while paused", async () => {
    let result: ExecResult = await run("seq 1 300000", { tty, until: "output", after: 0 });
    let all = result.output;
    while (result.status === "running") {
      const { sessionId, part = 0 }: { sessionId: string; part?: number } = result;
      result = await run("", { sessionId, until: "output", after: part });
      all += result.output;
    }
    expect(all === Array.from({ length: 300_000 }, (_, at) => `${at + 1}\r\n`).join("")).toBe(true);
  });

  test("a character that arrives in pieces stays one character", async () => {
    writeFileSync(join(folder, "pieces"), "printf '\\342'; sleep 0.1; printf '\\202'; sleep 0.1; printf '\\254\\n'\n");
    for (const more of [{}, { tty }]) expect((await run("sh pieces", more)).output.trim()).toBe("€");
  });

  test("a machine without terminals says how to install them", async () => {
    await expect(loadPty(() => Promise.reject(new Error("Cannot find package")))).rejects.toThrow(
      /run npm install @lydell\/node-pty@1.1.0/,
    );
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
