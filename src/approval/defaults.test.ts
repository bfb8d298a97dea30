// The default policy's decision for every call with typical arguments, on the gateway and on a device. A call missing from these
// tables fails the first test, so that nobody adds one without deciding about it.

import { expect, test } from "vitest";
import { reference } from "../generated/reference.ts";
import { defaultPolicy, isNamedByDefault } from "./defaults.ts";
import { type Action, checkPolicy, decide, readPolicy } from "./policy.ts";
import { parseScript } from "./script.ts";
import { judge } from "./tags.ts";

const AROUND = { cwd: "/home/ann", home: "/home/ann", workspace: "/workspaces/ws_1" };

type Case = [args: Record<string, unknown>, action: Action];
/** Arguments, and the decisions on the gateway and on a device. */
type Both = [args: Record<string, unknown>, gsv: Action, device: Action];

const HARDWARE: Record<string, Both[]> = {
  "fs.read": [
    [{ path: "a" }, "auto", "auto"],
    [{ path: "/etc/passwd" }, "auto", "auto"],
    [{ path: "~/.ssh/config" }, "ask", "ask"],
    [{ path: "~/.ssh/id_ed25519.pub" }, "auto", "auto"],
    [{ path: "project/.env" }, "ask", "ask"],
    [{ path: "project/.env.example" }, "auto", "auto"],
    [{ path: "/workspaces/ws_1/.gsv/context.d/a.md" }, "auto", "auto"],
  ],
  // A search from a directory above skips files that hold secrets.
  "fs.search": [
    [{ query: "x" }, "auto", "auto"],
    [{ query: "x", path: "/" }, "auto", "auto"],
    [{ query: "x", path: "~" }, "auto", "auto"],
    [{ query: "x", path: "~/.ssh" }, "ask", "ask"],
    [{ query: "x", path: "~/.aws/cli/cache" }, "ask", "ask"],
  ],
  "fs.download": [
    [{ path: "a", body: 1 }, "auto", "auto"],
    [{ path: "keys/server.pem", body: 1 }, "ask", "ask"],
  ],
  "fs.write": [
    [{ path: "a", content: "x" }, "auto", "ask"],
    [{ path: "~/notes/a.md", content: "x" }, "auto", "ask"],
    [{ path: "/workspaces/ws_1/a", content: "x" }, "auto", "ask"],
    [{ path: "/workspaces/ws_2/a", content: "x" }, "auto", "ask"],
    [{ path: "/workspaces/ws_1/../../etc/passwd", content: "x" }, "ask", "ask"],
    [{ path: "/tmp/a", content: "x" }, "auto", "ask"],
    [{ path: "/dev/null", content: "x" }, "auto", "ask"],
    [{ path: "/srv/a", content: "x" }, "ask", "ask"],
    [{ path: "/home/bob/a", content: "x" }, "ask", "ask"],
    [{ path: "/home/annie/a", content: "x" }, "ask", "ask"],
    [{ path: "../bob/a", content: "x" }, "ask", "ask"],
    [{ path: "/etc/group", content: "x" }, "ask", "ask"],
    [{ path: "/sys/config/ai/model", content: "x" }, "ask", "ask"],
    [{ path: "~/context.d/a.md", content: "x" }, "ask", "ask"],
    [{ path: "~/skills.d/a/SKILL.md", content: "x" }, "ask", "ask"],
    [{ path: "~/CONSTITUTION.md", content: "x" }, "ask", "ask"],
    [{ path: "~/knowledge/a.md", content: "x" }, "auto", "ask"],
    [{ path: "/workspaces/ws_1/.gsv/context.d/a.md", content: "x" }, "ask", "ask"],
    [{ path: "~/.bashrc", content: "x" }, "ask", "ask"],
  ],
  "fs.edit": [
    [{ path: "a", oldString: "a", newString: "b" }, "auto", "ask"],
    [{ path: "~/context.d/a.md", oldString: "a", newString: "b" }, "ask", "ask"],
    [{ path: "/etc/passwd", oldString: "a", newString: "b" }, "ask", "ask"],
  ],
  "fs.upload": [
    [{ path: "a", size: 1, body: 1 }, "auto", "ask"],
    [{ path: "~/skills.d/a", size: 1, body: 1 }, "ask", "ask"],
  ],
  "fs.delete": [
    [{ path: "a" }, "ask", "ask"],
    [{ path: "/workspaces/ws_1/a" }, "ask", "ask"],
    [{ path: "/tmp/a" }, "ask", "ask"],
  ],
  "shell.list": [[{}, "auto", "auto"]],
  "sys.vitals": [[{}, "auto", "auto"]],
  "shell.exec": [
    [{ input: "ls -la | head" }, "auto", "ask"],
    [{ input: "echo x > notes.md" }, "auto", "ask"],
    [{ input: "cat <<E > form.md\nthis form is to confirm\nE" }, "auto", "ask"],
    [{ input: 'for f in *.md; do wc -w "$f"; done' }, "auto", "ask"],
    [{ input: "rm a" }, "ask", "ask"],
    [{ input: "cat ~/.ssh/id_rsa" }, "ask", "ask"],
    [{ input: "cat project/*.md" }, "auto", "ask"],
    [{ input: "> notes.md" }, "ask", "ask"],
    [{ input: ": > notes.md" }, "ask", "ask"],
    [{ input: "truncate -s 0 notes.md" }, "ask", "ask"],
    [{ input: "> /tmp/a" }, "auto", "ask"],
    [{ input: "cat a > notes.md" }, "auto", "ask"],
    [{ input: "find . -delete" }, "ask", "ask"],
    [{ input: "curl https://example.org" }, "ask", "ask"],
    [{ input: "$x" }, "ask", "ask"],
    [{ input: "passwd" }, "ask", "ask"],
    [{ input: "mcp tools Linear; oauth list" }, "auto", "ask"],
    [{ input: "mcp call Linear list_issues" }, "ask", "ask"],
    [{ input: "mcp remove Linear" }, "ask", "ask"],
    [{ input: "sched list; sched history x; crontab -l; signal list; notify send x" }, "auto", "ask"],
    [{ input: "sched add every day at 9 x" }, "ask", "ask"],
    [{ input: "crontab new" }, "ask", "ask"],
    [{ input: "signal watch proc.run.finished --process x" }, "ask", "ask"],
    [{ input: "echo x > ~/context.d/a" }, "ask", "ask"],
    [{ input: "", sessionId: "s" }, "auto", "auto"],
    [{ input: "y\n", sessionId: "s" }, "ask", "ask"],
    [{ input: "", sessionId: "s", signal: "TERM" }, "ask", "ask"],
  ],
};

