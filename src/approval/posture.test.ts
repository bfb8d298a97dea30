// What each posture makes of every call. A call that is added later asks before every action, and is trusted with nothing, until it
// is in these lists.

import { expect, test } from "vitest";
import { reference } from "../generated/reference.ts";
import { defaultPolicy, isPureRead } from "./defaults.ts";
import { type Decision, decide } from "./policy.ts";
import { applyPosture, ASKS_ALWAYS, pickStricterPosture } from "./posture.ts";
import { parseScript } from "./script.ts";
import { judge } from "./tags.ts";

const AROUND = { cwd: "/home/ann", home: "/home/ann", workspace: "/workspaces/ws_1", profile: "task" };
const AUTO: Decision = { action: "auto", why: "x" };
const ASK: Decision = { action: "ask", why: "x" };
const DENY: Decision = { action: "deny", why: "x" };

function judgeCall(call: string, args: object, device: string | null = null) {
  return judge({ call, args: { ...args }, device, ...AROUND }, parseScript);
}

test("asking before every action asks about all calls but reads and scripts, whose calls are judged one by one", () => {
  const unasked = reference
    .filter(({ name, example }) => applyPosture(AUTO, "ask", judgeCall(name, example.args as object), true).action === "auto")
    .map(({ name }) => name);
  expect(unasked.filter((name) => !isPureRead(name))).toEqual(["codemode.exec", "codemode.run"]);
  // What it calls a read is one.
  const changing = reference.filter(({ name, does }) => isPureRead(name) && does === "write").map(({ name }) => name);
  expect(changing).toEqual([]);
  expect(applyPosture(AUTO, "ask", judgeCall("fs.write", { path: "a" }), false)).toEqual({ action: "ask", why: ASKS_ALWAYS });
  expect(applyPosture(AUTO, "ask", judgeCall("sys.doctor", { tryModel: true }), true).action).toBe("ask");
  expect(applyPosture(AUTO, "ask", judgeCall("shell.exec", { sessionId: "s", input: "" }, "laptop"), true).action).toBe("auto");
});

test("trust lifts questions about a few calls, whatever the others' examples are", () => {
  const names = reference.filter(({ name }) => {
    const judged = judgeCall(name, { path: "/srv/a", input: "ls", from: { path: "/srv/a" }, to: { path: "/srv/b" } });
    return applyPosture(ASK, "trusted", judged, true).action === "auto";
  });
  expect(names.map(({ name }) => name).filter((name) => name !== "proc.conversation.update")).toEqual([
    "fs.copy",
    "fs.edit",
    "fs.upload",
    "fs.write",
    "shell.exec",
  ]);
});

