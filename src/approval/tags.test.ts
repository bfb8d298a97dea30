import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { CallToJudge, Tag } from "./request.ts";
import { parseScript } from "./script.ts";
import { judge, classifyTarget } from "./tags.ts";

const AROUND = { profile: "task", cwd: "/home/ann/site", home: "/home/ann", workspace: "/workspaces/ws_1" };

function tagsOf(call: string, args: Record<string, unknown>, more: Partial<CallToJudge> = {}): Tag[] {
  return [...judge({ call, args, ...AROUND, ...more }, parseScript).tags].toSorted();
}

test("only gsv is the gateway, and the kernel says where a session is", () => {
  const classOf = (call: string, args: Record<string, unknown>, more: Partial<CallToJudge> = {}) =>
    classifyTarget({ call, args, ...AROUND, ...more });
  expect(classOf("fs.read", { path: "a" })).toBe("gsv");
  expect(classOf("fs.read", { path: "a", target: "gsv" })).toBe("gsv");
  // Devices may have these names.
  for (const target of ["local", "gateway", "GSV", " gsv", "", null, 0]) expect(classOf("fs.read", { path: "a", target })).toBe("device");
  expect(classOf("shell.exec", { input: "", sessionId: "s" })).toBe("device");
  expect(classOf("shell.exec", { input: "", sessionId: "s" }, { device: null })).toBe("gsv");
  expect(classOf("shell.exec", { input: "", target: "gsv" }, { device: "laptop" })).toBe("device");
  expect(classOf("fs.copy", { from: { path: "a" }, to: { path: "b" } })).toBe("gsv");
  expect(classOf("fs.copy", { from: { path: "a", target: "laptop" }, to: { path: "b" } })).toBe("device");
  expect(classOf("fs.copy", { from: { path: "a" }, to: { path: "b", target: "laptop" } })).toBe("device");
  expect(classOf("fs.copy", { from: { path: "a", target: "laptop" }, to: { path: "b" } }, { device: null })).toBe("device");
});

