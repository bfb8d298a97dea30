// The shape of the tree: imports run one way, and a probe shows that every rule of the table refuses something.

import { describe, expect, it, test } from "vitest";
import { functionsIn } from "../../tools/tidy/functions.ts";
import { cycleIn, importProblems, unusedPermissions } from "../../tools/tidy/imports.ts";
import { readSources } from "../../tools/tidy/sources.ts";
import { FOLDERS } from "../../tools/tidy/table.ts";

const sources = readSources();

test("every import follows the table, and the table allows nothing that is not used", () => {
  expect(sources.length).toBeGreaterThan(500);
  expect(importProblems(sources)).toEqual([]);
  expect(unusedPermissions(sources)).toEqual([]);
});

test("the table has no cycle", () => {
  expect(cycleIn()).toBeNull();
});

describe.each(Object.keys(FOLDERS))("a probe in %s is refused", (folder) => {
  const { imports, packages } = FOLDERS[folder]!;
  const path = `${folder.startsWith("web/") ? folder : `src/${folder}`}/deep/probe.ts`;
  const up = "../".repeat(path.split("/").length - 1);
  const problemCount = (text: string) => importProblems([{ path, text }]).length;
  const forbidden = Object.keys(FOLDERS).filter((other) => other !== folder && !other.startsWith("web/") && !imports.includes(other));

  it.each(forbidden)("for importing %s", (other) => {
    const target = `${up}src/${other}/probe.ts`;
    expect(problemCount(`import { a } from "${target}";`)).toBe(1);
    expect(problemCount(`import type {\n  A,\n} from "${target}";`)).toBe(1);
    expect(problemCount(`export { a } from "${target}";`)).toBe(1);
    expect(problemCount(`import "${target}";`)).toBe(1);
    expect(problemCount(`const a = await import("${target}");`)).toBe(1);
    expect(problemCount(`type A = typeof import("${target}");`)).toBe(1);
  });

  if (packages !== undefined)
    it.each(["node:path", "cloudflare:workers", "ws", "pino"])("for importing a platform module: %s", (name) => {
      expect(problemCount(`import { a } from "${name}";`)).toBe(1);
    });
});

test("a value import is refused where only types are allowed", () => {
  const probe = (text: string) => importProblems([{ path: "src/client/probe.ts", text }]);
  expect(probe('import { kernelCalls } from "../kernel/calls/table.ts";')).toHaveLength(1);
  expect(probe('export { kernelCalls } from "../kernel/calls/table.ts";')).toHaveLength(1);
  expect(probe('import type { CallTable } from "../kernel/calls/table.ts";')).toEqual([]);
});

test("a syscall may import shared definitions but no other syscall", () => {
  const probe = (text: string) => importProblems([{ path: "src/kernel/calls/proc/ipc/probe.ts", text }]);
  expect(probe('import send from "./send.ts";')).toHaveLength(1);
  expect(probe('import spawn from "../spawn.ts";')).toHaveLength(1);
  expect(probe('import read from "../../../../hardware/calls/fs/read.ts";')).toHaveLength(1);
  expect(probe('import { syscall } from "../../define.ts";')).toEqual([]);
});

test("a file outside all folders is refused", () => {
  expect(importProblems([{ path: "src/elsewhere/a.ts", text: "" }])).toHaveLength(1);
});

test("a cycle in the table is found, also through single files", () => {
  const a = { about: "", imports: ["b/one.ts"] };
  expect(cycleIn({ a, b: { about: "", imports: ["c"] }, c: { about: "", imports: ["a"] } })).toEqual(["a", "b", "c", "a"]);
  expect(cycleIn({ a, b: { about: "", imports: [] } })).toBeNull();
});

test("an unused permission is reported", () => {
  const folders = { a: { about: "", imports: ["b"], packages: ["zod"] }, b: { about: "", imports: [] } };
  expect(unusedPermissions([{ path: "src/a/x.ts", text: 'import { z } from "zod";' }], folders)).toEqual(["a may import b and does not"]);
});

test("finds every named function with its length", () => {
  const text = `function one() {\n}\nconst two = () => {\n\n};\nclass A {\n  #three() {\n  }\n  four = () => 4;\n  declared(): void;\n}\nexport default call({ run() {\n} });\n`;
  expect(functionsIn({ path: "src/probe.ts", text }).map(({ name, line, lineCount }) => [name, line, lineCount])).toEqual([
    ["one", 1, 2],
    ["two", 3, 3],
    ["#three", 7, 2],
    ["four", 9, 1],
    ["run", 12, 2],
  ]);
});
