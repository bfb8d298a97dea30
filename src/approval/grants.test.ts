import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { approvalDigest } from "./digest.ts";
import {
  type GrantRequest,
  grantCovers,
  describeGrant,
  type Grant,
  GRANT_MS,
  createGrant,
  RememberOptions,
  applyGrants,
} from "./grants.ts";
import type { Action } from "./policy.ts";
import { type CallToJudge, TAGS } from "./request.ts";
import { parseScript } from "./script.ts";
import { judge } from "./tags.ts";

const NOW = 1_763_200_000_000;
const DAY_MS = 24 * 60 * 60 * 1000;
const AROUND = { profile: "task", cwd: "/home/ann", home: "/home/ann", workspace: null };
const sha256 = (text: string): Uint8Array => createHash("sha256").update(text).digest();

function makeAsking(call: string, args: Record<string, unknown>, more: Partial<GrantRequest> & { cwd?: string } = {}): GrantRequest {
  const { uid = 1000, pid = "p1", target = "laptop", cwd = "/home/ann" } = more;
  const request: CallToJudge = { call, args, ...AROUND, device: target === "gsv" ? null : target };
  return { uid, pid, target, digest: approvalDigest({ pid, uid, call, args, target, cwd }, sha256), judged: judge(request, parseScript) };
}

function makeGrant(from: GrantRequest, remember: Partial<RememberOptions> = {}): Grant {
  const grant = createGrant(from, RememberOptions.parse(remember), NOW);
  if ("error" in grant) throw new Error(grant.error);
  return grant;
}

const COMMAND = "git status";
/** Commands that a person does not mean when they remember COMMAND. */
const VARIANTS = [
  "git status ",
  " git status",
  "git  status",
  "git\tstatus",
  "git status\n",
  "\ngit status",
  "git status\r",
  "git status\u200b",
  "git status\u00a0",
  "git status;",
  "git status; rm -rf ~",
  "git status && rm x",
  "git status || rm x",
  "git status | sh",
  "git status & rm x",
  "git status\nrm x",
  "git status > f",
  "git status >> ~/.bashrc",
  "git status < f",
  "git status 2>&1",
  "git status $(rm x)",
  "git status `rm x`",
  "git status <(rm x)",
  "git status # x",
  "git status --short",
  "git status .",
  "git status -- x",
  "git stat",
  "git statu",
  "git",
  "git push",
  "git -c x=y status",
  "git -C / status",
  "/usr/bin/git status",
  "./git status",
  "\\git status",
  "'git' status",
  '"git" status',
  "g''it status",
  "$'git' status",
  "GIT status",
  "Git status",
  "git Status",
  "env git status",
  "env X=1 git status",
  "X=1 git status",
  "PATH=. git status",
  "GIT_DIR=x git status",
  "command git status",
  "exec git status",
  "nohup git status",
  "time git status",
  "timeout 5 git status",
  "sudo git status",
  "busybox git status",
  "sh -c 'git status'",
  "bash -c 'git status'",
  "eval git status",
  "xargs git status",
  "(git status)",
  "{ git status; }",
  "! git status",
  "cd / && git status",
  "git status &",
  "f() { git status; }; f",
  "alias git=rm; git status",
  "$git status",
  "gi\u0442 status",
  "ｇit status",
];

test("a grant for exactly one command covers no other command", () => {
  const grant = makeGrant(makeAsking("shell.exec", { input: COMMAND }));
  expect(VARIANTS.length).toBeGreaterThanOrEqual(60);
  expect(grantCovers(grant, makeAsking("shell.exec", { input: COMMAND }), NOW + 1)).toBe(true);
  for (const input of VARIANTS) expect(grantCovers(grant, makeAsking("shell.exec", { input }), NOW + 1), JSON.stringify(input)).toBe(false);
});

test("a grant does not cover another directory, process, user, target or argument", () => {
  const grant = makeGrant(makeAsking("shell.exec", { input: COMMAND }));
  for (const other of [
    makeAsking("shell.exec", { input: COMMAND, cwd: "/" }),
    makeAsking("shell.exec", { input: COMMAND, timeout: 1 }),
    makeAsking("shell.exec", { input: COMMAND, sessionId: "s" }),
    makeAsking("shell.exec", { input: COMMAND }, { cwd: "/" }),
    makeAsking("shell.exec", { input: COMMAND }, { pid: "p2" }),
    makeAsking("shell.exec", { input: COMMAND }, { uid: 1001 }),
    makeAsking("shell.exec", { input: COMMAND }, { target: "server" }),
    makeAsking("shell.exec", { input: COMMAND }, { target: "gsv" }),
    makeAsking("fs.write", { input: COMMAND }),
  ])
    expect(grantCovers(grant, other, NOW + 1)).toBe(false);
  // Not even a call that carries the grant's digest.
  expect(grantCovers(grant, { ...makeAsking("shell.exec", { input: "ls" }, { pid: "p2" }), digest: grant.digest }, NOW + 1)).toBe(false);
});