test.each<[call: string, args: Record<string, unknown>, tags: Tag[]]>([
  ["fs.read", { path: "a" }, []],
  ["fs.read", { path: "../a" }, ["outside-cwd"]],
  ["fs.read", { path: "/srv/a" }, ["outside-cwd", "outside-home"]],
  ["fs.read", { path: ".a" }, ["hidden-path"]],
  ["fs.read", { path: "x/.a/../b" }, []],
  ["fs.read", { path: "~/.ssh/id" }, ["hidden-path", "outside-cwd", "reads-secret"]],
  ["fs.read", { path: "a", target: "laptop" }, ["remote"]],
  ["fs.read", { path: "/etc/hosts", target: "laptop" }, ["outside-cwd", "outside-home", "remote"]],
  ["fs.write", { path: "a", content: "" }, ["in-home", "mutating"]],
  ["fs.write", { path: "~", content: "" }, ["mutating", "outside-cwd"]],
  ["fs.write", { path: "/home/ann2/a", content: "" }, ["mutating", "outside-cwd", "outside-home"]],
  ["fs.write", { path: "/workspaces/ws_2/a", content: "" }, ["in-workspace", "mutating", "outside-cwd", "outside-home"]],
  ["fs.write", { path: "/workspaces/ws_2", content: "" }, ["mutating", "outside-cwd", "outside-home"]],
  ["fs.write", { path: "/tmp/a", content: "" }, ["mutating", "outside-cwd", "outside-home", "scratch"]],
  ["fs.write", { path: "/srv/a", content: "" }, ["mutating", "outside-cwd", "outside-home", "shared"]],
  ["fs.write", { path: "/srv", content: "" }, ["mutating", "outside-cwd", "outside-home"]],
  ["fs.write", { path: "/srv/../var/a", content: "" }, ["mutating", "outside-cwd", "outside-home"]],
  ["fs.write", { path: "/dev/null", content: "" }, ["mutating", "outside-cwd", "outside-home", "scratch"]],
  ["fs.write", { path: "/tmp/../etc/passwd", content: "" }, ["mutating", "outside-cwd", "outside-home", "policy-bearing"]],
  ["fs.write", { path: "a\0b", content: "" }, ["mutating", "outside-cwd", "outside-home", "policy-bearing"]],
  ["fs.edit", { path: "~/context.d/a.md" }, ["in-home", "mutating", "outside-cwd", "policy-bearing"]],
  ["fs.delete", { path: "a" }, ["deletes", "destructive", "in-home", "mutating"]],
  ["fs.write", { path: "a", content: "", target: "laptop" }, ["mutating", "onto-device", "remote"]],
  ["fs.upload", { path: "a", target: "laptop" }, ["mutating", "onto-device", "remote"]],
  ["fs.copy", { from: { path: "a", target: "laptop" }, to: { path: "b" } }, ["in-home", "mutating", "remote"]],
  ["fs.copy", { from: { path: "a" }, to: { path: "b", target: "laptop" } }, ["mutating", "onto-device", "remote"]],
  ["fs.copy", {}, ["mutating"]],
  ["sys.config.set", { key: "users/1/ai/model", value: "x" }, ["policy-bearing"]],
  ["sys.config.get", {}, []],
  ["sched.add", {}, ["policy-bearing"]],
  ["sched.runs", { id: "x" }, []],
  ["sched.preview", { words: "x" }, []],
  ["signal.watch", {}, ["policy-bearing"]],
  ["signal.unwatch", {}, []],
  ["sys.something.new", {}, ["policy-bearing"]],
  ["sys.mcp.call", {}, ["connects", "network"]],
  ["repo.apply", { repo: "ann/notes", ops: [{ type: "put", path: "a" }] }, ["mutating"]],
  ["repo.apply", { repo: "ann/notes", ops: [{ type: "delete", path: "a" }] }, ["deletes", "destructive", "mutating"]],
  ["repo.apply", { repo: "ann/home", ops: [{ type: "put", path: "knowledge/a" }] }, ["mutating"]],
  ["repo.apply", { repo: "ann/home", ops: [{ type: "put", path: "x/../context.d/a" }] }, ["mutating", "policy-bearing"]],
  [
    "repo.apply",
    { repo: "ann/home", ops: [{ type: "move", from: "a", to: "b" }] },
    ["deletes", "destructive", "mutating", "policy-bearing"],
  ],
  ["repo.read", { repo: "ann/notes", path: "deploy/.env" }, ["reads-secret"]],
  ["repo.read", { repo: "ann/notes", path: "deploy/env.ts" }, []],
  ["repo.search", { repo: "ann/notes", query: "x", prefix: ".ssh/" }, ["reads-secret"]],
  ["repo.search", { repo: "ann/notes", query: ".ssh", prefix: "src" }, []],
  ["repo.import", { repo: "ann/home" }, ["connects", "mutating", "network", "policy-bearing"]],
])("%s %j", (call, args, expected) => {
  expect(tagsOf(call, args)).toEqual(expected);
});

test.each<[input: string, ...tags: Tag[]]>([
  ["sort evil --output=/home/alice/.bashrc", "hidden-path", "policy-bearing", "mutating", "outside-home"],
  ["sort evil --out=/home/alice/.bashrc", "hidden-path", "policy-bearing", "mutating"],
  ["sort evil -o/home/alice/.bashrc", "hidden-path", "policy-bearing", "mutating"],
  ["sort evil -uo.bashrc", "hidden-path", "policy-bearing", "mutating"],
  ["sort f --output=/home/alice/.xsessionrc", "hidden-path", "mutating"],
  ["cp --target-directory=/home/alice/.local/share/systemd/user x.service", "hidden-path", "mutating"],
  ["cp -t/etc/cron.d x", "policy-bearing", "mutating"],
  ["/usr/bin/time -f 'evil' -o ~/.bashrc true", "hidden-path", "policy-bearing", "mutating"],
  ["cd ~/bin; touch uptime", "policy-bearing"],
  ["touch Library/Services/x", "policy-bearing"],
  ["cd src; touch ../Library/x", "policy-bearing"],
  ["cd ..; touch Library/x", "policy-bearing"],
])("%s: paths in the values of options count", (input, ...tags) => {
  const found = tagsOf("shell.exec", { input, target: "laptop" });
  expect(tags.filter((tag) => !found.includes(tag))).toEqual([]);
});

