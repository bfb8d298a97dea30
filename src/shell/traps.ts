// `trap ... EXIT`, which just-bash does not support. The action is recorded while a script runs, and runs after it with its
// variables and functions. Only the script itself can set a trap: in a subshell, or in a script that it calls, variables would
// have other values by then, and `rm -rf "$dir"/*` would be another command. There `trap` does nothing.

import { type Command, defineCommand } from "just-bash/browser";
import {
  containsNode,
  makeLiteral,
  commandNameOf,
  type Part,
  type Plugin,
  makeSimpleCommand,
  type SimpleCommand,
  type Statement,
  makeStatement,
  type Word,
  makeWord,
} from "./syntax.ts";

const TRAP = "gsv-trap";
/** Records the variables just before `exit`, after which they are gone. */
const NOTE = "gsv-trap-note";
const REACHED = "gsv-trap-end";
export const TRAP_COMMANDS: readonly string[] = ["trap", TRAP, NOTE, REACHED];

/** Where variables have other values, or are gone afterwards. */
const ISOLATED = new Set(["Subshell", "CommandSubstitution", "ProcessSubstitution"]);
const NO_OUTPUT = { stdout: "", stderr: "", exitCode: 0 };

type Env = Readonly<Record<string, string>>;

/** The traps of one command line. */
export class Traps {
  #action: string | null = null;
  #env: Env = {};
  #envAtExit: Env = {};
  readonly #functions: Statement[] = [];
  #isInner = false;
  #isReached = false;

  /** `trap` stays only where it must do nothing; elsewhere the plugin renames it. */
  readonly commands: readonly Command[] = [
    defineCommand("trap", async () => NO_OUTPUT),
    defineCommand(TRAP, async (args, { env }) => this.#setTrap(args, env)),
    defineCommand(NOTE, async (args, { env, cwd }) => {
      this.#envAtExit = { ...Object.fromEntries(env), PWD: cwd };
      return { ...NO_OUTPUT, stdout: args.join(" ") };
    }),
    defineCommand(REACHED, async () => {
      this.#isReached = true;
      return NO_OUTPUT;
    }),
  ];

  readonly plugin: Plugin = {
    name: TRAP,
    transform: ({ ast }) => {
      const isOuter = !this.#isInner;
      this.#isInner = true;
      if (containsNode(ast, (node) => isCall(node, REACHED)))
        return { ast: { ...ast, statements: [...this.#functions, ...ast.statements] } };
      if (!isOuter || !containsNode(ast, (node) => isCall(node, "trap"))) return { ast };
      rewriteTrapAndExitCalls(ast);
      containsNode(ast, (node) => {
        if (node.type === "FunctionDef") this.#functions.push(makeStatement(node as Parameters<typeof makeStatement>[0]));
        return false;
      });
      return { ast };
    },
  };

  /** The script to run after the main one, with its environment; null if no trap is set. */
  makeExitScript(exitCode: number, env: Env): { script: string; env: Env; cwd: string | undefined } | null {
    if (this.#action === null || this.#action.trim() === "") return null;
    // After `exit`, just-bash returns the variables with which the script started.
    const hasExited = Object.keys(this.#envAtExit).some((name) => !(name in env));
    const finalEnv = { ...this.#env, ...(hasExited ? this.#envAtExit : env) };
    return { script: `(exit ${exitCode})\n${this.#action}\n${REACHED}`, env: finalEnv, cwd: finalEnv.PWD };
  }

  /** Whether the trap ran to its end without `exit`, so that the script's own exit code counts. */
  get hasRunToEnd(): boolean {
    return this.#isReached;
  }

  #setTrap(args: readonly string[], env: ReadonlyMap<string, string>) {
    const [action = "", ...signals] = args[0] === "--" ? args.slice(1) : args;
    if (action === "-p" || args.length === 0)
      return { ...NO_OUTPUT, stdout: this.#action === null ? "" : `trap -- '${this.#action.replaceAll("'", "'\\''")}' EXIT\n` };
    if (signals.some((signal) => /^(?:0|(?:SIG)?EXIT)$/i.test(signal))) {
      this.#action = action === "-" ? null : action;
      this.#env = Object.fromEntries(env);
    }
    return NO_OUTPUT;
  }
}

function rewriteTrapAndExitCalls(node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  const { type, background, commands } = node as { type?: string; background?: boolean; commands?: unknown[] };
  if (ISOLATED.has(type ?? "") || background === true || (type === "Pipeline" && (commands?.length ?? 0) > 1)) return;
  if (isCall(node, "trap")) node.name = makeLiteral(TRAP);
  else if (isCall(node, "exit")) node.args = addNoteToExitArgs(node.args);
  for (const child of Object.values(node)) rewriteTrapAndExitCalls(child);
}

/** Rewrites `exit 3` to `exit $(note)3` and `exit` to `exit $(note $?)`, which only records the variables. */
function addNoteToExitArgs([code, ...others]: readonly Word[]): Word[] {
  const status: Word = makeWord({ type: "ParameterExpansion", parameter: "?", operation: null });
  const note: Part = {
    type: "CommandSubstitution",
    body: { type: "Script", statements: [makeStatement(makeSimpleCommand(NOTE, ...(code === undefined ? [status] : [])))] },
    legacy: false,
  };
  return [makeWord(note, ...(code?.parts ?? [])), ...others];
}

function isCall(node: object, name: string): node is SimpleCommand {
  return (node as { type?: string }).type === "SimpleCommand" && commandNameOf(node as SimpleCommand) === name;
}
