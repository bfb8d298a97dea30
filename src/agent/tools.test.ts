import { expect, test } from "vitest";
import { modelTools, syscallOf, toSyscall } from "./tools.ts";

const DEVICES = [
  { id: "server", implements: ["fs.*", "shell.exec"] },
  { id: "camera", implements: ["fs.read"] },
];

test("tools are derived from syscalls, and their target names the devices that implement them", () => {
  const tools = modelTools(DEVICES);
  expect(tools.map(({ name }) => name)).toEqual(["Read", "Write", "Edit", "Delete", "Search", "Shell", "CodeMode"]);
  const [read, write] = tools;
  expect(read!.parameters).toEqual({
    type: "object",
    properties: {
      target: { type: "string", description: "Where it runs, one of: gsv, camera, server" },
      path: { type: "string" },
      offset: { type: "integer" },
      limit: { type: "integer" },
    },
    required: ["target", "path"],
    additionalProperties: false,
  });
  expect(JSON.stringify(write!.parameters)).toContain("one of: gsv, server");
  const codeMode = tools.at(-1)!;
  expect(codeMode.parameters).toMatchObject({ properties: { code: { type: "string" } }, required: ["code"] });
  expect(JSON.stringify(codeMode.parameters)).not.toContain("target");
  const shell = tools.at(-2)!.parameters as { properties: object; required: string[] };
  expect(Object.keys(shell.properties)).toEqual(["target", "input", "cwd", "sessionId"]);
  expect(shell.required).toEqual(["input"]);
});

test("a process sees only the tools it may use", () => {
  expect(modelTools([], (call) => call === "fs.read").map(({ name }) => name)).toEqual(["Read"]);
});

test("a tool call becomes a syscall", () => {
  expect(toSyscall("Read", { target: "gsv", path: "~/a", limit: 3 })).toEqual({
    call: "fs.read",
    args: { target: "gsv", path: "~/a", limit: 3 },
  });
  // Models that fill in every field name a target here too.
  expect(toSyscall("CodeMode", { target: "gsv", code: "return 1" })).toEqual({ call: "codemode.exec", args: { code: "return 1" } });
  expect(toSyscall("Shell", { input: "ls" })).toEqual({ call: "shell.exec", args: { input: "ls" } });
  expect(toSyscall("Shell", { input: "", sessionId: "sh_1" })).toEqual({ call: "shell.exec", args: { input: "", sessionId: "sh_1" } });
  expect(syscallOf("Edit")).toBe("fs.edit");
  expect(syscallOf("edit")).toBe(null);
});

test("small mistakes are repaired", () => {
  expect(toSyscall("Read", { target: "gsv", path: "1", offset: "10", limit: null })).toEqual({
    call: "fs.read",
    args: { target: "gsv", path: "1", offset: 10 },
  });
  expect(toSyscall("Edit", { target: "gsv", path: "a", oldString: "true", newString: "7", replaceAll: "true" })).toEqual({
    call: "fs.edit",
    args: { target: "gsv", path: "a", oldString: "true", newString: "7", replaceAll: true },
  });
  expect(toSyscall("Shell", { input: "ls", target: "gsv", sessionId: "" })).toMatchObject({ args: { input: "ls" } });
});

test("a model cannot pass arguments it was not shown", () => {
  expect(toSyscall("Shell", { input: "ls", timeout: 9e9, tty: { cols: 1, rows: 1 }, signal: "KILL", __proto__: null })).toEqual({
    call: "shell.exec",
    args: { input: "ls" },
  });
});

test("an invalid tool call becomes an error for the model", () => {
  expect(toSyscall("Bash", {})).toEqual({ error: 'Unknown tool "Bash". The tools are Read, Write, Edit, Delete, Search, Shell, CodeMode' });
  expect(toSyscall("Read", null)).toEqual({ error: expect.stringContaining("not valid JSON") });
  expect(toSyscall("Read", { path: "a" })).toEqual({ error: expect.stringContaining("target is required") });
  expect(toSyscall("Read", { target: "gsv" })).toEqual({ error: "path is required. Nothing was done" });
  expect(toSyscall("Write", { target: "gsv", path: "a", content: { a: 1 } })).toEqual({
    error: "content must be a string. Nothing was done",
  });
});
