// Finds the skills that a process can use, as its user: those of its profile, home and workspace. A skill is a file *.md directly in
// skills.d, or a directory that contains a SKILL.md. Only the head of each file is read, which is enough for an index. An empty file is
// no skill, so that root can hide one that came with the gateway, and a user's own skill of the same name replaces such a one.

import type { FileEntry, FileSystem } from "../../hardware/filesystem.ts";
import { readFirstBytes, listFolder, type Warn } from "./context-files.ts";
import { parseSkillHead } from "./skill-head.ts";

export type SkillKind = "profile" | "home" | "workspace";
export type SkillFolder = {
  kind: SkillKind;
  path: string;
  writable: boolean;
  /** Whether a skill of this folder came with the gateway and nobody has changed it. */
  isShipped?: (path: string) => boolean;
};
/** `path` is the file, or the directory that contains its SKILL.md. */
export type Skill = { id: string; name: string; description: string; path: string; source: SkillFolder };

const SKILL_FILE = "SKILL.md";
const DEPTH_MAX = 4;
/** Limits for one folder. */
const SKILLS_MAX = 200;
const DIRECTORIES_MAX = 100;
const HEAD_BYTES = 4 * 1024;

/** In the order of the folders, and by name within each. */
export async function listSkills(files: FileSystem, folders: readonly SkillFolder[], say: Warn): Promise<Skill[]> {
  const found = omitReplaced((await Promise.all(folders.map((folder) => findSkills(files, folder, say)))).flat());
  const byName = Map.groupBy(found, ({ name }) => name);
  const skills = new Map<string, Skill>();
  for (const skill of found) {
    const id = byName.get(skill.name)!.length === 1 ? skill.name : `${skill.source.kind}:${skill.name}`;
    if (skills.has(id)) say("two skills have the same name", { path: skill.path });
    else skills.set(id, { id, ...skill });
  }
  return [...skills.values()];
}

function omitReplaced(found: readonly Omit<Skill, "id">[]): Omit<Skill, "id">[] {
  const own = new Set(found.filter(({ source }) => source.kind === "home").map(({ name }) => name));
  return found.filter(({ name, path, source }) => !own.has(name) || source.isShipped?.(path) !== true);
}

async function findSkills(files: FileSystem, source: SkillFolder, say: Warn): Promise<Omit<Skill, "id">[]> {
  const root = await listFolder(files, source.path, say);
  const flat = root.filter(({ name, kind }) => kind === "file" && name.endsWith(".md") && name !== "DESCRIPTION.md");
  const paths = flat.map(({ name }) => `${source.path}/${name}`);
  const heads = await readFirstBytes(files, paths.slice(0, SKILLS_MAX), HEAD_BYTES);
  const found = paths.flatMap((path, at) => {
    const head = heads[at];
    return head && !isBlank(head) ? [makeSkill(path, head, source)] : [];
  });
  const unreadable = heads.filter((head) => head === null).length;
  if (unreadable > 0) say("skills cannot be read", { path: source.path, files: unreadable });
  found.push(...(await findNested(files, source, root, say)));
  if (paths.length > SKILLS_MAX || found.length > SKILLS_MAX) say("a skills folder has too many skills", { path: source.path });
  return found.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)).slice(0, SKILLS_MAX);
}

/** Searches level by level. A directory with a SKILL.md is a skill and is not searched; any other may contain skills. */
async function findNested(files: FileSystem, source: SkillFolder, root: readonly FileEntry[], say: Warn): Promise<Omit<Skill, "id">[]> {
  const found: Omit<Skill, "id">[] = [];
  let level = directoryPaths(source.path, root);
  let visited = 0;
  for (let depth = 1; depth <= DEPTH_MAX && level.length > 0 && visited < DIRECTORIES_MAX; depth++) {
    const paths = level.slice(0, DIRECTORIES_MAX - visited);
    visited += paths.length;
    const heads = await readFirstBytes(
      files,
      paths.map((path) => `${path}/${SKILL_FILE}`),
      HEAD_BYTES,
    );
    for (const [at, path] of paths.entries()) if (heads[at] && !isBlank(heads[at])) found.push(makeSkill(path, heads[at], source));
    const others = paths.filter((_, at) => !heads[at]);
    const entries = depth === DEPTH_MAX ? [] : await Promise.all(others.map((path) => listFolder(files, path, say)));
    level = others.flatMap((path, at) => directoryPaths(path, entries[at] ?? []));
  }
  return found;
}

function directoryPaths(path: string, entries: readonly FileEntry[]): string[] {
  return entries.flatMap(({ name, kind }) => (kind === "directory" ? [`${path}/${name}`] : []));
}

function isBlank(head: Uint8Array): boolean {
  return new TextDecoder().decode(head).trim() === "";
}

function makeSkill(path: string, head: Uint8Array, source: SkillFolder): Omit<Skill, "id"> {
  const name = path.slice(path.lastIndexOf("/") + 1).replace(/\.md$/, "");
  return { ...parseSkillHead(new TextDecoder().decode(head), name), path, source };
}
