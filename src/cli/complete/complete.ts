// gsv __complete: what a shell offers after Tab. It runs at every Tab, so it answers from the definitions of the commands and a small
// cache of names (names.ts), never prompts, and prints nothing but candidates: value, tab, description.

import type { Command, Option } from "commander";
import { columnsText } from "./line.ts";
import { loadNames, type NameKind } from "./names.ts";

export type Candidate = readonly [value: string, description: string];
type Source = NameKind | readonly string[];

/** Values of options, by the option's long name. */
const OPTION_SOURCES: Readonly<Record<string, Source>> = {
  "--target": "targets",
  "--device": "machines",
  "--id": "machines",
  "--node-id": "machines",
  "--pid": "agents",
  "--parent": "agents",
  "--conversation": "conversations",
  "--profile": ["task", "review", "mcp"],
  "--scope": ["exact", "folder", "tool"],
  "--log-level": ["debug", "info", "warn", "error"],
  "--service": ["status", "logs", "stop", "start", "restart", "uninstall"],
  "--signal": ["TERM", "INT", "KILL", "HUP"],
  "--kind": ["node", "service", "user"],
};

/** Arguments, by the words of the command. */
const ARGUMENT_SOURCES: Readonly<Record<string, readonly Source[]>> = {
  open: [["home", "chat", "approvals", "machines", "schedules", "notifications", "integrations", "settings"], "machines", "conversations"],
  "approvals approve": ["questions"],
  "approvals deny": ["questions"],
  "approvals revoke": ["grants"],
  "device describe": ["machines"],
  "device remove": ["machines"],
  "proc abort": ["agents"],
  "proc resume": ["agents"],
  "proc kill": ["agents"],
  "proc reset": ["agents"],
  "proc usage": ["agents"],
  "proc context": ["agents"],
  completion: [["bash", "zsh", "fish"]],
  sched: [["list", "add", "show", "history", "enable", "disable", "remove", "run", "preview"]],
  notify: [["list", "send", "read", "dismiss"]],
  signal: [["list", "watch", "unwatch"]],
  mcp: [["list", "tools", "describe", "search", "add", "call", "changes", "accept", "refresh", "remove"]],
};
/** Their arguments are paths: the name of a machine and a colon begin one on that machine. */
const PATH_COMMANDS = new Set(["ls", "cat", "rm", "cp", "write", "search"]);

/** `words` are those after gsv, the last of them the one that is typed. */
export async function complete(program: Command, words: readonly string[]): Promise<void> {
  const candidates = await findCandidates(program, words, loadNames);
  process.stdout.write(candidates.map(columnsText).join(""));
}

export async function findCandidates(
  program: Command,
  words: readonly string[],
  load: (kind: NameKind) => Promise<readonly Candidate[]>,
): Promise<Candidate[]> {
  const typed = words.at(-1) ?? "";
  const { command, path, awaited, arguments: given, isRaw } = readWords(program, words.slice(0, -1));
  if (isRaw) return [];
  const expand = async (sources: readonly Source[]) => {
    const names = sources.map(async (source) => (typeof source === "string" ? load(source) : source.map((one): Candidate => [one, ""])));
    return (await Promise.all(names)).flat();
  };
  const found =
    awaited !== null
      ? await expand(OPTION_SOURCES[awaited] === undefined ? [] : [OPTION_SOURCES[awaited]])
      : typed.startsWith("-")
        ? optionsOf(command)
        : [...commandsOf(command, path, given), ...(await argumentsOf(path, given, expand, load))];
  return found.filter(([value]) => value.startsWith(typed) && value !== "");
}

async function argumentsOf(
  path: string,
  given: number,
  expand: (sources: readonly Source[]) => Promise<Candidate[]>,
  load: (kind: NameKind) => Promise<readonly Candidate[]>,
): Promise<Candidate[]> {
  if (PATH_COMMANDS.has(path)) return (await load("targets")).map(([name, about]): Candidate => [`${name}:`, about]);
  return given > 0 ? [] : expand(ARGUMENT_SOURCES[path] ?? []);
}

type Reading = { command: Command; path: string; awaited: string | null; arguments: number; isRaw: boolean };

/** The command that the words lead to, and the option that waits for a value. After -- there is nothing of ours to complete. */
function readWords(program: Command, words: readonly string[]): Reading {
  let command = program;
  const path: string[] = [];
  let given = 0;
  let awaited: string | null = null;
  for (const word of words) {
    if (word === "--") return { command, path: path.join(" "), awaited: null, arguments: given, isRaw: true };
    if (awaited !== null && !word.startsWith("-")) {
      awaited = null;
      continue;
    }
    awaited = null;
    if (word.startsWith("-")) {
      const option = findOption(command, word);
      if (option !== undefined && (option.required || option.optional) && !word.includes("=")) awaited = option.long ?? null;
      // A password may be left out, so the next word may as well be the command.
      if (option?.long === "--password") awaited = null;
      continue;
    }
    const next: Command | undefined = given > 0 ? undefined : command.commands.find((one) => one.name() === word);
    // The names of commands are also what help explains.
    if (next !== undefined && command.name() !== "help") {
      command = next;
      path.push(word);
    } else given++;
  }
  return { command, path: path.join(" "), awaited, arguments: given, isRaw: false };
}

function commandsOf(command: Command, path: string, given: number): Candidate[] {
  if (given > 0) return [];
  const parent = path === "help" ? command.parent! : command;
  return parent.commands.filter((one) => !one.name().startsWith("__")).map((one): Candidate => [one.name(), one.description()]);
}

function optionsOf(command: Command): Candidate[] {
  const all = allOptions(command).filter(({ hidden }) => !hidden);
  return [...all.map((option): Candidate => [option.long ?? option.short ?? "", option.description]), ["--help", "explain the command"]];
}

function findOption(command: Command, word: string): Option | undefined {
  const [name] = word.split("=");
  return allOptions(command).find(({ long, short }) => long === name || short === name);
}

function allOptions(command: Command): Option[] {
  return [...command.options, ...(command.parent === null ? [] : allOptions(command.parent))].filter(({ long }) => long !== "--version");
}
