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
  ["shell.exec", { input: "git status" }, "auto", "auto"],
  ["shell.exec", { input: "cat notes.md" }, "auto", "auto"],
  ["shell.exec", { input: "echo x > notes.md" }, "auto", "auto"],
  ["shell.exec", { input: "mkdir new" }, "auto", "auto"],
  // Hidden files say what programs and the login run.
  ["shell.exec", { input: "echo x >> ~/.bashrc" }, "ask", "ask"],
  ["shell.exec", { input: "tee ~/.profile" }, "ask", "ask"],
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
  ["fs.write", { path: "~/.bashrc" }, "ask", "ask"],
  ["fs.write", { path: "~/.ssh/authorized_keys" }, "ask", "ask"],
  ["fs.write", { path: "~/context.d/a.md" }, "ask", "ask"],
  ["fs.write", { path: "/etc/group" }, "ask", "ask"],
  ["fs.edit", { path: "/srv/a" }, "auto", "auto"],
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