type Row = [call: string, args: object, gsv: "auto" | "ask", device: "auto" | "ask"];
const TRUSTED: Row[] = [
  ["shell.exec", { input: "uptime" }, "auto", "auto"],
  ["shell.exec", { input: "df -h" }, "auto", "auto"],
  ["shell.exec", { input: "ps aux | grep -i node | head -20; free -h" }, "auto", "auto"],
  ["shell.exec", { input: "cd src && ls -la ~/.config 2>/dev/null" }, "auto", "auto"],
  ["shell.exec", { input: "find src -name '*.ts' -mtime -2 | wc -l", cwd: "~/site", wait: 1000 }, "auto", "auto"],
  ["shell.exec", { input: "cat notes.md" }, "auto", "auto"],
  ["shell.exec", { input: "echo x > notes.md" }, "auto", "auto"],
  ["shell.exec", { input: "echo x | tee -a notes.md" }, "auto", "auto"],
  ["shell.exec", { input: "mkdir new" }, "auto", "auto"],
  ["shell.exec", { input: "mkdir -p new 2>/dev/null" }, "auto", "auto"],
  // In a directory that an agent can write without any hidden file, git takes a file named config for the repository's.
  ["shell.exec", { input: "git status" }, "auto", "ask"],
  ["shell.exec", { input: "git log" }, "auto", "ask"],
  // Hidden files say what programs and the login run.
  ["shell.exec", { input: "echo x >> ~/.bashrc" }, "ask", "ask"],
  ["shell.exec", { input: "tee ~/.profile" }, "ask", "ask"],
  ["shell.exec", { input: "touch a", cwd: "~/.config/autostart" }, "ask", "ask"],
  ["shell.exec", { input: "touch a", cwd: "~/.hidden" }, "auto", "ask"],
  ["shell.exec", { input: "cd ~/.local/share; mkdir systemd" }, "auto", "ask"],
  // Programs that run others, or write where an option says.
  ["shell.exec", { input: "split --filter='python3 x.py' notes.txt" }, "ask", "ask"],
  ["shell.exec", { input: "split --fil='python3 x.py' notes.txt" }, "ask", "ask"],
  ["shell.exec", { input: "arch -arm64 /bin/sh f.sh" }, "ask", "ask"],
  ["shell.exec", { input: "sort --co=./p -S1b big" }, "ask", "ask"],
  ["shell.exec", { input: "git init --template=./t r; cd r; git commit" }, "ask", "ask"],
  ["shell.exec", { input: "git init --templ=./t r" }, "ask", "ask"],
  ["shell.exec", { input: "/usr/bin/time -f 'evil' -o ~/.bashrc true" }, "ask", "ask"],
  ["shell.exec", { input: "sort evil --out=/home/alice/.bashrc" }, "ask", "ask"],
  ["shell.exec", { input: "cp --target-directory=/home/alice/.local/share/systemd/user x.service" }, "auto", "ask"],
  ["shell.exec", { input: "sort f --output=/home/alice/.xsessionrc" }, "auto", "ask"],
  ["shell.exec", { input: "uniq a b" }, "auto", "ask"],
  // A copy carries the right to be run, and directories of programs come before those of the system.
  ["shell.exec", { input: "cp evil uptime" }, "auto", "ask"],
  ["fs.copy", { from: { path: "/srv/a" }, to: { path: "/srv/b", target: "laptop" } }, "ask", "ask"],
  ["fs.copy", { from: { path: "/srv/a", target: "laptop" }, to: { path: "~/b" } }, "auto", "auto"],
  ["fs.upload", { path: "/srv/b" }, "auto", "ask"],
  ["fs.write", { path: "~/bin/uptime" }, "auto", "ask"],
  ["shell.exec", { input: "cd ~/bin; echo x > uptime" }, "auto", "ask"],
  // Wrappers, variables, other spellings, and what shells read in different ways.
  ["shell.exec", { input: "time uptime" }, "auto", "ask"],
  ["shell.exec", { input: "env A=1 uptime" }, "auto", "ask"],
  ["shell.exec", { input: "nice uptime" }, "auto", "ask"],
  ["shell.exec", { input: "echo a | xargs ls" }, "auto", "ask"],
  ["shell.exec", { input: "TZ=UTC date" }, "auto", "ask"],
  ["shell.exec", { input: "/usr/bin/uptime" }, "auto", "ask"],
  ["shell.exec", { input: "ls() { uptime; }; ls" }, "auto", "ask"],
  ["shell.exec", { input: "printf '%n' PATH; ls" }, "auto", "ask"],
  ["shell.exec", { input: "ls 3>&1" }, "auto", "ask"],
  ["shell.exec", { input: "uptime &" }, "auto", "ask"],
  ["shell.exec", { input: "echo 'a\\' 'b; evil #'" }, "auto", "ask"],
  ["shell.exec", { input: 'echo "a\\"; evil; \\"b"' }, "auto", "ask"],
  ["shell.exec", { input: "echo \u2018; evil; \u2018" }, "ask", "ask"],
  ["shell.exec", { input: "date -s 2020-01-01" }, "ask", "ask"],
  ["shell.exec", { input: "ls --unknown" }, "auto", "ask"],
  ["shell.exec", { input: "uptime", until: "sent", later: true }, "auto", "ask"],
  ["shell.exec", { input: "rm -r build" }, "ask", "ask"],
  ["shell.exec", { input: "mv a b" }, "auto", "ask"],
  ["shell.exec", { input: "cat ~/.ssh/id_rsa" }, "ask", "ask"],
  ["shell.exec", { input: "grep -r password ." }, "auto", "ask"],
  ["shell.exec", { input: "cat *" }, "auto", "ask"],
  ["shell.exec", { input: "curl https://example.com" }, "ask", "ask"],
  ["shell.exec", { input: "ssh host uptime" }, "ask", "ask"],
  ["shell.exec", { input: "sudo uptime" }, "ask", "ask"],
  ["shell.exec", { input: "npm test" }, "ask", "ask"],
  ["shell.exec", { input: "$x" }, "ask", "ask"],
  ["shell.exec", { input: "yes", sessionId: "s" }, "ask", "ask"],
  ["shell.exec", { input: "uptime", tty: { cols: 80, rows: 24 } }, "ask", "ask"],
  ["fs.write", { path: "/srv/a" }, "auto", "auto"],
  ["fs.write", { path: "/tmp/a" }, "auto", "auto"],
  ["fs.write", { path: "~/a" }, "auto", "auto"],
  ["fs.write", { path: "/workspaces/ws_2/a" }, "auto", "auto"],
  // Archives and media of processes, other homes, and every place that nobody has thought of.
  ["fs.write", { path: "/var/sessions/ann/default/1.jsonl" }, "ask", "auto"],
  ["fs.edit", { path: "/var/sessions/ann/default/1.jsonl" }, "ask", "auto"],
  ["fs.upload", { path: "/var/media/1000/a.png" }, "ask", "ask"],
  ["fs.copy", { from: { path: "~/a" }, to: { path: "/var/media/1000/a.png" } }, "ask", "ask"],
  ["fs.copy", { from: { path: "~/a", target: "laptop" }, to: { path: "/srv/../var/a" } }, "ask", "ask"],
  ["fs.write", { path: "/home/bob/a" }, "ask", "auto"],
  ["fs.write", { path: "/home/ann/../bob/a" }, "ask", "auto"],
  ["fs.write", { path: "/srv/../var/a" }, "ask", "auto"],
  ["fs.write", { path: "/srv" }, "ask", "auto"],
  ["fs.write", { path: "/elsewhere/a" }, "ask", "auto"],
  ...["/usr/a", "/boot/a", "/root/a", "/proc/a", "/sys/a", "/etc/group"].map((path): Row => ["fs.write", { path }, "ask", "ask"]),
  ["fs.write", { path: "~/.bashrc" }, "ask", "ask"],
  ["fs.write", { path: "~/.ssh/authorized_keys" }, "ask", "ask"],
  ["fs.write", { path: "~/context.d/a.md" }, "ask", "ask"],
  ["fs.edit", { path: "/srv/a" }, "auto", "auto"],
  // What macOS and Windows hide without a dot, and where programs are put on any machine.
  ...[
    "~/Library/Application Support/iTerm2/Scripts/AutoLaunch/x.py",
    "/Users/ann/library/Services/x",
    "/Applications/X.app/Contents/MacOS/X",
    "C:\\Users\\ann\\AppData\\Roaming\\x",
    "/mnt/c/Users/ann/AppData/x",
    "~/Documents/WindowsPowerShell/Modules/touch/touch.psm1",
    "~/OneDrive/Documents/PowerShell/profile.ps1",
    "/run/user/1000/systemd/user/x.service",
    "/var/lib/x",
    "/srv/app/bin/x",
    "~/miniconda3/etc/profile.d/conda.sh",
  ].map((path): Row => ["fs.write", { path }, /^(?:~|C:|\/srv)/.test(path) ? "auto" : "ask", "ask"]),
  ["fs.delete", { path: "/tmp/a" }, "ask", "ask"],
  ["fs.read", { path: "~/.ssh/id_rsa" }, "ask", "ask"],
];

test.each(TRUSTED)("%s %j of a trusted agent", (call, args, gsv, device) => {
  for (const [target, expected] of [
    [null, gsv],
    ["laptop", device],
  ] as const) {
    const judged = judgeCall(call, args, target);
    expect(applyPosture(decide(defaultPolicy("task"), judged), "trusted", judged, true).action, String(target)).toBe(expected);
  }
});

test("trust lifts neither a deny nor what somebody has written, and careful changes nothing", () => {
  const judged = judgeCall("shell.exec", { input: "uptime" }, "laptop");
  expect(applyPosture(DENY, "trusted", judged, true)).toBe(DENY);
  expect(applyPosture(DENY, "ask", judged, true)).toBe(DENY);
  expect(applyPosture(ASK, "trusted", judged, false)).toBe(ASK);
  for (const decision of [AUTO, ASK, DENY]) expect(applyPosture(decision, "careful", judged, true)).toBe(decision);
});

test("the stricter of two postures asks more", () => {
  expect(pickStricterPosture("trusted", "careful")).toBe("careful");
  expect(pickStricterPosture("ask", "trusted")).toBe("ask");
});
