// What just-bash reads or does wrongly and can be told another way is told another way before it runs. Each mend says
// what goes wrong without it; test/shell proves that it is still needed by comparing with a real bash.

import { RUN } from "./inner.ts";
import { declaredLists } from "./mended-lists.ts";
import { substitutedSums } from "./mended-sums.ts";
import {
  holds,
  isNode,
  literal,
  nameOf,
  onlyCommand,
  type Command,
  type Part,
  type Plugin,
  simple,
  type Simple,
  type Statement,
  statement,
  textOf,
  word,
} from "./syntax.ts";

export const mended: Plugin = {
  name: "gsv-mended",
  transform: ({ ast }) => {
    const functions = new Set<string>();
    holds(ast, (node) => {
      if (node.type === "FunctionDef") functions.add((node as { name?: string }).name ?? "");
      return false;
    });
    mend(ast, functions);
    return { ast };
  },
};

/** Wherever it stands: in loops, functions, substitutions. Inner ones first. */
function mend(node: unknown, functions: ReadonlySet<string>): void {
  if (typeof node !== "object" || node === null) return;
  for (const [key, child] of Object.entries(node)) {
    mend(child, functions);
    if (!Array.isArray(child)) continue;
    if (key === "commands") child.splice(0, child.length, ...(child as Command[]).map(command));
    else if (child.some((item) => isNode(item) && item.type === "Statement"))
      child.splice(0, child.length, ...(child as Statement[]).flatMap(declaredLists).map((item) => spared(item, functions)));
  }
  if (isNode(node) && node.type === "DoubleQuoted") quotedDefault(node as Extract<Part, { type: "DoubleQuoted" }>);
}

function command(item: Command): Command {
  if (item.type === "ArithmeticCommand") return substitutedSums(comparison(item));
  if (item.type !== "SimpleCommand") return guarded(item);
  const sums = substitutedSums(item);
  if (sums.type !== "SimpleCommand") return guarded(sums);
  return guarded(sums.name === null ? assigned(sums) : expanded(called(sums)));
}

/** A script called by its path is not mended, and believes in another `$0`. */
function called(item: Simple): Simple {
  const path = nameOf(item);
  if (!path.includes("/") || /^\/(?:usr\/)?(?:local\/)?bin\//.test(path)) return item;
  return { ...item, name: literal(RUN), args: [item.name!, ...item.args] };
}

const WRITING = new Set([">", ">>", ">|", "&>", "&>>"]);

/** A file that cannot be written ends the whole script; in a group, only the command. */
function guarded(item: Command): Command {
  if (item.type === "FunctionDef" || (item.type === "SimpleCommand" && nameOf(item) === "exec")) return item;
  const writes = item.redirections.some(
    ({ operator, target }) => WRITING.has(operator) && target.type === "Word" && textOf(target) !== "/dev/null",
  );
  return writes ? { type: "Group", body: [statement(item)], redirections: [] } : item;
}

const DEFAULTS = new Set(["DefaultValue", "AssignDefault", "UseAlternative", "ErrorIfUnset"]);

/** `"${x:-y}"` with nothing beside it fails under `set -u`. */
function quotedDefault(quoted: Extract<Part, { type: "DoubleQuoted" }>): void {
  const [only, ...others] = quoted.parts;
  if (others.length > 0 || only?.type !== "ParameterExpansion" || !DEFAULTS.has(only.operation?.type ?? "")) return;
  // "${@:-x}" is as many words as there are.
  if (!/^[@*]$|\[[@*]\]$/.test(only.parameter)) quoted.parts.push({ type: "Literal", value: "" });
}

/** `x=1` leaves `$?` as it was, so that `set -e; f || code=$?` ends there. With a redirection it does not. */
function assigned(item: Simple): Simple {
  if (item.redirections.length > 0 || holds(item, ({ type }) => type === "CommandSubstitution")) return item;
  return { ...item, redirections: [{ type: "Redirection", fd: null, operator: "<<<", target: literal("") }] };
}

const WORDS = "GSV_WORDS";

/** A command's name that is an expansion is taken for one word: `"$@"`, `"${command[@]}"`, `$PREFIX make`. */
function expanded(item: Simple): Command {
  const [part, ...others] = item.name?.parts ?? [];
  if (part === undefined || others.length > 0) return item;
  const [inner, ...more] = part.type === "DoubleQuoted" ? part.parts : [part];
  if (inner?.type !== "ParameterExpansion" || more.length > 0) return item;
  const isMany = /^@$|\[@\]$/.test(inner.parameter);
  if (part.type === "DoubleQuoted" ? !isMany : inner.operation !== null && !isMany) return item;
  const words: Simple = {
    ...simple(""),
    name: null,
    assignments: [{ type: "Assignment", name: WORDS, value: null, append: false, array: [item.name!, ...item.args] }],
  };
  const expansion = (parameter: string, from?: number): Part => ({
    type: "ParameterExpansion",
    parameter,
    operation:
      from === undefined
        ? null
        : { type: "Substring", offset: { type: "ArithmeticExpression", expression: { type: "ArithNumber", value: from } }, length: null },
  });
  const quoted = (inside: Part) => word({ type: "DoubleQuoted", parts: [inside] });
  return {
    type: "Group",
    body: [statement(words), statement({ ...item, name: quoted(expansion(`${WORDS}[0]`)), args: [quoted(expansion(`${WORDS}[@]`, 1))] })],
    redirections: [],
  };
}

/** `((a<=b))` and `((a>>=1))` are read only with blanks around the sign. */
function comparison(item: Extract<Command, { type: "ArithmeticCommand" }>): Command {
  const { expression, originalText } = item.expression;
  if (expression.type !== "ArithSyntaxError" || originalText === undefined || /["'`\\]/.test(originalText)) return item;
  const text = originalText.replace(/(<<|>>|<|>)\s*=/g, " $1= ");
  return { ...simple("let", word({ type: "SingleQuoted", value: text })), redirections: item.redirections };
}

/** `f || other` spares the function itself from `set -e`, but not what is in it; a condition does. */
function spared(item: Statement, functions: ReadonlySet<string>): Statement {
  const [first, second, ...others] = item.pipelines;
  if (second === undefined || others.length > 0 || item.operators[0] !== "||" || item.background || first === undefined) return item;
  const condition: Statement = { ...item, pipelines: [first], operators: [] };
  const call = onlyCommand(condition);
  if (call?.type !== "SimpleCommand" || !functions.has(nameOf(call))) return item;
  return statement({
    type: "If",
    clauses: [{ condition: [condition], body: [statement(simple(":"))] }],
    elseBody: [{ ...item, pipelines: [second], operators: [] }],
    redirections: [],
  });
}
