// shell.exec on the gateway itself.

import { expect } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { expectRefusal, verifies } from "../verifies.ts";

let made = 0;
const name = (prefix: string) => `${prefix}-${made++}`;
const run = (client: Client, input: string, more: { cwd?: string; timeout?: number; streams?: boolean } = {}) =>
  client.call("shell.exec", { input, ...more });
const go = (client: Client, sessionId: string, input: string) => client.call("shell.exec", { sessionId, input });
const output = async (client: Client, input: string) => (await run(client, input)).output;

verifies("shell.exec:completes", async ({ alice }) => {
  const client = await alice();
  expect(await run(client, "echo out; echo err >&2; echo more")).toEqual({ status: "completed", exitCode: 0, output: "out\nmore\nerr\n" });
  expect(await run(client, "echo out; exit 3")).toEqual({
    status: "failed",
    exitCode: 3,
    error: "Command exited with code 3",
    output: "out\n",
  });
  expect(await run(client, "printf 'b\\na\\n' | sort | tr a-z A-Z")).toMatchObject({ output: "A\nB\n" });
  expect(await run(client, "echo out; echo err >&2", { streams: true })).toMatchObject({ stdout: "out\n", stderr: "err\n" });
  expect(await run(client, "no-such-thing")).toMatchObject({
    status: "failed",
    exitCode: 127,
    output: "bash: no-such-thing: command not found\n",
  });
});

verifies("shell.exec:cwd", async ({ alice }) => {
  const client = await alice();
  const folder = name("place");
  await client.call("fs.write", { path: `${folder}/x`, content: "" });
  expect(await output(client, "pwd; echo $PWD")).toBe("/home/alice\n/home/alice\n");
  expect(await run(client, "pwd; ls", { cwd: folder })).toMatchObject({ output: `/home/alice/${folder}\nx\n` });
  expect(await run(client, "pwd", { cwd: "~/../../tmp" })).toMatchObject({ output: "/tmp\n" });
  expect(await run(client, "pwd", { cwd: "/no/such" })).toMatchObject({
    status: "failed",
    error: expect.stringMatching(/^Not found: \/no\/such/),
  });
  expect(await run(client, "pwd", { cwd: `${folder}/x` })).toMatchObject({
    status: "failed",
    error: `cwd is not a directory: /home/alice/${folder}/x`,
  });
});

verifies("shell.exec:environment", async ({ alice }) => {
  const client = await alice();
  const lines = (await output(client, "env")).trim().split("\n").toSorted();
  const { version } = await client.call("sys.info", {});
  expect(lines).toEqual([
    "GSV_PID=",
    `GSV_VERSION=${version}`,
    "HOME=/home/alice",
    "HOSTNAME=gsv",
    "LANG=en_US.UTF-8",
    "LOGNAME=alice",
    "PATH=/usr/local/bin:/usr/bin:/bin",
    "PWD=/home/alice",
    "SHELL=/bin/bash",
    "TERM=xterm-256color",
    "UID=1000",
    "USER=alice",
  ]);
});

verifies("shell.exec:fresh", async ({ alice }) => {
  const client = await alice();
  const file = name("kept");
  await run(client, `x=1; export Y=2; f() { echo f; }; cd /tmp; set -e; alias ll=ls; echo kept > ~/${file}`);
  await run(client, "shopt -s failglob; set -f; readonly R=1; declare -i N=1");
  await run(client, "eval 'shopt -s nullglob'; c=shopt; $c -s extglob");
  expect(await output(client, "R=2; N=abc; echo $R $N no-such-*")).toBe("2 abc no-such-*\n");
  expect(await output(client, `echo "[$x][$Y]"; type f; pwd; cat ${file}`)).toBe("[][]\n/home/alice\nkept\nbash: type: f: not found\n");
});

