// skills: the instructions for recurring work. In an agent's command they are those of the agent; for a person, those of their home
// process. Which there are is decided in kernel/agents/skills.ts; their texts are files, read with the caller's own rights.

import { FileError } from "../../hardware/filesystem.ts";
import { toLatin1 } from "../../lib/bytes.ts";
import { editDistance } from "../../lib/edit-distance.ts";
import { defineCommandFile, type CommandContext, CommandError, type Output } from "../command.ts";
import { readManual } from "../manual.ts";
import { formatTable } from "../table.ts";
import { walk } from "../walk.ts";

type Skill = {
  id: string;
  name: string;
  description: string;
  path: string;
  source: { kind: string; label: string; writable: boolean };
};

const SKILL_FILE = "SKILL.md";
/** How much of each skill is searched, and how many are read at a time. */
const SEARCH_BYTES = 256 * 1024;
const READ_AT_ONCE = 16;
const SUGGESTIONS_MAX = 5;

const DOC = `List, search and read skills: instructions for work that comes up again.

skills list (or ls, or nothing): all skills, in the order of their sources. --json prints them as JSON.
skills search WORD...: the skills that contain every word in their name, description or text, the best first.
skills show SKILL: the whole text of a skill, by its name as listed.
skills files SKILL: its supporting files. skills read SKILL FILE: one of them.

Skills come from the agent's profile (/sys/config/ai/profile/PROFILE/skills.d), the home (~/skills.d) and the workspace (/workspaces/ID/.gsv/skills.d). If several have the same name, each is listed as SOURCE:NAME.`;

export default defineCommandFile({
  name: "skills",
  usage: "[list [--json] | search WORD... | show SKILL | files SKILL | read SKILL FILE | help]",
  doc: DOC,
  async run(context, args): Promise<Output | string> {
    const isJson = args.includes("--json");
    const [subcommand = "list", ...words] = args.filter((arg) => arg !== "--json");
    if (isJson && !["list", "ls", "search"].includes(subcommand)) failUsage("only list and search take --json");
    switch (subcommand) {
      case "list":
      case "ls":
        requireWords(words, 0, "list takes no words: use skills search WORD");
        return format(await listSkills(context), isJson);
      case "search":
        return format(await search(context, words), isJson);
      case "show":
        return show(context, requireWords(words, 1, "give one skill; skills list shows them"));
      case "files":
        return listFiles(context, requireWords(words, 1, "give one skill; skills list shows them"));
      case "read":
        return readFile(context, requireWords(words, 2, "give a skill and one of its files; skills files SKILL lists them"));
      case "help":
      case "--help":
        return readManual(context, "skills");
      default:
        return failUsage(`unknown subcommand ${subcommand}: use one of list, search, show, files, read, help`);
    }
  },
});

async function listSkills({ link }: CommandContext): Promise<Skill[]> {
  return (await link.runSyscall<{ skills: Skill[] }>("ai.skills")).skills;
}

function format(skills: readonly Skill[], isJson: boolean): string {
  if (isJson) return `${JSON.stringify(skills, null, 2)}\n`;
  const rows = skills.map(({ id, description, source: { label, writable } }) => [id, label, writable ? "yes" : "no", description]);
  return formatTable([["NAME", "SOURCE", "WRITABLE", "DESCRIPTION"], ...rows]);
}

async function search(context: CommandContext, args: readonly string[]): Promise<Skill[]> {
  const words = args.flatMap((arg) => arg.toLowerCase().split(/\s+/)).filter(Boolean);
  if (words.length === 0) failUsage("give one or more words to search for");
  const skills = await listSkills(context);
  const texts = await readTexts(
    context,
    skills.filter((skill) => score(skill, "", words) === 0),
  );
  const ranked = skills.map((skill) => ({ skill, points: score(skill, texts.get(skill) ?? "", words) })).filter(({ points }) => points > 0);
  if (ranked.length === 0) throw new CommandError("no skill contains all of these words: try fewer, or skills list");
  return ranked.toSorted((a, b) => b.points - a.points).map(({ skill }) => skill);
}

/** 0 if a word is missing. A word in the name counts more than one in the description, and that more than one in the text. */
function score({ name, description }: Skill, text: string, words: readonly string[]): number {
  const places = [text.toLowerCase(), description.toLowerCase(), name];
  const points = words.map((word) => places.findLastIndex((place) => place.includes(word)) + 1);
  return points.includes(0) ? 0 : points.reduce((sum, one) => sum + one ** 2, 0) / words.length;
}