const KERNEL: Record<string, Case[]> = {
  "ai.check": [[{ baseUrl: "https://models.example.com/v1" }, "ask"]],
  "ai.config": [[{}, "auto"]],
  // It makes requests with the key of its user.
  "ai.models": [[{}, "ask"]],
  "ai.tools": [[{}, "auto"]],
  "ai.skills": [[{}, "auto"]],
  // The calls of a script are judged one by one.
  "codemode.exec": [[{ code: "return 1" }, "auto"]],
  "codemode.run": [[{ code: "return 1" }, "auto"]],
  "notification.create": [[{ title: "x" }, "auto"]],
  "notification.dismiss": [[{ notificationId: "x" }, "auto"]],
  "notification.list": [[{}, "auto"]],
  "notification.mark_read": [[{ notificationId: "x" }, "auto"]],
  "notification.push.key": [[{}, "deny"]],
  "notification.push.list": [[{}, "auto"]],
  "notification.push.subscribe": [[{ endpoint: "https://push.example.net/x" }, "deny"]],
  "notification.push.test": [[{ subscriptionId: "x" }, "deny"]],
  "notification.push.unsubscribe": [[{ subscriptionId: "x" }, "deny"]],
  "notification.push.update": [[{ subscriptionId: "x", level: "never" }, "deny"]],
  "notification.settings.get": [[{}, "auto"]],
  "notification.settings.set": [[{ levels: { agents: "never" } }, "deny"]],
  "proc.abort": [[{ pid: "x" }, "ask"]],
  "proc.approval.history": [[{}, "auto"]],
  "proc.approval.list": [[{}, "auto"]],
  "proc.approval.preview": [[{ call: "fs.read" }, "auto"]],
  "proc.approval.revoke": [[{ grantId: "x" }, "deny"]],
  "proc.context": [[{}, "auto"]],
  "proc.conversation.close": [[{ conversationId: "x" }, "auto"]],
  "proc.conversation.compact": [[{ keepLast: 1, summary: "x" }, "auto"]],
  "proc.conversation.fork": [[{ throughMessageId: 1 }, "auto"]],
  "proc.conversation.get": [[{}, "auto"]],
  "proc.conversation.list": [[{}, "auto"]],
  "proc.conversation.open": [[{}, "auto"]],
  "proc.conversation.policy.get": [[{}, "auto"]],
  "proc.conversation.policy.set": [[{ overflow: "fail" }, "ask"]],
  "proc.conversation.reset": [[{}, "ask"]],
  "proc.conversation.segment.read": [[{ segmentId: "x" }, "auto"]],
  "proc.conversation.segments": [[{}, "auto"]],
  "proc.hil": [[{ requestId: "x", decision: "approve" }, "deny"]],
  "proc.history": [[{}, "auto"]],
  "proc.history.search": [[{ query: "x" }, "auto"]],
  "proc.ipc.call": [[{ pid: "x", message: "x" }, "auto"]],
  "proc.ipc.deliver": [[{}, "deny"]],
  "proc.ipc.send": [[{ pid: "x", message: "x" }, "auto"]],
  "proc.kill": [[{ pid: "x" }, "ask"]],
  "proc.list": [[{}, "auto"]],
  "proc.media.read": [[{ key: "x" }, "auto"]],
  "proc.profile.list": [[{}, "auto"]],
  "proc.conversation.update": [[{ isPinned: true }, "ask"]],
  "proc.conversation.rewind": [[{ beforeMessageId: 1 }, "ask"]],
  "proc.conversation.delete": [[{ conversationId: "x" }, "ask"]],
  "proc.settings.get": [[{}, "auto"]],
  "proc.settings.set": [[{ posture: "trusted" }, "deny"]],
  "proc.queue.edit": [[{ runId: "x", message: "x" }, "ask"]],
  "proc.queue.list": [[{}, "auto"]],
  "proc.queue.resume": [[{}, "ask"]],
  "proc.queue.withdraw": [[{ runId: "x" }, "ask"]],
  "proc.reset": [[{}, "ask"]],
  "proc.send": [[{ message: "x" }, "auto"]],
  "proc.setidentity": [[{}, "deny"]],
  "proc.session.list": [[{}, "auto"]],
  "proc.spawn": [
    [{ profile: "task" }, "auto"],
    [{ profile: "cron" }, "ask"],
    [{ profile: "x#y" }, "ask"],
    [{}, "ask"],
  ],
  "proc.spending": [[{}, "auto"]],
  "proc.subscribe": [[{}, "auto"]],
  "proc.unsubscribe": [[{}, "auto"]],
  "proc.usage": [[{}, "auto"]],
  "fs.copy": [
    [{ from: { path: "a" }, to: { path: "b" } }, "auto"],
    [{ from: { path: "a", target: "laptop" }, to: { path: "b" } }, "auto"],
    [{ from: { path: "~/.aws/credentials", target: "laptop" }, to: { path: "b" } }, "ask"],
    [{ from: { path: ".env" }, to: { path: "b" } }, "ask"],
    [{ from: { path: "a", target: "laptop" }, to: { path: "~/context.d/b" } }, "ask"],
    [{ from: { path: "a", target: "laptop" }, to: { path: "/srv/b" } }, "ask"],
    [{ from: { path: "a" }, to: { path: "b", target: "laptop" } }, "ask"],
    [{ from: { path: "a", target: "laptop" }, to: { path: "b", target: "server" } }, "ask"],
    [{ from: { path: "a", target: "laptop" }, to: { path: "b", target: "laptop" } }, "ask"],
  ],
  "repo.list": [[{}, "auto"]],
  "repo.refs": [[{ repo: "ann/notes" }, "auto"]],
  "repo.read": [
    [{ repo: "ann/notes" }, "auto"],
    [{ repo: "ann/notes", path: "src/a.ts" }, "auto"],
    [{ repo: "ann/notes", path: ".env" }, "ask"],
    [{ repo: "ann/notes", path: "a/../.ENV" }, "ask"],
    [{ repo: "ann/notes", path: ".env.example" }, "auto"],
  ],
  "repo.search": [
    [{ repo: "ann/notes", query: "x" }, "auto"],
    [{ repo: "ann/notes", query: ".env", prefix: "src/" }, "auto"],
    [{ repo: "ann/notes", query: "x", prefix: "deploy/.env" }, "ask"],
  ],
  "repo.log": [[{ repo: "ann/notes" }, "auto"]],
  "repo.diff": [[{ repo: "ann/notes" }, "auto"]],
  "repo.compare": [[{ repo: "ann/notes" }, "auto"]],
  "repo.create": [
    [{ repo: "ann/notes" }, "auto"],
    [{ repo: "ann/notes", public: false }, "auto"],
    [{ repo: "ann/notes", public: true }, "ask"],
  ],
  "repo.update": [[{ repo: "ann/notes", public: true }, "ask"]],
  "repo.import": [[{ repo: "ann/notes", remoteUrl: "https://example.org/x.git" }, "ask"]],
  "repo.apply": [
    [{ repo: "ann/notes", message: "x", ops: [{ type: "put", path: "a", content: "x" }] }, "auto"],
    [{ repo: "ann/notes", message: "x", ops: [{ type: "delete", path: "a" }] }, "ask"],
    [{ repo: "ann/home", message: "x", ops: [{ type: "put", path: "skills.d/a", content: "x" }] }, "ask"],
    [{ repo: "ann/ws_1", message: "x", ops: [{ type: "put", path: ".gsv/context.d/a", content: "x" }] }, "ask"],
  ],
  "sched.add": [[{ name: "x" }, "ask"]],
  "sched.list": [[{}, "auto"]],
  "sched.preview": [[{ words: "every day at 9" }, "auto"]],
  "sched.remove": [[{ id: "x" }, "ask"]],
  "sched.run": [[{ id: "x", mode: "force" }, "ask"]],
  "sched.runs": [[{ id: "x" }, "auto"]],
  "sched.upcoming": [[{}, "auto"]],
  "sched.update": [[{ id: "x", patch: { enabled: true } }, "ask"]],
  "signal.list": [[{}, "auto"]],
  "signal.unwatch": [[{ key: "x" }, "auto"]],
  "signal.watch": [[{ signal: "proc.run.finished", processId: "x" }, "ask"]],
  "sys.capability.grant": [[{ gid: 100, capability: "*" }, "ask"]],
  "sys.capability.list": [[{}, "auto"]],
  "sys.capability.revoke": [[{ gid: 100, capability: "*" }, "ask"]],
  "sys.config.get": [[{ key: "config/ai" }, "auto"]],
  "sys.config.set": [
    [{ key: "users/1000/ai/model", value: "x" }, "ask"],
    [{ key: "config/ai/profile/task/tools/approval", value: "{}" }, "ask"],
  ],
  "sys.config.unset": [[{ key: "config/ai/profile/task/tools/approval" }, "ask"]],
  "sys.connect": [[{}, "deny"]],
  "sys.setup": [[{}, "deny"]],
  "sys.setup.assist": [[{}, "deny"]],
  "sys.setup.check": [[{}, "deny"]],
  "sys.connection.list": [[{}, "auto"]],
  "sys.device.get": [[{ deviceId: "laptop" }, "auto"]],
  "sys.device.list": [[{}, "auto"]],
  "sys.device.grant": [[{ deviceId: "laptop", gid: 100 }, "ask"]],
  "sys.device.revoke": [[{ deviceId: "laptop", gid: 100 }, "ask"]],
  "sys.device.remove": [[{ deviceId: "laptop" }, "ask"]],
  "sys.device.update": [[{ deviceId: "laptop", description: "x" }, "ask"]],
  "sys.group.create": [[{ name: "x" }, "ask"]],
  "sys.group.list": [[{}, "auto"]],
  "sys.group.members": [[{ gid: 100, members: [] }, "ask"]],
  "sys.group.remove": [[{ gid: 200 }, "ask"]],
  "sys.info": [[{}, "auto"]],
  "sys.network": [[{}, "auto"]],
  "sys.network.check": [[{ url: "https://gsv.example.com" }, "ask"]],
  "sys.doctor": [
    [{}, "auto"],
    [{ tryModel: true }, "ask"],
  ],
  "sys.mcp.accept": [[{ serverId: "x", tools: [] }, "ask"]],
  "sys.mcp.add": [[{ name: "x", url: "https://x.example" }, "ask"]],
  "sys.mcp.call": [[{ serverId: "x", name: "y" }, "ask"]],
  "sys.mcp.list": [[{}, "auto"]],
  "sys.mcp.prompt.get": [[{ serverId: "x", name: "y" }, "ask"]],
  "sys.mcp.prompt.list": [[{ serverId: "x" }, "ask"]],
  "sys.mcp.refresh": [[{ serverId: "x" }, "ask"]],
  "sys.mcp.remove": [[{ serverId: "x" }, "ask"]],
  "sys.mcp.resource.list": [[{ serverId: "x" }, "ask"]],
  "sys.mcp.resource.read": [[{ serverId: "x", uri: "y" }, "ask"]],
  "sys.oauth.forget": [[{ accountId: "x" }, "ask"]],
  "sys.oauth.list": [[{}, "auto"]],
  "sys.oauth.start": [[{ kind: "generic" }, "ask"]],
  "sys.signin.create": [[{}, "deny"]],
  "sys.signin.get": [[{ codeId: "x" }, "deny"]],
  "sys.signin.redeem": [[{ username: "alice", code: "x" }, "deny"]],
  "sys.signin.revoke": [[{ codeId: "x" }, "deny"]],
  "sys.token.create": [[{ kind: "user" }, "ask"]],
  "sys.token.list": [[{}, "auto"]],
  "sys.token.revoke": [[{ tokenId: "x" }, "ask"]],
  "sys.user.create": [[{ username: "x" }, "ask"]],
  "sys.user.list": [[{}, "auto"]],
  "sys.user.lock": [[{ username: "x" }, "ask"]],
  "sys.user.password": [[{ username: "x" }, "ask"]],
  "sys.user.update": [[{ username: "x" }, "ask"]],
  "sys.workspace.create": [[{}, "auto"]],
  "sys.workspace.list": [[{}, "auto"]],
  "sys.workspace.update": [[{ workspaceId: "ws_1", label: "x" }, "auto"]],
};