verifies("shell.exec:files", async ({ alice, bob }) => {
  const [client, other] = [await alice(), await bob()];
  const folder = name("tree");
  await client.call("fs.write", { path: `${folder}/a.txt`, content: "one\ntwo\n" });
  expect(await output(client, `cd ${folder} && cat a.txt && echo three >> a.txt && mkdir -p b/c && mv a.txt b/c/ && find . -type f`)).toBe(
    "one\ntwo\n./b/c/a.txt\n",
  );
  expect(await client.call("fs.read", { path: `${folder}/b/c/a.txt` })).toMatchObject({
    content: "     1\tone\n     2\ttwo\n     3\tthree",
  });
  expect(await output(client, `cp -r ${folder} ${folder}-2 && rm -r ${folder} && ls ${folder}-2/b/c`)).toBe("a.txt\n");
  expect(await client.call("fs.read", { path: folder })).toMatchObject({ ok: false });
  expect(await run(other, `cat /home/alice/${folder}-2/b/c/a.txt`)).toMatchObject({
    status: "failed",
    output: expect.stringContaining("Permission denied"),
  });
  expect(await run(other, `echo x > /home/alice/${folder}-2/mine`)).toMatchObject({ status: "failed" });
  expect(await run(other, "ls /home/alice")).toMatchObject({
    status: "failed",
    output: "ls: cannot open directory '/home/alice': Permission denied\n",
  });
});

verifies("shell.exec:empty", async ({ alice }) => {
  const client = await alice();
  for (const input of ["", "  \n\t "])
    expect(await run(client, input)).toEqual({ status: "failed", output: "", error: "input must not be empty" });
});

verifies("shell.exec:timeout", async ({ alice }) => {
  const client = await alice();
  // The first command on a gateway also starts a shell.
  await run(client, "true");
  expect(await run(client, "echo first; sleep 30; echo never", { timeout: 1_500 })).toEqual({
    status: "failed",
    exitCode: 124,
    error: "Command timed out after 1500ms",
    output: "first\n",
  });
});

verifies("shell.exec:output-cap", async ({ alice, root }) => {
  const [client, admin] = [await alice(), await root()];
  const key = "config/shell/max_output_bytes";
  await admin.call("sys.config.set", { key, value: "20" });
  try {
    expect(await run(client, "echo 123456789012345678901234567890; echo short >&2")).toEqual({
      status: "completed",
      exitCode: 0,
      output: "1234567890\n...[truncated: 11 bytes left out]...\n234567890\nshort\n",
      truncated: true,
    });
  } finally {
    await admin.call("sys.config.set", { key, value: "524288" });
  }
});

verifies("shell.exec:running", async ({ alice, root }) => {
  const [client, admin] = [await alice(), await root()];
  await admin.call("sys.config.set", { key: "config/shell/wait_ms", value: "300" });
  try {
    const first = await run(client, "echo one; until [ -e go-on ]; do sleep 0.05; done; echo two; sleep 0.4; echo three");
    expect(first.status).toBe("running");
    if (first.status !== "running") return;
    let all = first.output;
    let last: Awaited<ReturnType<typeof run>> = first;
    while (last.status === "running") {
      // "one" may arrive with the first answer or, on a busy machine, later.
      if (all === "one\n") await client.call("fs.write", { path: "go-on", content: "" });
      else expect(["", "one\ntwo\n", "one\ntwo\nthree\n"]).toContain(all);
      last = await go(client, first.sessionId, "");
      all += last.output;
    }
    expect(last).toMatchObject({ status: "completed", exitCode: 0 });
    expect(all).toBe("one\ntwo\nthree\n");
    expect(await go(client, first.sessionId, "")).toMatchObject({ status: "failed", error: expect.stringContaining("No such session") });
  } finally {
    await admin.call("sys.config.set", { key: "config/shell/wait_ms", value: "10000" });
  }
});

