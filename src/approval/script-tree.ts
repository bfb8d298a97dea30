// Questions about the syntax tree of a script that are answered from the tree alone, for commands.ts.

import { type Assignment, isNode, type Redirection, type Script, type SimpleCommand, type Word } from "../shell/syntax.ts";
import { programName, readWord } from "./words.ts";

/** Text in which bash would run a command. */
export const SUBSTITUTION = /\$\(|`/;
/** Programs that give names a new meaning. */
export const NAMING = new Set(
  "alias export declare typeset local readonly read mapfile readarray hash enable bind complete printf".split(" "),
);

/** Whether the script is one program with its arguments, with nothing run to compute them. */
export function isPlainCommand({ statements }: Script): boolean {
  const [statement, ...others] = statements;
  const [pipeline, ...more] = statement?.pipelines ?? [];
  const [command, ...piped] = pipeline?.commands ?? [];
  if (others.length + more.length + piped.length > 0 || statement?.background || statement?.deferredError) return false;
  if (command?.type !== "SimpleCommand" || command.redirections.length + command.assignments.length > 0) return false;
  return [command.name, ...command.args].every((word) => word !== null && !JSON.stringify(word).includes("Substitution"));
}

/** Judges variables by every assignment in the script; other variables of the environment may hold anything. */
export function plainVariables(tree: Script): ReadonlySet<string> {
  const plain = new Set(["HOME", "PWD", "USER", "UID", "HOSTNAME"]);
  const others = new Set<string>();
  const record = (name: string, isPlain: boolean): unknown => (isPlain ? plain : others).add(name.replace(/[[+].*$/s, ""));
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null || (isNode(node) && isLeaf(node))) return;
    const { type } = node as { type?: unknown };
    if (type === "Assignment") {
      const { name, value, append, array } = node as Assignment;
      record(name, !append && array === null && value !== null && /^[^\s-]\S*$/.test(readWord(value).text ?? ""));
    }
    if (type === "For") {
      const { variable, words } = node as { variable: string; words: Word[] | null };
      record(
        variable,
        words !== null && words.map(readWord).every(({ text, start, lead }) => lead === null && /^(?!-)\S*$/.test(text ?? start)),
      );
    }
    // `read x`, `printf -v x`, `local x=...` and the like.
    if (
      type === "SimpleCommand" &&
      (node as SimpleCommand).name !== null &&
      NAMING.has(programName(readWord((node as SimpleCommand).name!).text ?? ""))
    )
      for (const arg of (node as SimpleCommand).args) record(/^\w*/.exec(readWord(arg).start)![0], false);
    if (Array.isArray(node)) for (const child of node) visit(child);
    else for (const key in node) visit((node as Record<string, unknown>)[key]);
  };
  visit(tree);
  return new Set([...plain].filter((name) => !others.has(name)));
}

/** The text on standard input: the last redirection counts. Null if the script does not contain it. */
export function stdinText(redirections: readonly Redirection[]): string | null {
  const last = redirections.findLast(({ operator, fd }) => operator.startsWith("<") && (fd === null || fd === 0));
  if (last === undefined) return null;
  const { operator, target } = last;
  if (target.type === "HereDoc") return readWord(target.content).text;
  if (operator === "<" && readWord(target).text === "/dev/null") return "";
  return operator === "<<<" ? readWord(target).text : null;
}

/** Whether a quoted text contains a command that may run later. */
export function holdsSubstitution(node: unknown): boolean {
  if (typeof node !== "object" || node === null) return false;
  const { type, value } = node as { type?: unknown; value?: unknown };
  if ((type === "SingleQuoted" || type === "Escaped" || type === "Literal") && typeof value === "string" && SUBSTITUTION.test(value))
    return true;
  return type !== "CommandSubstitution" && Object.values(node).some(holdsSubstitution);
}

/** Most nodes of most trees are leaves: they contain only text. */
export function isLeaf({ type }: { type: string }): boolean {
  return type === "Literal" || type === "SingleQuoted" || type === "Escaped";
}