/** Planned calls, by the names that the seeds give them. */
const PLANNED: Record<string, Case[]> = {
  "pkg.install": [[{}, "ask"]],
  "something.new": [[{}, "ask"]],
};

const PROFILES = ["init", "task", "review", "mcp", "app", "cron", "pack#agent"];
const cases: [profile: string, call: string, args: Record<string, unknown>, device: string | null | undefined, action: Action][] = [];
for (const profile of PROFILES) {
  for (const [call, rows] of Object.entries(HARDWARE))
    for (const [args, gsv, device] of rows) {
      cases.push([profile, call, args, null, gsv]);
      cases.push([profile, call, { ...args, target: "laptop" }, "laptop", device]);
    }
  for (const [call, rows] of Object.entries({ ...KERNEL, ...PLANNED }))
    for (const [args, action] of rows) cases.push([profile, call, args, undefined, action]);
}

test("every call is in the tables", () => {
  const hardware = reference.filter(({ runs }) => runs === "hardware").map(({ name }) => name);
  const kernel = reference.filter(({ runs }) => runs !== "hardware").map(({ name }) => name);
  expect(hardware.filter((name) => !HARDWARE[name]?.length)).toEqual([]);
  expect(kernel.filter((name) => !KERNEL[name]?.length && !PLANNED[name]?.length)).toEqual([]);
  expect(Object.keys({ ...HARDWARE, ...KERNEL }).filter((name) => !reference.some((call) => call.name === name))).toEqual([]);
});

