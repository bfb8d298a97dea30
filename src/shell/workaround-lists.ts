// just-bash parses `local a=("$@")` as one word, which loses the boundaries between its words and the text of substitutions. It
// becomes `local -a a; a=("$@")`, and with a substitution `local -a a; eval 'a=($(ls))'`.

import {
  type Assignment,
  makeLiteral,
  commandNameOf,
  onlyCommand,
  type Part,
  makeSimpleCommand,
  type Statement,
  makeStatement,
  literalTextOf,
  type Word,
  makeWord,
} from "./syntax.ts";

const DECLARATIONS = new Set(["local", "declare", "typeset"]);

export function rewriteArrayDeclarations(item: Statement): Statement[] {
  const command = onlyCommand(item);
  if (command?.type !== "SimpleCommand" || !DECLARATIONS.has(commandNameOf(command))) return [item];
  const lists = command.args.map(parseArrayAssignment);
  const assignments = lists.filter((list) => list !== null);
  const hasFlag = (flag: RegExp) => command.args.some((arg) => flag.test(literalTextOf(arg)));
  // A readonly variable cannot be assigned afterwards.
  if (assignments.length === 0 || hasFlag(/^-[a-zA-Z]*r/)) return [item];
  const source = lists.at(-1) === null ? undefined : extractAssignmentSource(item, assignments);
  if (source === null) return [item];
  const names = command.args.map((arg, at) => (lists[at] ? makeLiteral(lists[at].name) : arg));
  return [
    makeStatement({ ...command, args: hasFlag(/^-[a-zA-Z]*[aA]/) ? names : [makeLiteral("-a"), ...names] }),
    source === undefined
      ? makeStatement({ type: "SimpleCommand", assignments, name: null, args: [], redirections: [] })
      : makeStatement(makeSimpleCommand("eval", makeWord({ type: "SingleQuoted", value: source }))),
  ];
}

/** The source of the assignment if it has substitutions, else undefined; null if it cannot be separated from the rest. */
function extractAssignmentSource({ sourceText = "" }: Statement, assignments: readonly Assignment[]): string | undefined | null {
  if (!/\$\(|`|<\(/.test(sourceText)) return undefined;
  const [only, ...others] = assignments;
  const at = sourceText.indexOf(`${only?.name}${only?.append ? "+" : ""}=(`);
  return others.length > 0 || at === -1 || !sourceText.trimEnd().endsWith(")") ? null : sourceText.slice(at);
}

/** Parses a word `name=(...)` as an assignment; null for any other word. */
function parseArrayAssignment({ parts }: Word): Assignment | null {
  const [first, last] = [parts[0], parts.at(-1)];
  if (first?.type !== "Literal" || last?.type !== "Literal" || !last.value.endsWith(")")) return null;
  const [head, name, plus] = /^([A-Za-z_]\w*)(\+?)=\(/.exec(first.value) ?? [];
  if (head === undefined || name === undefined) return null;
  const inner = parts.map((part, at): Part => {
    if (part.type !== "Literal") return part;
    return { ...part, value: part.value.slice(at === 0 ? head.length : 0, at === parts.length - 1 ? -1 : undefined) };
  });
  return { type: "Assignment", name, value: null, append: plus === "+", array: splitIntoWords(inner) };
}

/** Splits parts into words at unquoted blanks. */
function splitIntoWords(parts: readonly Part[]): Word[] {
  const words: Part[][] = [[]];
  for (const part of parts) {
    if (part.type !== "Literal") words.at(-1)!.push(part);
    else
      for (const [at, value] of part.value.split(/\s+/).entries()) {
        if (at > 0) words.push([]);
        if (value !== "") words.at(-1)!.push({ type: "Literal", value });
      }
  }
  return words.filter((wordParts) => wordParts.length > 0).map((wordParts) => makeWord(...wordParts));
}
