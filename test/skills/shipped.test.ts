// Whatever the skills that come with the gateway name must exist: commands of the shell, of gsv with their options, tools with their
// arguments, calls. The conformance case ai.skills:shipped runs the commands of the shell.

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { roles } from "../../src/agent/prompts/roles.ts";
import { SHIPPED_SKILLS } from "../../src/agent/prompts/skills/skills.ts";
import { toSyscall } from "../../src/agent/tools.ts";
import { parseSkillHead } from "../../src/kernel/agents/skill-head.ts";
import { callsByName } from "../../src/kernel/calls/table.ts";
import { PROGRAMS } from "../../src/shell/interpreter.ts";
import { BUILD } from "../support/current-build.ts";
import { shippedSkills } from "../support/shipped-skills.ts";

const CALL = /\b(?:ai|codemode|fs|proc|repo|shell|sys)\.[a-z]\w*(?:\.[a-z]\w*)*\b/g;
const run = promisify(execFile);

async function helpOf(...words: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [join(BUILD, "gsv.js"), "help", ...words]);
  return stdout;
}

describe.each(shippedSkills)("the skill $skill", ({ skill, text, shell, cli, tools }) => {
  test("has a name, a description of one line, and 40 to 90 lines", () => {
    const { name, description } = parseSkillHead(text, "none");
    expect(name).toBe(skill);
    expect(description).toMatch(/^.{40,160}[.]$/);
    expect(text.trimEnd().split("\n").length).toBeGreaterThanOrEqual(40);
    expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(90);
  });

  test("names commands of the shell that exist", () => {
    const names = shell.flatMap((line) => line.split(/\s*(?:\||&&|;)\s*/)).map((command) => command.split(" ")[0]!);
    expect(names.filter((name) => !PROGRAMS.has(name))).toEqual([]);
  });

  test("names calls that exist", () => {
    expect((text.match(CALL) ?? []).filter((name) => !callsByName.has(name))).toEqual([]);
  });

  test("names tools with arguments that they take", () => {
    for (const line of tools) {
      const [, tool = "", args = ""] = /^(\w+) (.*)$/.exec(line)!;
      expect(toSyscall(tool, JSON.parse(args) as Record<string, unknown>), line).toHaveProperty("call");
    }
  });

  test("names commands and options of gsv that exist", async () => {
    for (const line of cli) {
      const words = line.split(" ").slice(1);
      const [first = "", second] = words[0] === "-u" ? words.slice(2) : words;
      let help = await helpOf(first);
      if (/^Commands:$/m.test(help) && second !== undefined && !second.startsWith("-")) help = await helpOf(first, second);
      // Options of every command are in the help of gsv itself.
      const known = `${help}\n${await helpOf()}`;
      for (const option of words.filter((word) => /^--?\w/.test(word))) expect(known, line).toMatch(new RegExp(`(?:^|[\\s,])${option}\\b`));
    }
  });
});

test("roles name skills that exist", () => {
  const named = Object.values(roles).flatMap((text) => [...text.matchAll(/the skill ([\w-]+)/g)].map(([, name]) => name!));
  expect(named).toContain("reviewing-code");
  expect(named.filter((name) => !Object.hasOwn(SHIPPED_SKILLS, name))).toEqual([]);
});