test("a grant lasts a day by default and at most as long as its scope allows", () => {
  const from = makeAsking("shell.exec", { input: COMMAND });
  expect(makeGrant(from).expiresAt).toBe(NOW + GRANT_MS);
  expect(GRANT_MS).toBe(DAY_MS);
  const grant = makeGrant(from, { ttlMs: 60_000 });
  expect(grantCovers(grant, from, NOW)).toBe(true);
  expect(grantCovers(grant, from, NOW + 59_999)).toBe(true);
  expect(grantCovers(grant, from, NOW + 60_000)).toBe(false);
  // Setting the clock back does not lengthen it.
  expect(grantCovers(grant, from, NOW - 1)).toBe(false);
  expect(grantCovers({ ...grant, revokedAt: NOW }, from, NOW + 1)).toBe(false);
  expect(createGrant(from, { scope: "exact", ttlMs: 31 * DAY_MS }, NOW)).toEqual({
    error: "A grant for exactly this call lasts at most 30 days",
  });
  expect(createGrant(from, { scope: "tool", ttlMs: DAY_MS + 1 }, NOW)).toMatchObject({
    error: expect.stringContaining("at most 24 hours"),
  });
  for (const bad of [
    { ttlMs: 0 },
    { ttlMs: -1 },
    { ttlMs: 59_999 },
    { ttlMs: Infinity },
    { ttlMs: 1e5 + 0.5 },
    { ttlMs: "1d" },
    { scope: "all" },
    { scope: null },
    { scopes: "tool" },
  ])
    expect(RememberOptions.safeParse(bad).success, JSON.stringify(bad)).toBe(false);
});

test("a folder grant covers paths below that folder, for one call on one target", () => {
  const write = (path: string, more: Partial<GrantRequest> = {}) => makeAsking("fs.write", { path, content: "x" }, more);
  const grant = makeGrant(write("~/site/pages/a.md"), { scope: "folder" });
  expect(grant.folder).toBe("~/site/pages");
  for (const path of ["~/site/pages/b.md", "~/site/pages/x/y", "~/site/./pages/b", "~/site/x/../pages/b"])
    expect(grantCovers(grant, write(path), NOW), path).toBe(true);
  for (const path of [
    "~/site/a",
    "~/site/pages",
    "~/site/pages2/a",
    "~/site/pages/../a",
    "~/site/pages/../../.ssh/x",
    "/site/pages/a",
    "site/pages/a",
    "~/site/pages/../../../x",
    "~/site/pages/.git/hooks/x",
    "~/site/pages/.envrc",
    "~bob/site/pages/a",
    "/home/ann/site/pages/a",
    "~/Site/pages/a",
  ])
    expect(grantCovers(grant, write(path), NOW), path).toBe(false);
  expect(grantCovers(grant, makeAsking("fs.delete", { path: "~/site/pages/a" }), NOW)).toBe(false);
  expect(grantCovers(grant, write("~/site/pages/a", { target: "server" }), NOW)).toBe(false);
  const windows = makeGrant(makeAsking("fs.edit", { path: "C:\\work\\a\\b.txt" }), { scope: "folder" });
  expect(grantCovers(windows, makeAsking("fs.edit", { path: "C:/work/a/c.txt" }), NOW)).toBe(true);
});

test.each(["a", "~/a", "/a", "/srv/a", "/home/bob/a", "/Users/bob/a", "../a/b/c", "~/../b/c", "C:/a", "C:\\Users\\bob\\a"])(
  "a grant for the folder of %s is refused as too wide",
  (path) => {
    expect(createGrant(makeAsking("fs.delete", { path }), RememberOptions.parse({ scope: "folder" }), NOW)).toHaveProperty("error");
  },
);