test("what is written to /dev/null changes nothing", () => {
  for (const target of ["gsv", "laptop"])
    for (const input of ["ls 2>/dev/null", "ls > /dev/null", "touch a 2>/dev/null"]) {
      const found = tagsOf("shell.exec", { input, target });
      expect(found.filter((tag) => tag === "deletes" || tag === "policy-bearing")).toEqual([]);
      expect(found.includes("mutating")).toBe(input.startsWith("touch"));
    }
});

/** Files that steer agents and machines, in several spellings. */
test.each([
  ["~/context.d/00.md"],
  ["../context.d/00.md"],
  ["/home/ann/./context.d//x"],
  ["/home/bob/context.d/x"],
  ["~/Context.D/x"],
  ["~/context.d"],
  ["~/skills.d/x/SKILL.md"],
  ["~/CONSTITUTION.md"],
  ["~/constitution.md"],
  ["/workspaces/ws_1/.gsv/context.d/x.md"],
  ["/workspaces/ws_1/.gsv/summary.md"],
  ["/etc/passwd"],
  ["/etc/group"],
  ["/sys/config/ai/model"],
  ["/sys/users/1/ai/model"],
  ["/proc/1/context"],
  ["/usr/bin/x"],
  ["/root/context.d/x"],
  ["~/.bashrc"],
  ["~/.ssh/authorized_keys"],
  ["~/AGENTS.md"],
  ["~/x/.git/hooks/pre-commit"],
  ["~/pkg/approval.json"],
  ["/etc/cron.d/x", "laptop"],
  ["~/.zshrc", "laptop"],
  ["~/.SSH/authorized_keys", "laptop"],
  ["~/Library/LaunchAgents/x.plist", "laptop"],
  ["~/.config/autostart/x.desktop", "laptop"],
  ["~/.config/systemd/user/x.service", "laptop"],
  ["x/../.ssh/config", "laptop"],
  ["../../etc/passwd", "laptop"],
  ["~/src/x/.git/config", "laptop"],
  ["~/src/x/.vscode/tasks.json", "laptop"],
  ["C:\\Windows\\System32\\x.dll", "laptop"],
  ["/mnt/c/Windows/x", "laptop"],
  ["~/Library/Services/x", "laptop"],
  ["library/Services/x", "laptop"],
  ["/Users/ann/Library/Services/x", "laptop"],
  ["C:\\Users\\ann\\AppData\\x", "laptop"],
  ["~/Applications/x", "laptop"],
  ["~/bin/x", "laptop"],
  ["~/go/bin/x", "laptop"],
  ["~/Documents/WindowsPowerShell/Modules/x", "laptop"],
  ["/run/user/1000/systemd/user/x.service", "laptop"],
  ["/var/lib/x", "laptop"],
  ["~\\.ssh\\config", "laptop"],
  ["/private/etc/hosts", "laptop"],
])("%s is policy-bearing", (path, target?: string) => {
  expect(tagsOf("fs.write", { path, content: "", ...(target && { target }) })).toContain("policy-bearing");
});

test.each([
  "echo x > ~/context.d/a.md",
  "echo x >> ../context.d/a.md",
  "cd ~/context.d && echo x > a.md",
  "cd ~ && echo x > context.d/a.md",
  "cd ..; cd context.d; touch a",
  "cp a ~/skills.d/x/SKILL.md",
  "mv a ~/CONSTITUTION.md",
  "tee ~/context.d/a < b",
  "echo x | tee -a ~/context.d/a",
  "d=~/context.d; echo x > $d/a",
  "d=context; echo x > ~/$d.d/a; : context.d",
  "sed -i s/a/b/ ~/context.d/a",
  "dd if=a of=/home/ann/context.d/a",
  "ln -s x ~/.bashrc",
  "sh -c 'echo x > ~/context.d/a'",
  "find ~/context.d -name x -delete",
  "echo x > /sys/config/ai/model",
  "echo x > /etc/passwd",
  "truncate -s 0 ~/CONSTITUTION.md",
  'python3 -c \'open("context.d/a", "w")\'',
  "chmod 777 ~/.ssh",
])("%s is policy-bearing", (input) => {
  expect(tagsOf("shell.exec", { input })).toContain("policy-bearing");
});

