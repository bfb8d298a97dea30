// `export -f`, which just-bash does not know: into each inner script (`bash -c f`) go the outer one's functions that were
// exported.

import { holds, literal, nameOf, type Command, type Plugin, type Simple, statement, textOf } from "./syntax.ts";

type FunctionDef = Extract<Command, { type: "FunctionDef" }>;

/** For one command: the first script it sees is the outer one. */
export function exportedFunctions(): Plugin {
  const functions = new Map<string, FunctionDef>();
  const exported = new Set<string>();
  let isInner = false;
  return {
    name: "gsv-functions",
    transform: ({ ast }) => {
      const lent = isInner ? [...exported].flatMap((name) => functions.get(name) ?? []).map(statement) : [];
      holds(ast, (node) => {
        if (node.type === "FunctionDef" && !isInner) functions.set((node as FunctionDef).name, node as FunctionDef);
        if (node.type === "SimpleCommand") for (const name of taken(node as Simple)) exported.add(name);
        return false;
      });
      isInner = true;
      return { ast: { ...ast, statements: [...lent, ...ast.statements] } };
    },
  };
}

/** What `export -f` names; it is taken out, as it would be an error. */
function taken(command: Simple): string[] {
  const [flag, ...names] = command.args.map(textOf);
  if (nameOf(command) !== "export" || flag !== "-f") return [];
  command.name = literal(":");
  return names;
}
