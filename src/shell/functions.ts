// `export -f`, which just-bash does not support: the exported functions of the outer script are inserted into each inner
// script (`bash -c f`).

import {
  containsNode,
  makeLiteral,
  commandNameOf,
  type Command,
  type Plugin,
  type SimpleCommand,
  makeStatement,
  literalTextOf,
} from "./syntax.ts";

type FunctionDef = Extract<Command, { type: "FunctionDef" }>;

/** One plugin per command line: the first script that it transforms is the outer one. */
export function makeExportedFunctionsPlugin(): Plugin {
  const functions = new Map<string, FunctionDef>();
  const exported = new Set<string>();
  let isInner = false;
  return {
    name: "gsv-functions",
    transform: ({ ast }) => {
      const inherited = isInner ? [...exported].flatMap((name) => functions.get(name) ?? []).map(makeStatement) : [];
      containsNode(ast, (node) => {
        if (node.type === "FunctionDef" && !isInner) functions.set((node as FunctionDef).name, node as FunctionDef);
        if (node.type === "SimpleCommand") for (const name of takeExportedNames(node as SimpleCommand)) exported.add(name);
        return false;
      });
      isInner = true;
      return { ast: { ...ast, statements: [...inherited, ...ast.statements] } };
    },
  };
}

/** The names after `export -f`. Replaces the command by `:`, because just-bash would report an error. */
function takeExportedNames(command: SimpleCommand): string[] {
  const [flag, ...names] = command.args.map(literalTextOf);
  if (commandNameOf(command) !== "export" || flag !== "-f") return [];
  command.name = makeLiteral(":");
  return names;
}