test.each(["cat ~/context.d/a.md", "ls ~/skills.d", "grep x /etc/passwd", "echo x > ~/notes/a.md", "ls 2>/dev/null", "cp a b"])(
  "%s is not policy-bearing",
  (input) => {
    expect(tagsOf("shell.exec", { input })).not.toContain("policy-bearing");
  },
);

test("polling a session is tagged looks, and sending input to it is not", () => {
  expect(tagsOf("shell.exec", { input: "", sessionId: "s" })).toEqual(["looks", "remote"]);
  expect(tagsOf("shell.exec", { input: "", sessionId: "s" }, { device: null })).toEqual(["looks"]);
  expect(tagsOf("shell.exec", { input: "y\n", sessionId: "s" })).toContain("opaque");
  expect(tagsOf("shell.exec", { input: "", sessionId: "s", signal: "KILL" })).toContain("opaque");
  expect(tagsOf("shell.exec", { input: "", tty: { cols: 80, rows: 24 }, target: "laptop" })).toContain("opaque");
  expect(tagsOf("shell.exec", { input: ["rm", "x"] })).toContain("opaque");
});

test("a command that changes to many directories counts as policy-bearing", () => {
  const input = Array.from({ length: 100 }, (_, at) => `cd d${at}; touch e${at}`).join("; ");
  expect(tagsOf("shell.exec", { input })).toContain("policy-bearing");
});

test("a project's own library is no file of the system", () => {
  for (const path of ["~/src/library/a.ts", "/srv/library/a", "~/var/lib/x", "src/bin.ts", "bin"])
    expect(tagsOf("fs.write", { path, content: "", target: "laptop" }), path).not.toContain("policy-bearing");
});

test("unvetted is said only of commands on devices that are not known to be harmless", () => {
  expect(tagsOf("shell.exec", { input: "uptime -p", target: "laptop" })).toEqual(["onto-device", "remote"]);
  expect(tagsOf("shell.exec", { input: "uptime -x", target: "laptop" })).toEqual(["onto-device", "remote", "unvetted"]);
  expect(tagsOf("shell.exec", { input: "uptime -x" })).toEqual([]);
  expect(tagsOf("shell.exec", { input: "uptime", cwd: "~", until: "sent", target: "laptop" })).not.toContain("unvetted");
  expect(tagsOf("shell.exec", { input: "uptime", later: 1, target: "laptop" })).toContain("unvetted");
  expect(tagsOf("shell.exec", { target: "laptop" })).toContain("unvetted");
});

test("without a parser a command is opaque", () => {
  expect(judge({ call: "shell.exec", args: { input: "ls" }, ...AROUND }).tags).toContain("opaque");
});

const FLOOR: readonly [Tag, string[]][] = [
  ["destructive", ["rm ", "dd ", "mkfs", "chmod ", "chown ", "mv ", "rmdir ", "truncate ", "reboot", "shutdown"]],
  ["network", ["curl ", "wget ", "ssh ", "scp ", "nc ", "telnet ", "ftp "]],
  ["privileged", ["sudo ", "su ", "passwd", "useradd", "userdel", "systemctl ", "service ", "mount ", "umount "]],
];

test("tags found by the plain substring search are never missing", () => {
  const part = fc.constantFrom(...FLOOR.flatMap(([tag, parts]) => parts.map((text) => ({ tag, text }))));
  fc.assert(
    fc.property(fc.string(), part, fc.boolean(), fc.string(), (before, { tag, text }, isUpper, after) => {
      expect(tagsOf("shell.exec", { input: before + (isUpper ? text.toUpperCase() : text) + after })).toContain(tag);
    }),
    { numRuns: 300 },
  );
});

test("judge accepts any arguments", () => {
  const calls = fc.constantFrom(
    "fs.read",
    "fs.write",
    "fs.copy",
    "fs.delete",
    "shell.exec",
    "repo.apply",
    "repo.import",
    "sys.x",
    "constructor",
  );
  fc.assert(
    fc.property(
      calls,
      fc.dictionary(fc.constantFrom("path", "input", "target", "from", "to", "ops", "repo", "cwd", "sessionId"), fc.anything()),
      (call, args) => {
        expect(judge({ call, args, ...AROUND }, parseScript).tags).toBeInstanceOf(Set);
      },
    ),
    { numRuns: 500 },
  );
});