test("a tool grant covers any call of that name on the target, except policy-bearing ones", () => {
  const grant = makeGrant(makeAsking("fs.write", { path: "~/a", content: "x" }), { scope: "tool" });
  expect(grantCovers(grant, makeAsking("fs.write", { path: "/srv/b", content: "y" }), NOW)).toBe(true);
  expect(grantCovers(grant, makeAsking("fs.write", { path: "~/.bashrc", content: "y" }), NOW)).toBe(false);
  expect(grantCovers(grant, makeAsking("fs.edit", { path: "~/a" }), NOW)).toBe(false);
  expect(grantCovers(grant, makeAsking("fs.write", { path: "~/a", content: "x" }, { target: "gsv" }), NOW)).toBe(false);
  const shell = makeGrant(makeAsking("shell.exec", { input: "make" }), { scope: "tool" });
  expect(grantCovers(shell, makeAsking("shell.exec", { input: "npm test" }), NOW)).toBe(true);
  expect(grantCovers(shell, makeAsking("shell.exec", { input: "sudo ls" }), NOW)).toBe(false);
  expect(
    createGrant(makeAsking("sys.config.set", { key: "a", value: "b" }, { target: "gsv" }), RememberOptions.parse({ scope: "tool" }), NOW),
  ).toHaveProperty("error");
  expect(
    createGrant(makeAsking("sys.config.set", { key: "a", value: "b" }, { target: "gsv" }), RememberOptions.parse({}), NOW),
  ).not.toHaveProperty("error");
});

/** Commands that a `class` grant for `uptime` on a device covers, and commands that it does not. */
const ALIKE = ["uptime", "uptime -p", "df -h", "cat notes.txt", "ls sub/dir"];
const FURTHER = [
  // Not only what is known to be harmless.
  "env uptime",
  "arch -arm64 ./x",
  "ls --unknown",
  "uptime; id",
  "uptime && id",
  "uptime | sh",
  "uptime > f",
  "uptime &",
  "uptime $(id)",
  "uptime `id`",
  "$UPTIME",
  "X=1 uptime",
  "PATH=. uptime",
  "./uptime",
  "make test",
  "sh -c 'uptime; id'",
  "sh script.sh",
  "eval $X",
  "busybox wget x",
  "rm x",
  "mv a b",
  "touch x",
  "curl example.org",
  "ssh host",
  "sudo uptime",
  "systemctl stop x",
  "cat ~/.ssh/id_rsa",
  "cat /etc/hosts",
  "cat .env",
  "uptime 'unclosed",
];

test("a class grant covers calls with no further tag, and no command that cannot be read", () => {
  const run = (input: string, more: Partial<GrantRequest> = {}) => makeAsking("shell.exec", { input }, more);
  const grant = makeGrant(run("uptime"), { scope: "class" });
  expect(grant).toMatchObject({ scope: "class", target: "laptop", call: "shell.exec", expiresAt: NOW + DAY_MS });
  for (const input of ALIKE) expect(grantCovers(grant, run(input), NOW), input).toBe(true);
  for (const input of FURTHER) expect(grantCovers(grant, run(input), NOW), input).toBe(false);
  for (const other of [
    run("uptime", { target: "server" }),
    run("uptime", { target: "gsv" }),
    run("uptime", { pid: "p2" }),
    run("uptime", { uid: 1001 }),
    makeAsking("shell.exec", { input: "uptime", cwd: "/srv" }),
    makeAsking("shell.exec", { input: "uptime", tty: { columns: 80, rows: 24 } }),
    makeAsking("shell.exec", { input: "uptime", sessionId: "s" }),
    makeAsking("fs.read", { path: "a" }),
  ])
    expect(grantCovers(grant, other, NOW), JSON.stringify(other.judged.args)).toBe(false);
  expect(grantCovers(grant, run("uptime"), NOW + DAY_MS)).toBe(false);
  expect(createGrant(run("uptime"), { scope: "class", ttlMs: DAY_MS + 1 }, NOW)).toHaveProperty("error");
  // An opaque command needs approval each time, even the approved one.
  const opaque = makeGrant(run("make test"), { scope: "class" });
  expect(grantCovers(opaque, run("uptime"), NOW)).toBe(true);
  expect(grantCovers(opaque, run("make test"), NOW)).toBe(false);
  // A grant with more tags covers more.
  const several = makeGrant(run("rm a; touch b"), { scope: "class" });
  for (const input of ["rm c", "touch d; rm e", "mv a b"]) expect(grantCovers(several, run(input), NOW), input).toBe(true);
});