verifies("shell.exec:wait", async ({ alice }) => {
  const client = await alice();
  const endless = await client.call("shell.exec", { input: "sleep 1000", wait: 0 });
  expect(endless).toMatchObject({ status: "running", output: "" });
  if (endless.status !== "running") return;
  expect(await client.call("shell.exec", { sessionId: endless.sessionId, input: "", wait: 1 })).toMatchObject({ status: "running" });
  await go(client, endless.sessionId, "\u0003");
  const begun = await client.call("shell.exec", { input: "read x; sleep 0.2; echo late", until: "sent" });
  if (begun.status !== "running") throw new Error(JSON.stringify(begun));
  const { sessionId } = begun;
  await client.call("shell.exec", { sessionId, input: "x\n", until: "sent" });
  expect(await client.call("shell.exec", { sessionId, input: "", wait: 600_000 })).toMatchObject({ status: "completed", output: "late\n" });
});

verifies("shell.exec:until", async ({ alice }) => {
  const client = await alice();
  const first = await client.call("shell.exec", { input: "echo one; sleep 20; echo two", until: "output" });
  expect(first).toMatchObject({ status: "running", output: "one\n" });
  if (first.status !== "running") return;
  const { sessionId } = first;
  expect(await client.call("shell.exec", { sessionId, input: "", until: "sent" })).toEqual({ status: "running", sessionId, output: "" });
  expect(await go(client, sessionId, "\u0003")).toMatchObject({ status: "failed", exitCode: 130 });
  const begun = await client.call("shell.exec", { input: 'read x; echo "[$x]"', until: "sent" });
  if (begun.status !== "running") throw new Error(JSON.stringify(begun));
  await client.call("shell.exec", { sessionId: begun.sessionId, input: "typed\n", until: "sent" });
  expect(await go(client, begun.sessionId, "")).toEqual({ status: "completed", exitCode: 0, output: "[typed]\n" });
});

verifies("shell.exec:after", async ({ alice }) => {
  const client = await alice();
  const first = await client.call("shell.exec", { input: "echo one; read x; echo two", after: 0, until: "output" });
  expect(first).toMatchObject({ status: "running", output: "one\n", part: 1 });
  if (first.status !== "running") return;
  const { sessionId } = first;
  const look = (after: number) => client.call("shell.exec", { sessionId, input: "", after, until: "output" });
  let looked = await look(0);
  expect(looked).toMatchObject({ status: "running", output: "one\n", part: 2 });
  // On a busy machine it may not wait for input yet.
  while (looked.status === "running" && looked.wantsInput !== true) looked = await look(looked.part ?? 0);
  expect(looked).toMatchObject({ status: "running", wantsInput: true });
  let seen = looked.part ?? 0;
  await client.call("shell.exec", { sessionId, input: "x\n", until: "sent" });
  let last = await look(seen);
  let all = last.output;
  while (last.status === "running") {
    seen = last.part ?? 0;
    last = await look(seen);
    all += last.output;
  }
  expect({ all, status: last.status }).toEqual({ all: "two\n", status: "completed" });
  const again = await look(seen);
  expect(again).toMatchObject({ status: "completed", exitCode: 0, output: last.output });
  expect(await look(again.part ?? 0)).toMatchObject({ status: "failed", error: expect.stringContaining("No such session") });
});

verifies("shell.exec:signal", async ({ alice }) => {
  const client = await alice();
  const begun = await run(client, "echo begun; read line");
  if (begun.status !== "running") throw new Error(JSON.stringify(begun));
  const { sessionId } = begun;
  const send = (more: object) => client.call("shell.exec", { sessionId, input: "", ...more });
  expect(await send({ signal: "USR1" })).toMatchObject({ status: "failed", error: expect.stringContaining("SIGUSR1"), sessionId });
  expect(await send({ resize: { cols: 80, rows: 24 } })).toMatchObject({ status: "failed", error: expect.stringContaining("no terminal") });
  await expectRefusal(send({ signal: "EVIL" }), 400);
  expect(await send({ signal: "TERM" })).toMatchObject({ status: "failed", exitCode: 143, error: "Command was ended by SIGTERM" });
  expect(await client.call("shell.exec", { input: "ls", tty: { cols: 80, rows: 24 } })).toEqual({
    status: "failed",
    output: "",
    error: "The gateway's shell has no terminal: leave tty out",
  });
  expect(await client.call("shell.exec", { input: "ls", signal: "INT" })).toMatchObject({ error: expect.stringContaining("sessionId") });
});

