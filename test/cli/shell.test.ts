// gsv shell, run and cp as people use them: the real bundle, at a terminal where one is needed, against a started gateway.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BUILD } from "../support/current-build.ts";
import type { Host } from "../support/host.ts";
import { startNodeHost } from "../support/node-host.ts";
import { ALICE } from "../support/people.ts";

type Run = { code: number | null; out: string; err: string };
/** The output to wait for, and the keys to type then. */
type Step = readonly [shown: RegExp | string, keys: string];

let host: Host & { home: string };
let scratch: string;

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), "gsv-cli-shell-"));
  host = await startNodeHost();
  const setup = await gsv(["auth", "setup", "--url", host.url, "--username", ALICE.username, "--new-password", "-"], `${ALICE.password}\n`);
  expect(setup).toMatchObject({ code: 0 });
});

afterAll(async () => {
  await host.close();
  rmSync(scratch, { recursive: true, force: true });
});

describe("gsv run", () => {
  test("passes through the command's output, errors and exit code", async () => {
    expect(await gsv(["run", "--", "echo out; echo err >&2; exit 7"])).toEqual({ code: 7, out: "out\n", err: "err\n" });
    expect(await gsv(["run", "--", "no-such-thing"])).toEqual({ code: 127, out: "", err: "bash: no-such-thing: command not found\n" });
    expect(await gsv(["run", "true"])).toEqual({ code: 0, out: "", err: "" });
  });

  test("treats one argument as a shell line, and several as a command with arguments", async () => {
    expect(await gsv(["run", "--", "echo a | tr a b"])).toMatchObject({ out: "b\n" });
    expect(await gsv(["run", "--", "printf", "%s|", "a  b", "it's", "$HOME", "-l"])).toMatchObject({ out: "a  b|it's|$HOME|-l|" });
    expect(await gsv(["run", "ls", "-l"])).toMatchObject({ code: 1, err: expect.stringContaining("gsv run -- ls -l") });
  });

  test("takes a directory, a target and a timeout", async () => {
    // Long enough for its first output on a busy machine; awaited in parallel with the rest.
    const limited = gsv(["run", "--timeout", "5", "--", "echo begun; sleep 20"]);
    expect(await gsv(["run", "--cwd", "/tmp", "--", "pwd"])).toMatchObject({ out: "/tmp\n" });
    expect(await gsv(["run", "--cwd", "/nope", "--", "pwd"])).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(/^gsv: Not found/),
    });
    expect(await gsv(["run", "--timeout", "soon", "--", "ls"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("number of seconds"),
    });
    expect(await gsv(["run", "--target", "laptop", "--", "ls"])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^gsv: no such device: laptop\. /),
    });
    expect(await limited).toEqual({ code: 124, out: "begun\n", err: "gsv: Command timed out after 5000ms\n" });
  });

  test("passes standard input to the command, to its end", async () => {
    const loop = 'while read line; do echo "<$line>"; done; echo over';
    expect(await gsv(["run", "--", loop], "one\ntwo words\n")).toMatchObject({ code: 0, out: "<one>\n<two words>\nover\n" });
    expect(await gsv(["run", "--", loop], "")).toMatchObject({ code: 0, out: "over\n" });
    const lines = Array.from({ length: 3_000 }, (_, at) => `line ${at} ${"x".repeat(60)}`);
    const many = await gsv(["run", "--", "n=0; while read line; do n=$((n+1)); last=$line; done; echo $n $last"], `${lines.join("\n")}\n`);
    expect(many).toMatchObject({ code: 0, out: `3000 ${lines.at(-1)}\n` });
    expect(await gsv(["run", "--", "read x; sleep 9"], "a\u0003b\n")).toMatchObject({ code: 130, err: expect.stringContaining("Ctrl-C") });
  });

  test("runs standard input as a script if there is no command", async () => {
    const script = 'cd /tmp\npwd\nread x; echo "[$x]"\nexit 4\n';
    for (const name of ["run", "shell"]) expect(await gsv([name], script)).toEqual({ code: 4, out: "/tmp\n[]\n", err: "" });
    expect(await gsv(["shell"], "")).toEqual({ code: 0, out: "", err: "" });
  });

  test("prints the result as JSON", async () => {
    const { code, out } = await gsv(["run", "--json", "--", "echo out; sleep 0.5; echo err >&2; exit 2"]);
    expect({ code, result: JSON.parse(out) as unknown }).toEqual({ code: 2, result: { exitCode: 2, stdout: "out\n", stderr: "err\n" } });
  });

  test("Ctrl-C interrupts the command, and output is shown as it arrives", async () => {
    const child = start(["run", "--", "echo begun; sleep 1000; echo never"]);
    let out = "";
    child.stdout.on("data", (data: Buffer) => {
      out += data.toString();
      child.kill("SIGINT");
    });
    child.stdin.end();
    expect(await new Promise((resolve) => child.on("close", resolve))).toBe(130);
    expect(out).toBe("begun\n");
  });
});