/** Without those that cannot be read. */
async function readTexts({ link }: CommandContext, skills: readonly Skill[]): Promise<Map<Skill, string>> {
  const texts = new Map<Skill, string>();
  for (let at = 0; at < skills.length; at += READ_AT_ONCE) {
    const some = skills.slice(at, at + READ_AT_ONCE);
    const reads = some.map(async (skill) => {
      const range = { start: 0, end: SEARCH_BYTES };
      const bytes = await link.read(await fileOf(link, skill), range).catch(ignoreFileError);
      if (bytes !== null) texts.set(skill, new TextDecoder().decode(bytes));
    });
    await Promise.all(reads);
  }
  return texts;
}

async function show(context: CommandContext, [wanted = ""]: readonly string[]): Promise<Output> {
  const skill = find(await listSkills(context), wanted);
  return toOutput(await context.read(await fileOf(context.link, skill)));
}

async function listFiles(context: CommandContext, [wanted = ""]: readonly string[]): Promise<string> {
  const { path } = find(await listSkills(context), wanted);
  if (!(await isDirectory(context.link, path))) return "";
  const names: string[] = [];
  for await (const found of walk(context.link, path, true))
    if (found.stat.kind === "file" && found.path !== `${path}/${SKILL_FILE}`) names.push(found.path.slice(path.length + 1));
  return names
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((name) => `${name}\n`)
    .join("");
}

async function readFile(context: CommandContext, [wanted = "", file = ""]: readonly string[]): Promise<Output> {
  if (file.startsWith("/") || file.startsWith("~"))
    throw new CommandError(`${file} is an absolute path: name a file as skills files ${wanted} lists it`);
  if (file.split("/").includes("..")) throw new CommandError(`${file} leads out of the skill: use cat for other files`);
  const { path, id } = find(await listSkills(context), wanted);
  if (!(await isDirectory(context.link, path))) throw new CommandError(`${id} has no other files: use skills show ${id}`);
  const found = await context.link.stat(`${path}/${file}`).catch(ignoreFileError);
  if (found?.kind !== "file") throw new CommandError(`${id} has no file ${file}: skills files ${id} lists its files`);
  return toOutput(await context.read(`${path}/${file}`));
}

/** By id, or else by a name that only one skill has. */
function find(skills: readonly Skill[], wanted: string): Skill {
  const byId = skills.find(({ id }) => id === wanted);
  if (byId !== undefined) return byId;
  const byName = skills.filter(({ name }) => name === wanted);
  if (byName.length > 1) throw new CommandError(`${wanted} is ambiguous: use one of ${byName.map(({ id }) => id).join(", ")}`);
  return byName[0] ?? failMissing(skills, wanted);
}

function failMissing(skills: readonly Skill[], wanted: string): never {
  const near = skills.filter(({ name }) => isNear(name, wanted.toLowerCase())).slice(0, SUGGESTIONS_MAX);
  const suggestion = near.length === 0 ? "" : `did you mean ${near.map(({ id }) => id).join(", ")}? `;
  throw new CommandError(`no skill named ${wanted}: ${suggestion}skills list shows all`);
}

/** Whether one contains the other, they share a word, or they differ in at most two letters. */
function isNear(name: string, wanted: string): boolean {
  if (wanted === "") return false;
  if (name.includes(wanted) || wanted.includes(name)) return true;
  const words = new Set(name.split(/[^\p{L}\p{N}]+/u));
  return wanted.split(/[^\p{L}\p{N}]+/u).some((word) => word.length > 3 && words.has(word)) || editDistance(name, wanted) <= 2;
}

async function fileOf(link: CommandContext["link"], { path }: Skill): Promise<string> {
  return (await isDirectory(link, path)) ? `${path}/${SKILL_FILE}` : path;
}

async function isDirectory(link: CommandContext["link"], path: string): Promise<boolean> {
  return (await link.stat(path).catch(ignoreFileError))?.kind === "directory";
}

function ignoreFileError(error: unknown): null {
  if (error instanceof FileError) return null;
  throw error;
}

function toOutput(bytes: Uint8Array): Output {
  return { stdout: toLatin1(bytes), stdoutKind: "bytes" };
}

function requireWords(words: readonly string[], count: number, otherwise: string): readonly string[] {
  return words.length === count ? words : failUsage(otherwise);
}

function failUsage(message: string): never {
  throw new CommandError(message, 2);
}
