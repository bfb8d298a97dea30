// In `$(( $(f) + 1 ))` just-bash runs the substitution in a shell without the script's functions and arguments. It becomes
// `{ GSV_SUM_0=$(f); ... $(( GSV_SUM_0 + 1 )); }`.

import { Bash } from "just-bash/browser";
import { type Assignment, type Command, isNode, type Part, type Script, makeSimpleCommand, makeStatement, makeWord } from "./syntax.ts";

export function liftArithmeticSubstitutions(item: Command): Command {
  if (item.type !== "SimpleCommand" && item.type !== "ArithmeticCommand") return item;
  const assignments: Assignment[] = [];
  liftSubstitutions(item, assignments);
  if (assignments.length === 0) return item;
  return {
    type: "Group",
    body: [makeStatement({ ...makeSimpleCommand(""), name: null, assignments }), makeStatement(item)],
    redirections: [],
  };
}

/** Does not enter substitutions, which are scripts that were fixed on their own. */
function liftSubstitutions(node: unknown, assignments: Assignment[]): void {
  if (typeof node !== "object" || node === null) return;
  if (isNode(node) && (node.type === "CommandSubstitution" || node.type === "ProcessSubstitution")) return;
  for (const [key, child] of Object.entries(node)) {
    const text = isNode(child) && child.type === "ArithCommandSubst" ? (child as { command?: string }).command : undefined;
    if (text === undefined) {
      liftSubstitutions(child, assignments);
      continue;
    }
    const body = parseScript(text);
    if (body === null) continue;
    const name = `GSV_SUM_${assignments.length}`;
    const substitution: Part = { type: "CommandSubstitution", body, legacy: false };
    assignments.push({ type: "Assignment", name, value: makeWord(substitution), append: false, array: null });
    (node as Record<string, unknown>)[key] = { type: "ArithVariable", name, hasDollarPrefix: false };
  }
}

function parseScript(text: string): Script | null {
  try {
    return new Bash().transform(text).ast;
  } catch {
    return null;
  }
}
