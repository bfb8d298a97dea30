// help: lists the commands.

import { defineCommandFile } from "../command.ts";
import { readManual, summaryOf } from "../manual.ts";

export default defineCommandFile({
  name: "help",
  usage: "[name]",
  doc: "List all commands, or explain one.",
  async run(context, [name]) {
    if (name === "--names") return [...context.commandNames(), ...BUILT_IN].map((word) => `${word}\n`).join("");
    if (name !== undefined) return readManual(context, name);
    const ours = context.commands;
    const width = Math.max(...ours.map((file) => file.name.length));
    const names = new Set(ours.map((file) => file.name));
    const others = context.commandNames().filter((program) => !names.has(program));
    return [
      "GSV commands (man NAME explains one):",
      ...ours.map((file) => `  ${file.name.padEnd(width)}  ${summaryOf(file)}`),
      "",
      "Also available, as on any Unix:",
      ...wrapWords(others),
      "",
      "man lists all manual pages, including one for each system call.",
      "",
    ].join("\n");
  },
});

/** Shell builtins, for --names, which programs use for completion. */
const BUILT_IN =
  "alias break case cd command continue declare do done elif else esac eval exec exit export fi for function getopts if let local mapfile popd pushd read readonly return set shift shopt source then time type unalias unset until wait while".split(
    " ",
  );

function wrapWords(words: readonly string[]): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length > 76) lines.push(`  ${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