test.each(PROFILES)("%s: the default policy decides each call as the tables say", (profile) => {
  for (const [caseProfile, call, args, device, action] of cases) {
    if (caseProfile !== profile) continue;
    const request = judge({ call, args, profile, ...AROUND, ...(device !== undefined && { device }) }, parseScript);
    const expected = profile === "cron" && action === "ask" ? "deny" : action;
    const { action: decided, why } = decide(defaultPolicy(profile), request);
    expect(decided, `${call} ${JSON.stringify(args)}: ${why} [${[...request.tags].join(" ")}]`).toBe(expected);
  }
});

test("the defaults pass the check for written policies, and on a device only reads run without approval", () => {
  for (const profile of PROFILES) {
    const read = defaultPolicy(profile);
    expect(checkPolicy(read.ok ? JSON.parse(JSON.stringify(read.policy)) : null)).toEqual(read);
  }
  for (const { name, runs, does } of reference.filter(({ runs }) => runs === "hardware")) {
    const request = judge({ call: name, args: { path: "a", input: "ls" }, profile: "task", ...AROUND, device: "laptop" }, parseScript);
    expect([name, decide(defaultPolicy("task"), request).action], runs).toEqual([name, does === "read" ? "auto" : "ask"]);
  }
});

test("a command needs approval if no parser is loaded", () => {
  const request = judge({ call: "shell.exec", args: { input: "ls" }, profile: "task", ...AROUND });
  expect(decide(defaultPolicy("task"), request).action).toBe("ask");
});

test("a copy of the default policy can be saved, and a misspelt call is still refused", () => {
  const standard = defaultPolicy("init");
  const isCall = (name: string) => name === "fs.read" || isNamedByDefault(name);
  expect(readPolicy(JSON.stringify(standard.ok && standard.policy), isCall).ok).toBe(true);
  expect(readPolicy('{"default":"ask","rules":[{"match":"fs.raed","action":"deny"}]}', isCall).ok).toBe(false);
});
