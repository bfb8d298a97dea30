// `read` and `mapfile` hand a script bytes where it wants text: "é" comes as two characters, and is written out as four.
// So each is followed by a command that puts the text into the variables it has filled, and keeps its exit code.

import { type Command, defineCommand } from "just-bash/browser";
import { fromLatin1 } from "../lib/bytes.ts";
import { type Command as Node, literal, nameOf, type Plugin, type Simple, simple, statement, textOf, type Word, word } from "./syntax.ts";

export const DECODE = "gsv-decode";
const ARRAY = "-a";

/** Options that take a word of their own. */
const WITH_WORD = { read: "pdnNtuia", mapfile: "dnOsuCc", readarray: "dnOsuCc" } as const;

export function decodeCommand(): Command {
  return defineCommand(DECODE, async ([status = "0", ...args], { env, assignShellVariable: assign }) => {
    const isArray = args[0] === ARRAY;
    const [name = "", ...values] = isArray ? args.slice(1) : [];
    for (const [at, value] of values.entries()) if (isBytes(value)) await assign?.(name, decoded(value), String(at));
    for (const variable of isArray ? [] : args) {
      const value = env.get(variable);
      if (value !== undefined && isBytes(value)) await assign?.(variable, decoded(value));
    }
    return { stdout: "", stderr: "", exitCode: Number(status) };
  });
}

export const decoding: Plugin = {
  name: DECODE,
  transform: ({ ast }) => {
    visit(ast);
    return { ast };
  },
};

/** Wherever such a command stands: in loops, functions, substitutions. */
function visit(node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  for (const child of Object.values(node)) visit(child);
  const pipeline = node as { type?: string; commands?: Node[] };
  if (pipeline.type === "Pipeline" && pipeline.commands !== undefined) pipeline.commands = pipeline.commands.map(followed);
}

function followed(command: Node): Node {
  if (command.type !== "SimpleCommand") return command;
  const filled = filledBy(command);
  if (filled === null) return command;
  const body = [statement(command), statement(simple(DECODE, expansion("?"), ...filled))];
  return { type: "Group", body, redirections: [] };
}

/** What is to be decoded, as arguments; null for any other command, or one whose variables cannot be told. */
function filledBy(command: Simple): Word[] | null {
  const program = nameOf(command);
  if (program !== "read" && program !== "mapfile" && program !== "readarray") return null;
  const names: string[] = [];
  let array = program === "read" ? null : "MAPFILE";
  for (let at = 0; at < command.args.length; at++) {
    const text = textOf(command.args[at]!);
    if (text === "") return null;
    const letter = text.at(-1)!;
    if (!text.startsWith("-")) names.push(text);
    else if (WITH_WORD[program].includes(letter)) {
      at++;
      if (program === "read" && letter === "a") array = textOf(command.args[at] ?? literal(""));
    }
  }
  if (array !== null) {
    const name = program === "read" ? array : (names[0] ?? array);
    return isName(name) ? [literal(ARRAY), literal(name), expansion(`${name}[@]`)] : null;
  }
  const variables = names.length === 0 ? ["REPLY"] : names;
  return variables.every(isName) ? variables.map((name) => literal(name)) : null;
}

function expansion(parameter: string): Word {
  return word({ type: "DoubleQuoted", parts: [{ type: "ParameterExpansion", parameter, operation: null }] });
}

function isName(text: string): boolean {
  return /^[A-Za-z_]\w*$/.test(text);
}

/** Bytes that are UTF-8 beyond ASCII, one character each. */
function isBytes(text: string): boolean {
  return /[\u0080-\u00ff]/.test(text) && !/[^\0-\u00ff]/.test(text);
}

/** What is no UTF-8 stays as it is. */
function decoded(text: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(fromLatin1(text));
  } catch {
    return text;
  }
}
