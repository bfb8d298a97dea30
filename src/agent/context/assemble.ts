// Assembles the context of a run as one text, and the size of each part. All inputs are data: the caller has fetched them with
// the rights of the process's user.

import { estimateTokens } from "../estimate.ts";
import { makeDateSections } from "./date.ts";
import { makeHomeSections } from "./home.ts";
import { makeProcessSections } from "./process.ts";
import { makeProfileSections } from "./profile.ts";
import { byteLength, type ContextFile, makeSectionUnlessEmpty, type Section } from "./section.ts";
import { type ContextSkill, makeSkillSections } from "./skills.ts";
import { makeSystemSections } from "./system.ts";
import { type ContextFacts, templateValues } from "./values.ts";
import { type WorkspaceContext, makeWorkspaceSections } from "./workspace.ts";

export type ContextInputs = ContextFacts & {
  pid: string;
  systemFiles: readonly ContextFile[];
  profileFiles: readonly ContextFile[];
  /** What a person has set for the process, the conversation or the message; the setting bounds it. */
  prompt: string | null;
  homeFiles: readonly ContextFile[];
  workspace: WorkspaceContext | null;
  skills: readonly ContextSkill[];
  processFiles: readonly ContextFile[];
  /** Separately for each source that users and agents write. */
  maxContextBytes: number;
  now: number;
  timezone: string;
};

export type ContextPart = { name: string; bytes: number; estimatedTokens: number; cut: number };

export function assembleContext(inputs: ContextInputs): { text: string; parts: ContextPart[] } {
  const { maxContextBytes: maxBytes } = inputs;
  const values = templateValues(inputs);
  const sections = [
    ...makeSystemSections(inputs.systemFiles, values),
    ...makeProfileSections(inputs.profileFiles, values),
    ...makeSectionUnlessEmpty("settings.prompt", inputs.prompt ?? ""),
    ...makeHomeSections(inputs.homeFiles, maxBytes),
    ...makeWorkspaceSections(inputs.workspace, maxBytes),
    ...makeSkillSections(inputs.skills, maxBytes),
    ...makeProcessSections(inputs.processFiles, inputs.pid, maxBytes),
    ...makeDateSections(inputs.now, inputs.timezone),
  ].map((section) => ({ ...section, text: renderSection(section) }));
  return { text: sections.map(({ text }) => text).join("\n\n---\n\n"), parts: sections.map(measureSection) };
}

function renderSection({ name, text }: Section): string {
  return `[${name}]\n${text}`;
}

function measureSection({ name, text, cut }: Section): ContextPart {
  return { name, bytes: byteLength(text), estimatedTokens: estimateTokens(text), cut };
}