verifies("shell.list:own", async ({ alice, bob }) => {
  const [client, other] = [await alice(), await bob()];
  const mark = name("listed");
  const begun = await run(client, `read line; exit $line # ${mark}`, { cwd: "/tmp" });
  if (begun.status !== "running") throw new Error(JSON.stringify(begun));
  const { sessionId } = begun;
  const listed = async (who: Client) => (await who.call("shell.list", {})).sessions.filter(({ command }) => command.includes(mark));
  expect(await listed(client)).toEqual([
    { sessionId, command: `read line; exit $line # ${mark}`, cwd: "/tmp", startedAt: expect.any(Number), state: "running" },
  ]);
  expect(await listed(other)).toEqual([]);
  await client.call("shell.exec", { sessionId, input: "4\n", until: "sent" });
  await expect.poll(() => listed(client)).toMatchObject([{ sessionId, state: "ended", exitCode: 4 }]);
  expect(await go(client, sessionId, "")).toMatchObject({ status: "failed", exitCode: 4 });
  expect(await listed(client)).toEqual([]);
});

verifies("shell.exec:stdin", async ({ alice }) => {
  const client = await alice();
  const asked = await run(client, 'read -p "Name? " name; echo "Hello $name"; read again; echo "and $again"');
  expect(asked).toMatchObject({ status: "running", output: "Name? " });
  if (asked.status !== "running") return;
  expect(await go(client, asked.sessionId, "Ann\n")).toMatchObject({ status: "running", output: "Hello Ann\n" });
  expect(await go(client, asked.sessionId, "Bob\n")).toEqual({ status: "completed", exitCode: 0, output: "and Bob\n" });
  // Ctrl-D ends the input.
  const loop = await run(client, 'while read line; do echo "<$line>"; done; echo over');
  if (loop.status !== "running") throw new Error(JSON.stringify(loop));
  expect(await go(client, loop.sessionId, "a\nb\n\u0004")).toEqual({ status: "completed", exitCode: 0, output: "<a>\n<b>\nover\n" });
});

verifies("shell.exec:text", async ({ alice }) => {
  const client = await alice();
  const file = name("text");
  await client.call("fs.write", { path: file, content: "é ü 日本 🙂\n" });
  expect(await output(client, `read x < ${file}; echo "$x" "\${#x}"; echo "$x" > ${file}-2; cat ${file}-2`)).toBe(
    "é ü 日本 🙂 8\né ü 日本 🙂\n",
  );
  expect(
    await output(client, `while read l; do echo "<$l>"; done < ${file}; mapfile -t a < ${file}; echo "\${a[0]}"; echo é | cat; echo end`),
  ).toBe("<é ü 日本 🙂>\né ü 日本 🙂\né\nend\n");
  const asked = await run(client, "read name; echo hi $name; echo end");
  if (asked.status !== "running") throw new Error(JSON.stringify(asked));
  expect(await go(client, asked.sessionId, "Zoé\n")).toMatchObject({ output: "hi Zoé\nend\n" });
});

verifies("shell.exec:end", async ({ alice }) => {
  const client = await alice();
  const waiting = await run(client, "echo begun; read line");
  if (waiting.status !== "running") throw new Error(JSON.stringify(waiting));
  expect(await go(client, waiting.sessionId, "\u0003")).toMatchObject({ status: "failed", error: "Interrupted", exitCode: 130 });
  expect(await go(client, waiting.sessionId, "")).toMatchObject({ status: "failed", error: expect.stringContaining("No such session") });
});

