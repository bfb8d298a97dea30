// What the skills that come with the gateway tell agents and people to type: the indented lines of their texts.

import { SHIPPED_SKILLS } from "../../src/agent/prompts/skills/skills.ts";

export type SkillLines = { skill: string; text: string; shell: string[]; cli: string[]; tools: string[] };

/** `shell`: for the gateway's shell. `cli`: for a person's terminal. `tools`: a tool and its arguments. */
export const shippedSkills: readonly SkillLines[] = Object.entries(SHIPPED_SKILLS).map(([skill, text]) => {
  const lines = text
    .replaceAll(/^~~~$[^]*?^~~~$/gm, "")
    .split("\n")
    .flatMap((line) => /^ {4}(\S.*)$/.exec(line)?.[1] ?? []);
  return {
    skill,
    text,
    cli: lines.filter((line) => line.startsWith("gsv ")),
    tools: lines.filter((line) => /^[A-Z][A-Za-z]+ \{/.test(line)),
    shell: lines.filter((line) => !/^gsv |^[A-Z][A-Za-z]+ \{/.test(line)),
  };
});

/** Words in capitals stand for something else. */
export function hasPlaceholder(line: string): boolean {
  return /\b[A-Z]{2,}\b/.test(line);
}
