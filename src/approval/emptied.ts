// Commands that leave a file empty: the same as to delete what is in it. Others that write over a file put something in its
// place, which counts as writing.

import type { Redirection, Word } from "../shell/syntax.ts";
import { known, programName } from "./words.ts";

/** Redirections that empty a file before anything is written to it. */
export const EMPTYING: ReadonlySet<string> = new Set([">", ">|", "&>", ">&", "<>"]);

const NOTHING = /^\/dev\/null$/;
const SILENT: ReadonlySet<string> = new Set(
  ": true false test [ cd pushd popd set unset export declare typeset local readonly shift sleep wait exec exit return mkdir touch umask".split(
    " ",
  ),
);

/** Whether a command that is written so is certain to print nothing. */
export function isSilent(name: Word | null, args: readonly Word[], redirections: readonly Redirection[]): boolean {
  if (name === null) return true;
  const program = programName(known(name).text ?? "");
  const texts = args.map((arg) => known(arg).text);
  if (SILENT.has(program)) return true;
  if (program === "cat" || program === "head" || program === "tail") {
    const files = texts.filter((text) => text === null || !text.startsWith("-"));
    const isInputEmpty = redirections.some(({ operator, target }) => operator === "<" && isNothing(target));
    return files.length === 0 ? isInputEmpty : files.every((text) => text !== null && NOTHING.test(text));
  }
  if (program === "printf") return texts.length === 1 && texts[0] === "";
  return program === "echo" && texts.length > 0 && texts[0] === "-n" && texts.slice(1).every((text) => text === "");
}

function isNothing(target: Redirection["target"]): boolean {
  return target.type === "Word" && NOTHING.test(known(target).text ?? "");
}

/** The files that a program leaves empty by its own words; null for one that is not known. */
export function emptiedBy(name: string, words: readonly (string | null)[], input: string | null): (string | null)[] {
  const files = words.filter((word) => word === null || !word.startsWith("-"));
  switch (name) {
    case "truncate":
      return words.filter(
        (word, at) => (word === null || !word.startsWith("-")) && !/^(?:-[sr]|--size|--reference)$/.test(words[at - 1] ?? ""),
      );
    case "cp":
    case "install":
      return files.length > 1 && files.slice(0, -1).some((file) => file !== null && NOTHING.test(file)) ? files.slice(-1) : [];
    case "tee":
      return input === "" && !words.includes("-a") && !words.includes("--append") ? files : [];
    // It cuts the file off at what it writes.
    case "dd":
      return words.filter((word) => word === null || word.startsWith("of=")).map((word) => word?.slice(3) ?? null);
    default:
      return [];
  }
}