verifies("shell.exec:turn", async ({ bob }) => {
  const client = await bob();
  const running = await Promise.all(Array.from({ length: 8 }, () => client.call("shell.exec", { input: "read line", wait: 0 })));
  const ids = running.map((one) => (one.status === "running" ? one.sessionId : expect.unreachable(JSON.stringify(one))));
  const ninth = run(client, "echo ninth");
  const tenth = run(client, "echo tenth");
  for (const id of ids) await go(client, id, "over\n");
  expect(await ninth).toMatchObject({ status: "completed", output: "ninth\n" });
  expect(await tenth).toMatchObject({ status: "completed", output: "tenth\n" });
});

verifies("shell.exec:foreign-session", async ({ alice, bob, root }) => {
  const client = await alice();
  const mine = await run(client, "read line; echo got $line");
  if (mine.status !== "running") throw new Error(JSON.stringify(mine));
  const absent = await go(await bob(), "sh_nothing", "x\n");
  for (const other of [await bob(), await root()]) {
    const answer = await go(other, mine.sessionId, "stolen\n");
    expect(JSON.stringify(answer).replaceAll(mine.sessionId, "ID")).toBe(JSON.stringify(absent).replaceAll("sh_nothing", "ID"));
  }
  expect(await go(client, mine.sessionId, "mine\n")).toMatchObject({ output: "got mine\n" });
});

verifies("shell.exec:runaway", async ({ alice, bob }) => {
  const [client, other] = [await alice(), await bob()];
  const over = new AbortController();
  const looping = run(client, "while true; do :; done", { timeout: 1_500 }).finally(() => over.abort());
  let answered = 0;
  while (!over.signal.aborted) {
    await other.call("sys.info", {});
    answered++;
  }
  expect(await looping).toMatchObject({ status: "failed", error: expect.stringMatching(/^Command (timed out|stopped at a limit)/) });
  // The first may have been sent before the loop started, and the last after it ended.
  expect(answered).toBeGreaterThan(2);
  expect(await run(client, "x=aaaaaaaa; while true; do x=$x$x; done")).toMatchObject({
    status: "failed",
    error: expect.stringMatching(/^Command stopped at a limit: .*length/),
  });
  expect(await run(client, "f() { f; }; f")).toMatchObject({
    status: "failed",
    error: expect.stringMatching(/^Command stopped at a limit: .*recursion/),
  });
  expect(await run(client, "head -c 1G /dev/zero")).toMatchObject({
    status: "failed",
    output: expect.stringContaining("exceed the output limit of a command"),
  });
});

verifies("shell.exec:commands", async ({ alice, root }) => {
  const [client, admin] = [await alice(), await root()];
  expect(await output(client, "whoami; id; hostname; uname; groups")).toBe(
    "alice\nuid=1000(alice) gid=1000(alice) groups=1000(alice),100(users)\ngsv\nGSV\nalice users\n",
  );
  expect(await output(admin, "whoami; id -u")).toBe("root\n0\n");
  const { version } = await client.call("sys.info", {});
  expect(await output(client, "uname -r; uname -a")).toMatch(new RegExp(`^${version}\nGSV gsv ${version} #1 (node|cloudflare)\n$`));
  expect(await output(client, "ps")).toMatch(/^PID +STATE +LABEL\n/);
  const file = name("long");
  await client.call("fs.write", { path: file, content: "12345" });
  expect(await output(client, `ls -l ${file}; stat -c '%n %s %F %a %A %U %G' ${file}`)).toMatch(
    new RegExp(`^-rw-r--r-- 1 alice alice 5 .* ${file}\n${file} 5 regular file 644 -rw-r--r-- alice alice\n$`),
  );
  expect(await output(client, "help")).toContain("chmod");
  expect((await output(client, "help --names")).split("\n")).toEqual(expect.arrayContaining(["chmod", "cd", "grep", "whoami"]));
  expect(await output(client, "man chmod")).toContain("Usage: chmod [-R] mode path...");
  // Its summary is said once, and its lines fit a terminal.
  const page = await output(client, "man sched");
  expect(page.split("Run agents at set times.")).toHaveLength(2);
  expect(page.split("\n").filter((line) => line.length > 100 && !line.startsWith("Usage: "))).toEqual([]);
  expect(await run(client, "man fs.read")).toMatchObject({ status: "completed", output: expect.stringContaining("offset") });
  expect(await run(client, "man nothing-of-that-name")).toMatchObject({ status: "failed", exitCode: 1 });
});

