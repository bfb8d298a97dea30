// The list of skills, one line each: a process reads a skill's file when it needs it.

import { byteLength, toOneLine, type Section } from "./section.ts";

/** `path` is below `folder`, and a file or the directory that contains a SKILL.md. */
export type ContextSkill = { id: string; description: string; folder: string; path: string };

const INTRODUCTION =
  "If one of these fits the work, first read it on gsv (its file, or skills show NAME in the shell), then follow it. Its file is NAME.md unless another is named; a directory contains a SKILL.md.";

/** In the given order, which is their rank. */
export function makeSkillSections(skills: readonly ContextSkill[], maxBytes: number): Section[] {
  if (skills.length === 0) return [];
  const lines = skills.map((skill, at) => describe(skill, skills[at - 1]?.folder));
  const kept: string[] = [];
  let used = 0;
  for (const line of lines) {
    used += byteLength(line) + 1;
    if (used > maxBytes) break;
    kept.push(line);
  }
  const omitted = lines.slice(kept.length);
  const more =
    omitted.length === 0 ? [] : [`- and ${omitted.length} more, not shown to save room: skills list in the shell on gsv shows all`];
  return [{ name: "available.skills", text: [INTRODUCTION, ...kept, ...more].join("\n"), cut: byteLength(omitted.join("\n")) }];
}

/** The folder is named once, before its first skill, and a path only where it does not follow from the id: every run pays for this text. */
function describe({ id, description, folder, path }: ContextSkill, previousFolder: string | undefined): string {
  const heading = folder === previousFolder ? "" : `In ${toOneLine(folder)}:\n`;
  const rest = path.slice(folder.length + 1);
  return `${heading}- ${toOneLine(id)}: ${toOneLine(description)}${rest === `${id}.md` ? "" : ` (${toOneLine(rest)})`}`;
}
