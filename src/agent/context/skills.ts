// The list of skills, one line each: a process reads a skill's file when it needs it.

import { byteLength, toOneLine, type Section } from "./section.ts";

export type ContextSkill = { id: string; description: string; path: string };

const INTRODUCTION =
  "If one of these fits the work, read its file on gsv first and follow it. A path that is a directory contains a SKILL.md.";

/** In the given order, which is their rank. */
export function makeSkillSections(skills: readonly ContextSkill[], maxBytes: number): Section[] {
  if (skills.length === 0) return [];
  const lines = skills.map(({ id, description, path }) => `- ${toOneLine(id)}: ${toOneLine(description)} (${toOneLine(path)})`);
  const kept: string[] = [];
  let used = 0;
  for (const line of lines) {
    used += byteLength(line) + 1;
    if (used > maxBytes) break;
    kept.push(line);
  }
  const omitted = lines.slice(kept.length);
  const more = omitted.length === 0 ? [] : [`- and ${omitted.length} more, not shown to save room: look in ~/skills.d`];
  return [{ name: "available.skills", text: [INTRODUCTION, ...kept, ...more].join("\n"), cut: byteLength(omitted.join("\n")) }];
}