/** Commands on a device that may read more than their words name. */
const READS_MORE = [
  "cat ~/{.ssh,x}/config",
  "cat ${x:-~/.ssh/id_rsa}",
  "cat ~/[.]ssh/config",
  'cat ~/["."]ssh/config',
  "cat ~/.ssh/$x.pub",
  "cat *",
  "cat $x",
  'cat "$x"',
  "cat < $x",
  "type %APPDATA%/x",
  "grep -r KEY .",
  "grep -nR KEY .",
  "grep --recursive KEY .",
  "grep -d recurse KEY .",
  "rg KEY",
  "rg KEY src",
  "git grep KEY",
  "diff -rN a b",
  "cat /proc/self/task/*/environ",
  "env",
  "env -0",
  "env X=1",
  "printenv",
  "command env",
  "set",
  "export",
  "export -p",
  "declare -p",
  "declare -x",
  "readonly",
  "ps auxe",
  "jq -n env",
  "awk 'BEGIN { print ENVIRON[\"K\"] }'",
  'awk \'BEGIN { ARGV[1] = ".ss" "h/config"; ARGC = 2 } 1\'',
  "grep -r PRIVATE ~",
  "find ~ -type f -exec cat {} +",
  "cat $(echo LnNzaC9jb25maWc= | base64 -d)",
  "x=.ss; y=h; cat ~/$x$y/config",
  "for f in a b; do cat $f; done",
  "printf '.ss\\150/config' | xargs cat",
  "printf '.ss\\150/config\\0' | sort --files0-from=-",
  "cat <(cat x)",
  "sh -c 'cat $0' .ssh",
];

test("on a device a class grant covers no command that may read more than its words name", () => {
  const run = (input: string, more: Partial<GrantRequest> = {}) => makeAsking("shell.exec", { input }, more);
  const grants = ["cat notes.txt", "cd src && grep -rn TODO ~/src | head", "cat $x; cat ~/x; cat .hidden"].map((input) =>
    makeGrant(run(input), { scope: "class" }),
  );
  for (const input of READS_MORE)
    for (const grant of grants) {
      expect([input, grantCovers(grant, run(input), NOW)]).toEqual([input, false]);
      // Whatever tags the grant holds.
      expect([input, grantCovers({ ...grant, tags: Object.keys(TAGS) }, run(input), NOW)]).toEqual([input, false]);
    }
  for (const input of [
    "cat notes.txt",
    "cat '*' \"a b\"",
    "grep KEY notes.txt",
    "ps aux",
    "find src -name x",
    "cp a b",
    "set -e",
    "export A=1",
  ])
    expect([input, [...run(input).judged.tags].includes("unknown-reads")]).toEqual([input, false]);
  expect(grantCovers(grants[0]!, run("grep KEY notes.txt"), NOW)).toBe(true);
  expect(grantCovers(grants[1]!, run("cd lib && grep -n TODO ~/src/a | head -3"), NOW)).toBe(true);
  // On the gateway each file is judged when the command opens it.
  const here = makeGrant(run("rm a", { target: "gsv" }), { scope: "class" });
  expect(grantCovers(here, run("cat *.md", { target: "gsv" }), NOW)).toBe(true);
});

test("a class grant does not cover a call that lacks a limit of the approved one", () => {
  const write = (path: string) => makeAsking("fs.write", { path, content: "x" }, { target: "gsv" });
  const scratch = makeGrant(write("/tmp/a"), { scope: "class" });
  expect(grantCovers(scratch, write("/tmp/b"), NOW)).toBe(true);
  expect(grantCovers(scratch, write("/srv/b"), NOW)).toBe(false);
  expect(grantCovers(makeGrant(write("/workspaces/w/a"), { scope: "class" }), write("/srv/b"), NOW)).toBe(false);
  const look = makeAsking("shell.exec", { input: "", sessionId: "s" }, { target: "gsv" });
  expect(grantCovers(makeGrant(look, { scope: "class" }), makeAsking("shell.exec", { input: "ls" }, { target: "gsv" }), NOW)).toBe(false);
});

test("a class grant for a call that always needs approval becomes a grant for exactly that call", () => {
  for (const from of [
    makeAsking("shell.exec", { input: "sudo id" }),
    makeAsking("fs.write", { path: "~/.bashrc", content: "x" }),
    makeAsking("sys.config.set", { key: "a", value: "b" }, { target: "gsv" }),
    // The gateway forwards it to machines that only the arguments name.
    makeAsking("fs.copy", { from: { target: "laptop", path: "a" }, to: { target: "server", path: "a" } }, { target: "gsv" }),
  ])
    expect(makeGrant(from, { scope: "class" }), from.judged.call).toMatchObject({ scope: "exact", digest: from.digest });
  // The same for a stored grant that holds such tags.
  const grant = { ...makeGrant(makeAsking("shell.exec", { input: "uptime" }), { scope: "class" }), tags: Object.keys(TAGS) };
  for (const input of ["sudo id", "echo x > ~/.bashrc", "make"])
    expect(grantCovers(grant, makeAsking("shell.exec", { input }), NOW), input).toBe(false);
});

