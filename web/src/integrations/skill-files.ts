// The files of skills: reads and writes their text. A skill is a file, or a directory with a SKILL.md.

import { CallError } from "../../../src/client/client.ts";
import { call, type Result } from "../state/call.ts";

export type SkillEntry = Result<"ai.skills">["skills"][number];
/** `path` is the file itself. */
export type SkillFile = { path: string; text: string };

const OWN_FOLDER = "~/skills.d";

/** Skills are text. */
export async function readSkill({ path }: Pick<SkillEntry, "path">): Promise<SkillFile> {
  return (await readText(path)) ?? (await readText(`${path}/SKILL.md`)) ?? refuse("This skill has no text any more");
}

export async function writeText(path: string, content: string): Promise<void> {
  const written = await call("fs.write", { path, content });
  if (!written.ok) refuse(written.error);
}

/** The whole directory, if that is the skill. */
export async function deleteSkill({ path }: SkillEntry): Promise<void> {
  const deleted = await call("fs.delete", { path });
  if (!deleted.ok) refuse(deleted.error);
}

/** Creates a skill of the user. Never replaces a file. */
export async function createSkill(name: string, text: string): Promise<void> {
  const path = `${OWN_FOLDER}/${fileNameOf(name)}`;
  const { files = [] } = await listOwnFiles();
  if (files.includes(fileNameOf(name))) refuse(`There is a file ${path} already: choose another name, or edit that skill`);
  await writeText(path, text);
}

/** Null for a directory. */
async function readText(path: string): Promise<SkillFile | null> {
  const found = await call("fs.read", { path, plain: true });
  if (!found.ok) return refuse(found.error);
  if (!("content" in found)) return null;
  return typeof found.content === "string" ? { path: found.path, text: found.content } : refuse("This skill is not a text");
}

/** The folder does not exist before the first skill. */
async function listOwnFiles(): Promise<{ files?: string[] }> {
  const found = await call("fs.read", { path: OWN_FOLDER });
  return found.ok && "files" in found ? found : {};
}

/** Names come from files of anybody, so they may contain anything. */
function fileNameOf(name: string): string {
  const plain = name
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}._-]+/gu, "-")
    .replaceAll(/^[.-]+|-+$/g, "");
  return `${plain === "" ? "skill" : plain}.md`;
}

function refuse(message: string): never {
  throw new CallError({ code: 400, message });
}
