// Workarounds for bugs of just-bash: rewrites scripts before they run. The comment of each describes the bug; test/shell
// compares with a real bash and proves that the workaround is still needed.

import { RUN } from "./inner.ts";
import { rewriteArrayDeclarations } from "./workaround-lists.ts";
import { liftArithmeticSubstitutions } from "./workaround-sums.ts";
import {
  containsNode,
  isNode,
  makeLiteral,
  commandNameOf,
  onlyCommand,
  type Command,
  type Part,
  type Plugin,
  makeSimpleCommand,
  type SimpleCommand,
  type Statement,
  makeStatement,
  literalTextOf,
  makeWord,
} from "./syntax.ts";

export const workaroundsPlugin: Plugin = {
  name: "gsv-mended",
  transform: ({ ast }) => {
    const functions = new Set<string>();
    containsNode(ast, (node) => {
      if (node.type === "FunctionDef") functions.add((node as { name?: string }).name ?? "");
      return false;
    });
    rewriteTree(ast, functions);
    return { ast };
  },
};

/** Rewrites the whole tree, including loops, functions and substitutions. Inner nodes come first. */
function rewriteTree(node: unknown, functions: ReadonlySet<string>): void {
  if (typeof node !== "object" || node === null) return;
  for (const [key, child] of Object.entries(node)) {
    rewriteTree(child, functions);
    if (!Array.isArray(child)) continue;
    if (key === "commands") child.splice(0, child.length, ...(child as Command[]).map(rewriteCommand));
    else if (child.some((item) => isNode(item) && item.type === "Statement"))
      child.splice(
        0,
        child.length,
        ...(child as Statement[]).flatMap(rewriteArrayDeclarations).map((item) => exemptFromErrexit(item, functions)),
      );
  }
  if (isNode(node) && node.type === "DoubleQuoted") fixQuotedDefault(node as Extract<Part, { type: "DoubleQuoted" }>);
}

function rewriteCommand(item: Command): Command {
  if (item.type === "ArithmeticCommand") return liftArithmeticSubstitutions(fixArithmeticOperators(item));
  if (item.type !== "SimpleCommand") return guardRedirections(item);
  const sums = liftArithmeticSubstitutions(item);
  if (sums.type !== "SimpleCommand") return guardRedirections(sums);
  return guardRedirections(sums.name === null ? addStatusReset(sums) : expandCommandName(rewritePathCall(sums)));
}

/** A script called by its path would run without these workarounds and with a wrong `$0`. */
function rewritePathCall(item: SimpleCommand): SimpleCommand {
  const path = commandNameOf(item);
  if (!path.includes("/") || /^\/(?:usr\/)?(?:local\/)?bin\//.test(path)) return item;
  return { ...item, name: makeLiteral(RUN), args: [item.name!, ...item.args] };
}

const WRITE_OPERATORS = new Set([">", ">>", ">|", "&>", "&>>"]);

/** A redirection to a file that cannot be written ends the whole script; inside a group, only the command. */
function guardRedirections(item: Command): Command {
  if (item.type === "FunctionDef" || (item.type === "SimpleCommand" && commandNameOf(item) === "exec")) return item;
  const writes = item.redirections.some(
    ({ operator, target }) => WRITE_OPERATORS.has(operator) && target.type === "Word" && literalTextOf(target) !== "/dev/null",
  );
  return writes ? { type: "Group", body: [makeStatement(item)], redirections: [] } : item;
}

const DEFAULTS = new Set(["DefaultValue", "AssignDefault", "UseAlternative", "ErrorIfUnset"]);

/** `"${x:-y}"` fails under `set -u` if the quotes contain nothing else. */
function fixQuotedDefault(quoted: Extract<Part, { type: "DoubleQuoted" }>): void {
  const [only, ...others] = quoted.parts;
  if (others.length > 0 || only?.type !== "ParameterExpansion" || !DEFAULTS.has(only.operation?.type ?? "")) return;
  // "${@:-x}" expands to several words, which an added part would change.
  if (!/^[@*]$|\[[@*]\]$/.test(only.parameter)) quoted.parts.push({ type: "Literal", value: "" });
}

/** `x=1` does not reset `$?`, so `set -e; f || code=$?` ends the script. With a redirection it does reset it. */
function addStatusReset(item: SimpleCommand): SimpleCommand {
  if (item.redirections.length > 0 || containsNode(item, ({ type }) => type === "CommandSubstitution")) return item;
  return { ...item, redirections: [{ type: "Redirection", fd: null, operator: "<<<", target: makeLiteral("") }] };
}

const WORDS = "GSV_WORDS";

/** A command name that is an expansion is taken as one word: `"$@"`, `"${command[@]}"`, `$PREFIX make`. */
function expandCommandName(item: SimpleCommand): Command {
  const [part, ...others] = item.name?.parts ?? [];
  if (part === undefined || others.length > 0) return item;
  const [inner, ...more] = part.type === "DoubleQuoted" ? part.parts : [part];
  if (inner?.type !== "ParameterExpansion" || more.length > 0) return item;
  const isMany = /^@$|\[@\]$/.test(inner.parameter);
  if (part.type === "DoubleQuoted" ? !isMany : inner.operation !== null && !isMany) return item;
  const words: SimpleCommand = {
    ...makeSimpleCommand(""),
    name: null,
    assignments: [{ type: "Assignment", name: WORDS, value: null, append: false, array: [item.name!, ...item.args] }],
  };
  const makeExpansion = (parameter: string, from?: number): Part => ({
    type: "ParameterExpansion",
    parameter,
    operation:
      from === undefined
        ? null
        : { type: "Substring", offset: { type: "ArithmeticExpression", expression: { type: "ArithNumber", value: from } }, length: null },
  });
  const quoted = (innerPart: Part) => makeWord({ type: "DoubleQuoted", parts: [innerPart] });
  return {
    type: "Group",
    body: [
      makeStatement(words),
      makeStatement({ ...item, name: quoted(makeExpansion(`${WORDS}[0]`)), args: [quoted(makeExpansion(`${WORDS}[@]`, 1))] }),
    ],
    redirections: [],
  };
}

/** `((a<=b))` and `((a>>=1))` are parsed only with blanks around the operator. */
function fixArithmeticOperators(item: Extract<Command, { type: "ArithmeticCommand" }>): Command {
  const { expression, originalText } = item.expression;
  if (expression.type !== "ArithSyntaxError" || originalText === undefined || /["'`\\]/.test(originalText)) return item;
  const text = originalText.replace(/(<<|>>|<|>)\s*=/g, " $1= ");
  return { ...makeSimpleCommand("let", makeWord({ type: "SingleQuoted", value: text })), redirections: item.redirections };
}

/** `f || other` exempts the function from `set -e`, but not the commands in it; the condition of an `if` exempts both. */
function exemptFromErrexit(item: Statement, functions: ReadonlySet<string>): Statement {
  const [first, second, ...others] = item.pipelines;
  if (second === undefined || others.length > 0 || item.operators[0] !== "||" || item.background || first === undefined) return item;
  const condition: Statement = { ...item, pipelines: [first], operators: [] };
  const call = onlyCommand(condition);
  if (call?.type !== "SimpleCommand" || !functions.has(commandNameOf(call))) return item;
  return makeStatement({
    type: "If",
    clauses: [{ condition: [condition], body: [makeStatement(makeSimpleCommand(":"))] }],
    elseBody: [{ ...item, pipelines: [second], operators: [] }],
    redirections: [],
  });
}