test("a grant describes what it allows in words, without a time", () => {
  const describe = (call: string, args: Record<string, unknown>, remember: Partial<RememberOptions>, of?: object) =>
    describeGrant(makeGrant(makeAsking(call, args, of), remember), { agent: "Personal agent", args });
  expect(describe("shell.exec", { input: "uptime", target: "laptop" }, {})).toBe("Personal agent may run `uptime` on laptop");
  for (const args of [{ input: "x".repeat(61) }, { input: "a\nb" }, { input: "echo `id`" }, { input: "ls", cwd: "/" }])
    expect(describe("shell.exec", args, {})).toBe("Personal agent may run exactly the command that was shown on laptop");
  expect(describe("shell.exec", { input: "ls" }, { scope: "tool", ttlMs: 60_000 })).toBe(
    "Personal agent may run any command, whatever it does, on laptop",
  );
  const exceptions = "except where that controls agents or machines or may read secrets";
  expect(describe("fs.write", { path: "~/a/b" }, { scope: "folder", ttlMs: 2 * DAY_MS })).toBe(
    `Personal agent may write files below ~/a on laptop, ${exceptions}`,
  );
  expect(describe("fs.edit", { path: "~/a/b" }, { scope: "tool" })).toBe(`Personal agent may edit files anywhere on laptop, ${exceptions}`);
  expect(describe("fs.delete", { path: "~/old" }, {}, { target: "gsv" })).toBe(
    "Personal agent may delete ~/old on the gateway (exactly as shown)",
  );
  expect(describe("shell.exec", { input: "make" }, { scope: "class" })).toBe(
    "Personal agent may run commands on laptop without asking, as long as nothing more is known about each command than this: it reaches a device; it changes something on a device, or runs there; a program or an option in it is not known to be harmless. Anything else needs approval, for example if it changes files; it deletes something; a command in it uses the network; it is more than one simple command; a command in it uses elevated rights; it touches files or settings that control agents or machines; it may read secrets; what it runs cannot be known in advance; which files or variables it reads cannot be known in advance, as with the approved one",
  );
  expect(describe("fs.delete", { path: "a" }, { scope: "class" }, { target: "gsv" })).toBe(
    "Personal agent may delete files on the gateway without asking, as long as it only changes files in the home directory and nothing more is known about each call than this: it changes files; it may destroy something; it deletes something. Anything else needs approval, for example if it names a hidden file; it names a path outside the working directory; it names a path outside the home directory; it touches files or settings that control agents or machines; it may read secrets",
  );
  expect(describe("shell.exec", { input: "ls" }, { scope: "class" }, { target: "gsv" })).toContain(
    "as long as nothing special is known about each command. Anything else needs approval",
  );
  const args = { serverId: "k3x9d2p1", name: "add" };
  const tool = makeGrant(makeAsking("sys.mcp.call", args, { target: "add of Tracker (https://t.example/mcp)" }));
  const context = { agent: "Helper p1", args };
  expect(describeGrant(tool, context)).toBe(
    "Helper p1 may call add of Tracker (https://t.example/mcp) with exactly the arguments that were shown",
  );
  expect(describeGrant({ ...tool, scope: "tool" }, context)).toBe(
    "Helper p1 may call add of Tracker (https://t.example/mcp) with any arguments",
  );
  expect(describeGrant({ ...tool, pid: "p\u202e1" })).toContain("Process p⟨U+202E⟩1");
});

test("a grant turns ask into auto and changes no other decision", () => {
  const from = makeAsking("shell.exec", { input: "make" });
  const grants = [makeGrant(makeAsking("shell.exec", { input: "ls" })), makeGrant(from)];
  const action = (action: Action, list = grants) => applyGrants({ action, why: "x" }, list, from, NOW).action;
  expect([action("auto"), action("ask"), action("deny")]).toEqual(["auto", "auto", "deny"]);
  expect(action("ask", grants.slice(0, 1))).toBe("ask");
  expect(applyGrants({ action: "ask", why: "x" }, grants, from, NOW).why).toContain("exactly the command");
  const look = makeAsking("shell.exec", { input: "ls" });
  const both = [makeGrant(look, { scope: "class" }), ...grants];
  expect(applyGrants({ action: "ask", why: "x" }, both, look, NOW).by?.scope).toBe("exact");
});
