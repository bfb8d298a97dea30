// Commands that empty a file, which counts as deleting its content. Commands that overwrite a file with something else count as
// writing.

import type { Command, Redirection, Statement, Word } from "../shell/syntax.ts";
import { readWord, programName } from "./words.ts";

/** Redirections that truncate a file before the command writes to it. */
const EMPTYING: ReadonlySet<string> = new Set([">", ">|", "&>", ">&", "<>"]);

const DEV_NULL = /^\/dev\/null$/;
const SILENT: ReadonlySet<string> = new Set(
  ": true false test [ cd pushd popd set unset export declare typeset local readonly shift sleep wait exec exit return mkdir touch umask".split(
    " ",
  ),
);

/** Files that the command's redirections empty; null for one whose name is not known. */
export function filesEmptiedByRedirection(command: { type: string }): (string | null)[] {
  const redirections = "redirections" in command ? (command.redirections as readonly Redirection[]) : [];
  if (redirections.length === 0) return [];
  const truncating = redirections.filter(({ operator, target }) => EMPTYING.has(operator) && target.type === "Word");
  // Of several redirections of one descriptor, only the last file is written to.
  const emptied = isSilent(command as Command)
    ? truncating
    : truncating.filter((one) => truncating.findLast((other) => isSameDescriptor(one, other)) !== one);
  return emptied
    .filter(({ operator, target }) => !(operator === ">&" && target.type === "Word" && /^\d*-?$/.test(readWord(target).text ?? "-")))
    .map(({ target }) => readWord(target as Word).text);
}

function isSameDescriptor(one: Redirection, other: Redirection): boolean {
  const descriptor = ({ operator, fd }: Redirection): number => fd ?? (operator === "<>" ? 0 : 1);
  return descriptor(one) === descriptor(other) && one.fdVariable === other.fdVariable;
}

/** Whether this command is certain to print nothing. */
function isSilent(command: Command): boolean {
  switch (command.type) {
    case "SimpleCommand":
      return command.name === null || isSilentProgram([command.name, ...command.args], command.redirections);
    case "Group":
    case "Subshell":
      return command.body.every(isSilentStatement);
    case "ConditionalCommand":
    case "ArithmeticCommand":
      return true;
    default:
      return false;
  }
}

/** Only the last command of each pipeline prints to the output. */
function isSilentStatement({ pipelines }: Statement): boolean {
  return pipelines.every(({ commands }) => {
    const last = commands.at(-1);
    return last === undefined || isSilent(last);
  });
}

/** Whether the input piped into this command is certain to be empty. */
export function hasSilentInput(commands: readonly Command[], at: number): boolean {
  return at > 0 && isSilent(commands[at - 1]!);
}

function isSilentProgram([name, ...args]: readonly Word[], redirections: readonly Redirection[]): boolean {
  if (name === undefined) return false;
  const program = programName(readWord(name).text ?? "");
  const texts = args.map((arg) => readWord(arg).text);
  if (SILENT.has(program)) return true;
  switch (program) {
    // These run their arguments as a command; `env` alone prints.
    case "command":
    case "builtin":
    case "env":
    case "nohup": {
      const at = texts.findIndex((text) => text === null || !(program === "env" && /^\w+=/.test(text)));
      return at !== -1 && isSilentProgram(args.slice(at), redirections);
    }
    case "cat":
    case "head":
    case "tail": {
      if (program !== "cat" && hasZeroCountOption(texts)) return true;
      const files = texts.filter((text) => text === null || !text.startsWith("-"));
      return files.length === 0 ? redirections.some(isEmptyInput) : files.every((text) => text !== null && DEV_NULL.test(text));
    }
    case "printf":
      return texts[0] === "" || (/^(?:%s|%b)+$/.test(texts[0] ?? "") && texts.slice(1).every((text) => text === ""));
    case "echo":
      return texts.length > 0 && texts[0] === "-n" && texts.slice(1).every((text) => text === "");
    default:
      return false;
  }
}

/** `head -c0`, `head -n 0`. */
function hasZeroCountOption(texts: readonly (string | null)[]): boolean {
  return texts.some((text, at) =>
    /^(?:-[cn]|--(?:bytes|lines)=?)$/.test(text ?? "")
      ? /^0+$/.test(texts[at + 1] ?? "")
      : /^(?:-[cn]?|--(?:bytes|lines)=)0+$/.test(text ?? ""),
  );
}

function isEmptyInput({ operator, target }: Redirection): boolean {
  if (target.type === "HereDoc") return readWord(target.content).text === "";
  return operator === "<" && DEV_NULL.test(readWord(target).text ?? "");
}

/** Files that the program empties because of its arguments; null for one whose name is not known. */
export function filesEmptiedBy(name: string, words: readonly (string | null)[], input: string | null): (string | null)[] {
  const files = words.filter((word) => word === null || !word.startsWith("-"));
  switch (name) {
    case "truncate":
      return words.filter(
        (word, at) => (word === null || !word.startsWith("-")) && !/^(?:-[sr]|--size|--reference)$/.test(words[at - 1] ?? ""),
      );
    case "cp":
    case "install":
      return files.length > 1 && files.slice(0, -1).some((file) => file !== null && DEV_NULL.test(file)) ? files.slice(-1) : [];
    case "tee":
      return input === "" && !words.includes("-a") && !words.includes("--append") ? files : [];
    // If its script deletes every line.
    case "sed":
    case "gsed":
      return words.some((word) => /^-[a-zA-Z]*i|^--in-place/.test(word ?? "")) ? filesEmptiedBySed(words) : [];
    // dd truncates its output file.
    case "dd":
      return words.filter((word) => word === null || word.startsWith("of=")).map((word) => word?.slice(3) ?? null);
    default:
      return [];
  }
}

function filesEmptiedBySed(words: readonly (string | null)[]): (string | null)[] {
  const isDeleteAllScript = (word: string | null): boolean => /^(?:1,\$|0,\$|\/\^?(?:\.\*)?\$?\/)?\s*d;?$/.test(word?.trim() ?? "");
  const isQuiet = words.some((word) => /^-[a-zA-Z]*n|^--(?:quiet|silent)/.test(word ?? ""));
  const operands = words.filter((word) => word === null || !word.startsWith("-"));
  // With -n, a script without a printing command leaves the file empty.
  const [script, ...files] = operands;
  return isDeleteAllScript(script ?? null) || (isQuiet && !/[pPiarcw=lR]/.test(script ?? "p")) ? files : [];
}
