// `$(( $(f) + 1 ))` runs its substitution in a shell that knows neither functions nor arguments. It becomes
// `{ GSV_SUM_0=$(f); ... $(( GSV_SUM_0 + 1 )); }`.

import { Bash } from "just-bash/browser";
import { type Assignment, type Command, isNode, type Part, type Script, simple, statement, word } from "./syntax.ts";

export function substitutedSums(item: Command): Command {
  if (item.type !== "SimpleCommand" && item.type !== "ArithmeticCommand") return item;
  const assignments: Assignment[] = [];
  lift(item, assignments);
  if (assignments.length === 0) return item;
  return { type: "Group", body: [statement({ ...simple(""), name: null, assignments }), statement(item)], redirections: [] };
}

/** What is in an inner script was mended with that. */
function lift(node: unknown, found: Assignment[]): void {
  if (typeof node !== "object" || node === null) return;
  if (isNode(node) && (node.type === "CommandSubstitution" || node.type === "ProcessSubstitution")) return;
  for (const [key, child] of Object.entries(node)) {
    const text = isNode(child) && child.type === "ArithCommandSubst" ? (child as { command?: string }).command : undefined;
    if (text === undefined) {
      lift(child, found);
      continue;
    }
    const body = scriptOf(text);
    if (body === null) continue;
    const name = `GSV_SUM_${found.length}`;
    const substitution: Part = { type: "CommandSubstitution", body, legacy: false };
    found.push({ type: "Assignment", name, value: word(substitution), append: false, array: null });
    (node as Record<string, unknown>)[key] = { type: "ArithVariable", name, hasDollarPrefix: false };
  }
}

function scriptOf(text: string): Script | null {
  try {
    return new Bash().transform(text).ast;
  } catch {
    return null;
  }
}