describe.skipIf(process.platform !== "linux" || !existsSync("/usr/bin/script"))("gsv shell", () => {
  const prompt = (place: string) => `alice@gsv:${place}$ `;

  test("directory, variables and status last from line to line", async () => {
    const { code, shown } = await atTerminal([
      [prompt("~"), "mkdir -p 'my dir/sub'; cd 'my dir'; x=5; export Y='a  b'\r"],
      [prompt("~/my dir"), "false\r"],
      [prompt("~/my dir"), 'echo "[$? $x $Y]"; cd /tmp\r'],
      [prompt("/tmp"), "cd -\r"],
      [prompt("~/my dir"), "printf no-end\r"],
      [prompt("~/my dir"), "(exit 9); exit\r"],
    ]);
    expect(shown).toContain("[1 5 a  b]\r\n");
    expect(shown).toContain("no-end\r\n");
    expect(code).toBe(9);
  });

  test("commands may span several lines, and syntax errors are reported", async () => {
    const { code, shown } = await atTerminal([
      [prompt("~"), "if true\r"],
      ["> ", 'then echo it"\'"s true; fi\r'],
      [prompt("~"), "cat <<END\r"],
      ["> ", "that's it\r"],
      ["> ", "END\r"],
      [prompt("~"), "echo 'left\r"],
      ["> ", "\u0003"],
      [prompt("~"), "fi; exit 3\r"],
      [prompt("~"), "echo [$?]\r"],
      ["[2]", ""],
      [prompt("~"), "\u0004"],
    ]);
    expect(shown).toContain("it's true\r\n");
    expect(shown).toContain("that's it\r\n");
    expect(shown).toContain("syntax error");
    expect(code).toBe(0);
  });

  test("a command reads input to its end, and lines typed ahead run next", async () => {
    const { shown } = await atTerminal([
      [prompt("~"), "read -p 'Name? ' name; echo \"Hello $name\"\r"],
      ["Name? ", "Annx\u007f\r"],
      ["Hello Ann\r\n", ""],
      [prompt("~"), 'while read l; do echo "<$l>"; done; echo over\r'],
      ["echo over\r", "one\r"],
      ["<one>", "\u0004"],
      ["over\r\n", ""],
      [prompt("~"), "sleep 0.5; echo first\recho second\r"],
      [/second\r\n[^]*second\r\n/, ""],
      [prompt("~"), "exit\r"],
    ]);
    expect(shown).toMatch(/first\r\n[^]*second\r\n/);
  });

  test("Ctrl-C ends a long command and not the shell; a colour is shown and a title is not set", async () => {
    const { code, shown } = await atTerminal([
      [prompt("~"), "echo begun; sleep 25\r"],
      ["begun\r\n", "\u0003"],
      [prompt("~"), "echo [$?]\r"],
      ["[130]", ""],
      [prompt("~"), "echo not this\u0003"],
      [prompt("~"), "printf '\\033[31mred\\033[0m\\033]0;owned\\007\\n'\r"],
      ["red", ""],
      [prompt("~"), "exit 0\r"],
    ]);
    expect(shown).toContain("\u001b[31mred\u001b[0m\\x1b]0;owned\\x07\r\n");
    expect(code).toBe(0);
  });

  test("Tab completes commands and paths of the target", async () => {
    await gsv(["write", "tab/long name é.txt"], "found it\n");
    await gsv(["write", "tab/dir/x.txt"], "x\n");
    const { shown } = await atTerminal([
      [prompt("~"), "whoa\t"],
      ["whoami ", "\r"],
      ["alice\r\n", ""],
      [prompt("~"), "cat ta\t"],
      ["tab/", "lo\t"],
      ["long\\ name\\ é.txt ", "\r"],
      ["found it\r\n", ""],
      [prompt("~"), "cd ~/tab/\t"],
      ["tab/dir/", "\r"],
      [prompt("~/tab/dir"), "cat 'x\t"],
      ["x.txt' ", "\r"],
      ["x\r\n", ""],
      [prompt("~/tab/dir"), "exit\r"],
    ]);
    expect(shown).not.toContain("No such file");
  });

  test("the history is private and has no lines that start with a space or were a command's input", async () => {
    const session = await atTerminal([
      [prompt("~"), "echo to be kept\r"],
      [prompt("~"), " echo hidden\r"],
      [prompt("~"), "read -p 'New password: ' p; echo ${#p}\r"],
      ["\nNew password: ", "hunter2\r"],
      ["\n7\r\n", ""],
      [prompt("~"), "exit\r"],
    ]);
    // It is not echoed either.
    expect(session.shown).not.toContain("hunter2");
    const file = join(scratch, "config", "shell_history");
    const lines = readFileSync(file, "utf8").split("\n");
    expect(lines).toContain("echo to be kept");
    expect(lines.join("\n")).not.toMatch(/hidden|hunter2/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { shown } = await atTerminal([
      [prompt("~"), "\u001b[A\u001b[A\u001b[A"],
      ["echo to be kept", "\r"],
      ["\nto be kept\r\n", ""],
      [prompt("~"), "exit\r"],
    ]);
    expect(shown).toContain("\nto be kept\r\n");
  });

  test("handles root's prompt, an unknown device and a deleted directory", async () => {
    expect(await gsv(["shell", "--target", "laptop"], "ls\n")).toMatchObject({ code: 1, err: expect.stringContaining("laptop") });
    const { code } = await atTerminal([
      [prompt("~"), "mkdir -p gone; cd gone\r"],
      [prompt("~/gone"), "rm -r ~/gone\r"],
      [prompt("~/gone"), "pwd\r"],
      ["now in /home/alice", ""],
      [prompt("~"), "exit 5\r"],
    ]);
    expect(code).toBe(5);
    const token = (await gsv(["-u", "root", "-p", "-", "token", "create"], `${ALICE.password}\n`)).out.trim();
    const root = await atTerminal([["root@gsv:~# ", "\u0004"]], ["-u", "root", "-t", token, "shell"]);
    expect(root.code).toBe(0);
  });
});

describe("gsv cp", () => {
  const texts: Record<string, string> = {
    "a b.txt": "no end",
    "it's $x": "\n",
    "漢字 é.md": "crlf\r\nx\r\n",
    empty: "",
    "sub/deep/numbered": "     1\tone\n\n",
    "sub/bom": "\ufeffbom \u001b[2J👩‍💻\n",
  };
  const folder = (name: string) => join(scratch, name);

  test("directories copied to the gateway and back are identical", async () => {
    for (const [name, content] of Object.entries(texts)) writeLocal(join("from", name), content);
    expect(await gsv(["cp", "-r", folder("from"), "gsv:cp/up"])).toEqual({ code: 0, out: "", err: "" });
    expect(await gsv(["cp", "-r", "gsv:cp/up", "gsv:~/cp/other"])).toMatchObject({ code: 0 });
    expect(await gsv(["cp", "-r", "gsv:/home/alice/cp/other", folder("back")])).toMatchObject({ code: 0 });
    for (const [name, content] of Object.entries(texts)) expect(readFileSync(join(folder("back"), name), "utf8")).toBe(content);
    // Into an existing directory, under its own name.
    expect(await gsv(["cp", "-r", "gsv:cp/up", folder("back")])).toMatchObject({ code: 0 });
    expect(existsSync(join(folder("back"), "up", "a b.txt"))).toBe(true);
    expect(await gsv(["cp", "-r", "gsv:cp/up", "gsv:cp/up/in"])).toMatchObject({ code: 0 });
    expect((await gsv(["ls", "cp/up/in"])).out).not.toContain("in/");
  });

  test("copies one file or several", async () => {
    writeLocal("one.txt", "one");
    writeLocal("two.txt", "two\n");
    const [one, two] = [folder("one.txt"), folder("two.txt")];
    expect(JSON.parse((await gsv(["cp", "--json", one, "gsv:cp/1"])).out)).toEqual({ copied: [{ from: one, to: "gsv:cp/1", size: 3 }] });
    expect(await gsv(["cp", one, two, "gsv:cp/both/"])).toMatchObject({ code: 0 });
    expect(await gsv(["cp", "gsv:cp/both/one.txt", "gsv:cp/both/two.txt", folder("new/")])).toMatchObject({ code: 0 });
    expect(readFileSync(folder("new/two.txt"), "utf8")).toBe("two\n");
    expect(await gsv(["cp", one, two, "gsv:cp/neither"])).toMatchObject({ code: 1, err: expect.stringContaining("Not a directory") });
  });

  test("does not replace a directory by a file or the reverse, and -n replaces nothing", async () => {
    writeLocal("over/one.txt/x", "x");
    expect(await gsv(["cp", "gsv:cp/both/one.txt", folder("over")])).toMatchObject({
      code: 1,
      err: expect.stringContaining("Is a directory"),
    });
    await gsv(["write", "cp/over/one.txt/x"], "x");
    expect(await gsv(["cp", folder("one.txt"), "gsv:cp/over"])).toMatchObject({ code: 1, err: expect.stringContaining("Is a directory") });
    expect(await gsv(["cp", "-r", folder("from"), "gsv:cp/1"])).toMatchObject({ code: 1, err: expect.stringContaining("Not a directory") });
    writeLocal("kept.txt", "kept");
    expect(await gsv(["cp", "-n", "gsv:cp/1", folder("kept.txt")])).toEqual({ code: 0, out: "", err: "" });
    expect(readFileSync(folder("kept.txt"), "utf8")).toBe("kept");
    expect(await gsv(["cp", "--no-clobber", folder("two.txt"), "gsv:cp/1"])).toMatchObject({ code: 0 });
    expect((await gsv(["cat", "cp/1"])).out).toBe("one");
    symlinkSync(folder("kept.txt"), folder("link.txt"));
    expect(await gsv(["cp", "gsv:cp/1", folder("link.txt")])).toMatchObject({ code: 0 });
    expect(readFileSync(folder("kept.txt"), "utf8")).toBe("one");
    expect(await gsv(["cp", "gsv:cp/1", folder("no/such/folder")])).toMatchObject({ code: 1, err: expect.stringContaining("ENOENT") });
  });

  test("reports what cannot be copied, and copies the rest", async () => {
    writeLocal("mixed/text", "text");
    writeLocal("mixed/binary", Uint8Array.of(0x61, 0xff));
    symlinkSync("/etc", folder("mixed/link"));
    const mixed = await gsv(["cp", "-r", folder("mixed"), "gsv:cp/mixed"]);
    expect(mixed).toMatchObject({
      code: 0,
      err: expect.stringMatching(/skipped.*link\n$/),
    });
    expect((await gsv(["ls", "cp/mixed"])).out).toBe("binary\ntext\n");
    expect(await gsv(["cp", "gsv:cp/mixed/binary", folder("binary")])).toMatchObject({ code: 0 });
    expect([...readFileSync(folder("binary"))]).toEqual([0x61, 0xff]);
    writeLocal("half/1/x", "in the way");
    expect(await gsv(["cp", "gsv:cp/1", "gsv:cp/mixed/text", folder("half")])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^gsv: gsv:cp\/1 was not copied\. Is a directory/),
    });
    expect(readFileSync(folder("half/text"), "utf8")).toBe("text");
    expect(await gsv(["cp", "gsv:cp/none", scratch])).toMatchObject({ code: 1, err: "gsv: Not found: gsv:cp/none\n" });
    expect(await gsv(["cp", "gsv:cp", scratch])).toMatchObject({ code: 1, err: expect.stringContaining("Add -r") });
    expect(await gsv(["cp", "a", "b"])).toMatchObject({ code: 1, err: expect.stringContaining("gsv:PATH") });
    expect(await gsv(["cp", "gsv:a"])).toMatchObject({ code: 1, err: expect.stringContaining("No destination for gsv:a") });
    expect(await gsv(["cp", folder("one.txt"), "laptop:x"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("no such device: laptop"),
    });
  });
});