verifies("shell.exec:modes", async ({ alice, bob, root }) => {
  const [client, other, admin] = [await alice(), await bob(), await root()];
  const file = `/tmp/${name("modes")}`;
  await client.call("fs.write", { path: file, content: "secret" });
  expect(await output(other, `cat ${file}`)).toBe("secret");
  await run(client, `chmod 600 ${file}`);
  expect(await other.call("fs.read", { path: file })).toMatchObject({ ok: false, error: `Permission denied: ${file}` });
  await run(client, `chmod o+r ${file}`);
  expect(await other.call("fs.read", { path: file })).toMatchObject({ ok: true });
  expect(await run(other, `chmod 777 ${file}`)).toMatchObject({ status: "failed" });
  expect(await run(client, `chown bob ${file}`)).toMatchObject({ status: "failed" });
  expect(await run(admin, `chown bob:bob ${file} && chmod 600 ${file}`)).toMatchObject({ status: "completed" });
  expect(await client.call("fs.read", { path: file })).toMatchObject({ ok: false });
  expect(await output(other, `cat ${file}; stat -c %U ${file}`)).toBe("secretbob\n");
});

verifies("shell.exec:accounts", async ({ alice, root, connect }) => {
  const [client, admin] = [await alice(), await root()];
  const username = name("carol");
  expect(await run(client, `echo 'some password' | useradd ${username}`)).toMatchObject({
    status: "failed",
    output: "useradd: Permission denied: sys.user.create\n",
  });
  expect(await run(admin, `echo 'some password' | useradd -c Carol ${username}`)).toMatchObject({ status: "completed" });
  const carol = await connect({ username, password: "some password" });
  expect(await output(carol, "whoami")).toBe(`${username}\n`);
  expect(await run(admin, `echo 'another password' | passwd ${username}`)).toMatchObject({ status: "completed" });
  await connect({ username, password: "another password" });
  expect(await run(client, `echo x | passwd ${username}`)).toMatchObject({
    status: "failed",
    output: `passwd: you may not change the password of ${username}\n`,
  });
});

verifies("shell.exec:network", async ({ alice, root, host }) => {
  const [client, admin] = [await alice(), await root()];
  // The gateway listens on loopback, which nobody may reach unless root allows it.
  expect(await run(client, `curl -sS ${host.url}/healthz`)).toMatchObject({
    status: "failed",
    output: expect.stringMatching(/only public hosts can be reached/),
  });
  await admin.call("sys.config.set", { key: "config/shell/network_enabled", value: "false" });
  try {
    expect(await run(client, "curl -sS https://example.com/")).toMatchObject({
      status: "failed",
      output: expect.stringContaining("Commands may not use the network"),
    });
  } finally {
    await admin.call("sys.config.set", { key: "config/shell/network_enabled", value: "true" });
  }
});

verifies("shell.exec:capability", async ({ root, connect }) => {
  const admin = await root();
  const username = name("dora");
  await admin.call("sys.user.create", { username, password: "some password" });
  const { groups } = await admin.call("sys.group.list", {});
  const { members, gid } = groups.find((group) => group.name === "users")!;
  const own = groups.find((group) => group.name === username)!;
  // Of all rights of users, only commands.
  await admin.call("sys.group.members", { gid, members: members.filter((member) => member !== username) });
  await admin.call("sys.capability.grant", { gid: own.gid, capability: "shell.exec" });
  const dora = await connect({ username, password: "some password" });
  await expectRefusal(dora.call("fs.write", { path: "x", content: "" }), 403);
  expect(await run(dora, "echo hi; echo x > file; cat /etc/passwd")).toMatchObject({ output: expect.stringMatching(/^hi\n/) });
  expect(await run(dora, "echo x > file")).toMatchObject({ status: "failed" });
});
