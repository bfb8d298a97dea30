// In just-bash, `read` and `mapfile` store bytes where a script expects text: "é" becomes two characters and is written out as
// four bytes. So a command after each of them decodes the variables it has set and keeps its exit code.

import { type Command, defineCommand } from "just-bash/browser";
import { fromLatin1 } from "../lib/bytes.ts";
import {
  type Command as Node,
  makeLiteral,
  commandNameOf,
  type Plugin,
  type SimpleCommand,
  makeSimpleCommand,
  makeStatement,
  literalTextOf,
  type Word,
  makeWord,
} from "./syntax.ts";

export const DECODE = "gsv-decode";
const ARRAY = "-a";

/** Options that take an argument. */
const OPTIONS_WITH_ARGUMENT = { read: "pdnNtuia", mapfile: "dnOsuCc", readarray: "dnOsuCc" } as const;

export function makeDecodeCommand(): Command {
  return defineCommand(DECODE, async ([status = "0", ...args], { env, assignShellVariable: assign }) => {
    const isArray = args[0] === ARRAY;
    const [name = "", ...values] = isArray ? args.slice(1) : [];
    for (const [at, value] of values.entries()) if (holdsUndecodedBytes(value)) await assign?.(name, decode(value), String(at));
    for (const variable of isArray ? [] : args) {
      const value = env.get(variable);
      if (value !== undefined && holdsUndecodedBytes(value)) await assign?.(variable, decode(value));
    }
    return { stdout: "", stderr: "", exitCode: Number(status) };
  });
}

export const decodePlugin: Plugin = {
  name: DECODE,
  transform: ({ ast }) => {
    addDecodes(ast);
    return { ast };
  },
};

/** Visits the whole tree, including loops, functions and substitutions. */
function addDecodes(node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  for (const child of Object.values(node)) addDecodes(child);
  const pipeline = node as { type?: string; commands?: Node[] };
  if (pipeline.type === "Pipeline" && pipeline.commands !== undefined) pipeline.commands = pipeline.commands.map(addDecode);
}

function addDecode(command: Node): Node {
  if (command.type !== "SimpleCommand") return command;
  const decodeArgs = makeDecodeArguments(command);
  if (decodeArgs === null) return command;
  const body = [makeStatement(command), makeStatement(makeSimpleCommand(DECODE, makeQuotedExpansion("?"), ...decodeArgs))];
  return { type: "Group", body, redirections: [] };
}

/** The arguments for the decode command; null for any other command, and if the variables are not known before it runs. */
function makeDecodeArguments(command: SimpleCommand): Word[] | null {
  const program = commandNameOf(command);
  if (program !== "read" && program !== "mapfile" && program !== "readarray") return null;
  const names: string[] = [];
  let array = program === "read" ? null : "MAPFILE";
  for (let at = 0; at < command.args.length; at++) {
    const text = literalTextOf(command.args[at]!);
    if (text === "") return null;
    const letter = text.at(-1)!;
    if (!text.startsWith("-")) names.push(text);
    else if (OPTIONS_WITH_ARGUMENT[program].includes(letter)) {
      at++;
      if (program === "read" && letter === "a") array = literalTextOf(command.args[at] ?? makeLiteral(""));
    }
  }
  if (array !== null) {
    const name = program === "read" ? array : (names[0] ?? array);
    return isVariableName(name) ? [makeLiteral(ARRAY), makeLiteral(name), makeQuotedExpansion(`${name}[@]`)] : null;
  }
  const variables = names.length === 0 ? ["REPLY"] : names;
  return variables.every(isVariableName) ? variables.map((name) => makeLiteral(name)) : null;
}

function makeQuotedExpansion(parameter: string): Word {
  return makeWord({ type: "DoubleQuoted", parts: [{ type: "ParameterExpansion", parameter, operation: null }] });
}

function isVariableName(text: string): boolean {
  return /^[A-Za-z_]\w*$/.test(text);
}

/** Whether the text holds one byte per character, and at least one beyond ASCII. */
function holdsUndecodedBytes(text: string): boolean {
  return /[\u0080-\u00ff]/.test(text) && !/[^\0-\u00ff]/.test(text);
}

/** Text that is not valid UTF-8 stays as it is. */
function decode(text: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(fromLatin1(text));
  } catch {
    return text;
  }
}