function writeLocal(name: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(scratch, name)), { recursive: true });
  writeFileSync(join(scratch, name), content);
}

function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, HOME: scratch, GSV_HOME: host.home, GSV_CONFIG: join(scratch, "config", "config.toml") };
}

function start(args: readonly string[]) {
  return spawn(process.execPath, [join(BUILD, "gsv.js"), ...args], { env: environment() });
}

function gsv(args: readonly string[], stdin = ""): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = start(args);
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

/** Types each step's keys once its text is shown after that of the previous step. */
function atTerminal(steps: readonly Step[], args: readonly string[] = ["shell"]): Promise<{ code: number | null; shown: string }> {
  return new Promise((resolve, reject) => {
    const command = [process.execPath, join(BUILD, "gsv.js"), ...args].map((word) => `'${word}'`).join(" ");
    const child = spawn("/usr/bin/script", ["-qec", `stty cols 100 rows 30; ${command}`, "/dev/null"], {
      env: { ...environment(), SHELL: "/bin/sh", TERM: "xterm" },
    });
    const remaining = [...steps];
    let shown = "";
    let from = 0;
    const advance = () => {
      for (let step = remaining[0]; step !== undefined; step = remaining[0]) {
        const [wanted, keys] = step;
        const fresh = shown.slice(from);
        const found = typeof wanted === "string" ? fresh.indexOf(wanted) : fresh.search(wanted);
        if (found === -1) return;
        const width = typeof wanted === "string" ? wanted.length : (wanted.exec(fresh)?.[0].length ?? 0);
        from += found + width;
        remaining.shift();
        child.stdin.write(keys);
      }
    };
    const timer = setTimeout(() => {
      child.kill();
      reject(new Error(`Never shown: ${String(remaining[0]?.[0])}, after: ${JSON.stringify(shown.slice(from))}`));
    }, 120_000);
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      shown += text;
      advance();
    });
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      if (remaining.length === 0) resolve({ code, shown });
      else reject(new Error(`Ended before: ${String(remaining[0]?.[0])}, after: ${JSON.stringify(shown.slice(from))}`));
    });
  });
}
