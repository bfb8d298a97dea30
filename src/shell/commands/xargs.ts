// xargs. just-bash's own supports few of the options.

import { defineCommandFile, CommandError } from "../command.ts";

type Options = { perCall: number; perLine: number; replace: string | null; delimiter: string | null; skipsEmpty: boolean; traces: boolean };

const WORDS_MAX = 5_000;

export default defineCommandFile({
  name: "xargs",
  usage: "[-0rt] [-d character] [-I text] [-n words] [-L lines] [-P any] [command [word...]]",
  doc: "Run a command with words from standard input. -0 and -d set the separator, -n the number of words per command, -L the number of lines per command, -I a text that is replaced by a whole line, -r runs nothing if there is no input, -t prints each command. Commands run one after another.",
  async run(context, args) {
    const { options, words } = parseArgs(args);
    const items = parseItems(new TextDecoder().decode(context.stdinBytes()), options);
    const base = words.length === 0 ? ["echo"] : words;
    if (items.length === 0 && (options.skipsEmpty || options.replace !== null)) return "";
    const output = { stdout: "", stderr: "", exitCode: 0 };
    for (const call of buildCalls(base, items, options)) {
      if (options.traces) output.stderr += `${call.join(" ")}\n`;
      const { stdout, stderr, exitCode } = await context.exec(call);
      output.stdout += stdout;
      output.stderr += stderr;
      if (exitCode === 255)
        return { ...output, stderr: `${output.stderr}xargs: ${call[0]}: exited with status 255; aborting\n`, exitCode: 124 };
      if (exitCode === 126 || exitCode === 127) return { ...output, exitCode };
      if (exitCode !== 0) output.exitCode = 123;
    }
    return output;
  },
});

function parseArgs(args: readonly string[]): { options: Options; words: readonly string[] } {
  const options: Options = { perCall: 0, perLine: 0, replace: null, delimiter: null, skipsEmpty: false, traces: false };
  let at = 0;
  for (; at < args.length && /^-./.test(args[at]!); at++) {
    const arg = args[at]!;
    if (arg === "--") return { options, words: args.slice(at + 1) };
    const [, long, given] = /^--([a-z-]+)(?:=(.*))?$/.exec(arg) ?? [];
    const letters = long === undefined ? arg.slice(1) : (LONG[long] ?? failInvalid(arg));
    for (let index = 0; index < letters.length; index++) {
      const letter = letters[index]!;
      const value = () => {
        const rest = given ?? letters.slice(index + 1);
        index = letters.length;
        return rest === "" ? (args[++at] ?? failInvalid(arg)) : rest;
      };
      if (letter === "0") options.delimiter = "\0";
      else if (letter === "r") options.skipsEmpty = true;
      else if (letter === "t") options.traces = true;
      else if (letter === "I") options.replace = value();
      else if (letter === "i") options.replace = "{}";
      else if (letter === "d") options.delimiter = unescapeDelimiter(value());
      else if (letter === "n") options.perCall = parseCount(value());
      else if (letter === "L") options.perLine = parseCount(value());
      else if (letter === "P" || letter === "s") value();
      else if (letter !== "x") failInvalid(`-${letter}`);
    }
  }
  return { options, words: args.slice(at) };
}

const LONG: Readonly<Record<string, string>> = {
  null: "0",
  "no-run-if-empty": "r",
  verbose: "t",
  replace: "i",
  delimiter: "d",
  "max-args": "n",
  "max-lines": "L",
  "max-procs": "P",
};

/** Splits the input into items; the words of an item stay together. */
function parseItems(text: string, { delimiter, replace, perLine }: Options): string[][] {
  if (delimiter !== null) {
    const parts = text.split(delimiter);
    if (parts.at(-1) === "") parts.pop();
    return parts.map((part) => [part]);
  }
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (replace !== null) return lines.map((line) => [parseWords(line.trimStart().replaceAll(/[ \t]/g, "\\$&")).join(" ")]);
  return perLine > 0 ? lines.map(parseWords) : parseWords(text).map((word) => [word]);
}

function parseWords(text: string): string[] {
  const found = text.matchAll(/(?:"([^"\n]*)"|'([^'\n]*)'|\\([\s\S])|[^\s"'\\])+/g);
  return [...found].map(([whole]) =>
    whole.replace(/"([^"\n]*)"|'([^'\n]*)'|\\([\s\S])/g, (_, a?: string, b?: string, c?: string) => a ?? b ?? c ?? ""),
  );
}

function buildCalls(base: readonly string[], items: readonly string[][], { perCall, perLine, replace }: Options): string[][] {
  if (replace !== null) return items.map(([item = ""]) => base.map((word) => word.replaceAll(replace, item)));
  if (items.length === 0) return [[...base]];
  const size = perCall || perLine || WORDS_MAX;
  const groups = Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size).flat());
  return groups.map((words) => [...base, ...words]);
}

function unescapeDelimiter(text: string): string {
  return ({ "\\n": "\n", "\\t": "\t", "\\0": "\0" } as Record<string, string>)[text] ?? text;
}

function parseCount(text: string): number {
  return /^[1-9]\d*$/.test(text) ? Number(text) : failInvalid(text);
}

function failInvalid(what: string): never {
  throw new CommandError(`invalid option: ${what}`, 2);
}
