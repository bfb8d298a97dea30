import { describe, expect, test } from "vitest";
import { callsByName } from "../kernel/calls/table.ts";
import { workingDirectoryOf } from "./asked-call.ts";
import { NEVER } from "./defaults.ts";
import { explainWhy, hasTitle, titleQuestion } from "./question-words.ts";
import { formatBody } from "./show.ts";

const ask = (syscall: string, args: Record<string, unknown>, target = "gsv") => titleQuestion({ syscall, args, target });

test("a title says what will happen and where, with nothing of how the gateway calls it", () => {
  expect(ask("shell.exec", { input: "uptime", target: "laptop" }, "laptop")).toBe("Run a command on laptop");
  expect(ask("shell.exec", { input: "y\n", sessionId: "s" }, "laptop")).toBe("Send input to a running command on laptop");
  expect(ask("shell.exec", { input: "", sessionId: "s", signal: "KILL" }, "laptop")).toBe("Stop a running command on laptop");
  expect(ask("fs.edit", { path: "~/notes.md", oldString: "a", newString: "b" })).toBe("Edit ~/notes.md on the gateway");
  expect(ask("fs.search", { query: "TODO" }, "laptop")).toBe("Search for TODO on laptop");
  expect(ask("fs.copy", { from: { path: "a" }, to: { target: "laptop", path: "b" } })).toBe("Copy a on the gateway to b on laptop");
  expect(ask("sys.mcp.call", { name: "send" }, "send of Mail (https://mcp.example/mail)")).toBe("Call send of Mail");
  expect(ask("sched.add", { name: "Morning mail" })).toBe("Add a schedule: Morning mail");
  expect(ask("sys.config.set", { key: "config/ai/model", value: "x" })).toBe("Change the setting config/ai/model");
  const ops = [
    { type: "delete", path: "a" },
    { type: "delete", path: "b" },
    { type: "put", path: "c" },
    { type: "delete", path: "d" },
  ];
  expect(ask("repo.apply", { repo: "alice/notes", ops })).toBe("Delete 3 files in the repository alice/notes");
  expect(ask("repo.apply", { repo: "alice/notes", ops: ops.slice(2, 3) })).toBe("Change 1 file in the repository alice/notes");
});

test("a title is one short line of visible characters, whatever the arguments are", () => {
  const title = ask("fs.delete", { path: `a\n\u202e${"b".repeat(500)}` }, "lap\u200btop");
  expect(title).toMatch(/^Delete a ⟨U\+202E⟩b+… on lap⟨U\+200B⟩top$/);
  expect(title.length).toBeLessThan(140);
  expect(ask("fs.delete", { path: 7 })).toBe("Delete on the gateway");
  expect(ask("repo.apply", { ops: "x" })).toBe("Change 0 files in the repository");
});

test("every syscall that an agent may be asked about has a title in words", () => {
  const never = new Set(NEVER.trim().split(/\s+/));
  expect([...callsByName.keys()].filter((name) => !hasTitle(name) && !never.has(name))).toEqual([]);
});

describe("why approval is required", () => {
  const why = (syscall: string, target: string, tags: string[]) =>
    explainWhy({ syscall, target, tags, why: `Approval required: ${syscall}` });

  test("is said in one or two sentences, the gravest reason first", () => {
    expect(why("shell.exec", "laptop", ["remote", "onto-device"])).toBe("Commands on your machines need your OK.");
    expect(why("shell.exec", "laptop", ["remote", "deletes", "reads-secret"])).toBe("This may read secrets, such as keys and passwords.");
    expect(why("shell.exec", "laptop", ["remote", "deletes"])).toBe("This deletes something.");
    expect(why("shell.exec", "laptop", ["remote", "connects"])).toBe("Commands on your machines need your OK. This uses the network.");
    expect(why("shell.exec", "gsv", ["connects"])).toBe("Using the network needs your OK.");
    expect(why("fs.delete", "gsv", ["deletes"])).toBe("Deleting files needs your OK.");
    expect(why("sys.mcp.call", "send of Mail", ["network", "connects"])).toBe("Using other services as you needs your OK.");
    expect(why("fs.write", "laptop", ["onto-device"])).toBe("Changes on your machines need your OK.");
    expect(why("sys.user.list", "gsv", [])).toBe("This needs your OK.");
  });

  test("is what somebody else says, if no policy asks", () => {
    const ask = (why: string, tags: string[]) => explainWhy({ syscall: "fs.read", target: "gsv", tags, why });
    expect(ask("You chose to be asked before every action", [])).toBe("You chose to be asked before every action.");
    expect(ask("Because\u202e", ["reads-secret"])).toBe("Because⟨U+202E⟩. This may read secrets, such as keys and passwords.");
  });
});

test("the working directory is shown where it decides what happens", () => {
  const directory = (syscall: string, args: Record<string, unknown>, target = "gsv", cwd = "/home/alice") =>
    workingDirectoryOf({ syscall, args, target, cwd });
  expect(directory("shell.exec", { input: "ls" })).toBe("/home/alice");
  expect(directory("shell.exec", { input: "ls", cwd: "~/project" })).toBe("~/project");
  expect(directory("shell.exec", { input: "ls", cwd: "project" })).toBe("/home/alice/project");
  expect(directory("shell.exec", { input: "ls" }, "laptop", "")).toBeNull();
  expect(directory("shell.exec", { input: "ls", cwd: "src" }, "laptop", "")).toBe("src");
  expect(directory("fs.delete", { path: "old" })).toBe("/home/alice");
  expect(directory("fs.delete", { path: "~/old" })).toBeNull();
  expect(directory("sys.mcp.call", {}, "send of Mail")).toBeNull();
});

test("a body has everything that the title leaves out, each argument by name but a command", () => {
  const body = (call: string, args: Record<string, unknown>, target = "laptop", cwd = "") => formatBody({ call, args, target, cwd }).text;
  expect(body("shell.exec", { target: "laptop", input: "uptime" })).toBe("uptime");
  expect(body("shell.exec", { target: "laptop", input: "uptime", cwd: "/x", timeout: 5 })).toBe("uptime\ncwd: /x\ntimeout: 5");
  expect(body("shell.exec", { input: "a\nin /tmp" }, "gsv", "/home/alice")).toBe("input:\n  | a\n  | in /tmp\nin /home/alice");
  expect(body("fs.delete", { target: "laptop", path: "old" })).toBe("path: old");
  expect(body("fs.delete", { target: "l".repeat(81), path: "old" }, "l".repeat(81))).toBe(`target: ${"l".repeat(81)}\npath: old`);
  expect(body("sys.mcp.call", { serverId: "s", name: "send", arguments: { to: "ann" } }, "send of Mail (https://m.example)")).toBe(
    "send of Mail (https://m.example)\nto: ann",
  );
});
