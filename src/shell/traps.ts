// `trap ... EXIT`, which just-bash does not know. What is to happen at the end is noted while a script runs, and runs
// after it with its variables and functions. Only the script itself can leave such a wish: in a subshell, or in a script
// it calls, the variables would be others by then, and `rm -rf "$dir"/*` another command. There trap does nothing.

import { type Command, defineCommand } from "just-bash/browser";
import {
  holds,
  literal,
  nameOf,
  type Part,
  type Plugin,
  simple,
  type Simple,
  type Statement,
  statement,
  type Word,
  word,
} from "./syntax.ts";

const TRAP = "gsv-trap";
/** Looks at the variables just before `exit`, after which nobody can. */
const NOTE = "gsv-trap-note";
const REACHED = "gsv-trap-end";
export const TRAP_COMMANDS: readonly string[] = ["trap", TRAP, NOTE, REACHED];

/** Where variables are others, or gone afterwards. */
const APART = new Set(["Subshell", "CommandSubstitution", "ProcessSubstitution"]);
const NOTHING = { stdout: "", stderr: "", exitCode: 0 };

type Env = Readonly<Record<string, string>>;

/** Of one command. */
export class Traps {
  #action: string | null = null;
  #env: Env = {};
  #noted: Env = {};
  readonly #functions: Statement[] = [];
  #isInner = false;
  #isReached = false;

  /** `trap` itself is for where it does nothing. */
  readonly commands: readonly Command[] = [
    defineCommand("trap", async () => NOTHING),
    defineCommand(TRAP, async (args, { env }) => this.#set(args, env)),
    defineCommand(NOTE, async (args, { env, cwd }) => {
      this.#noted = { ...Object.fromEntries(env), PWD: cwd };
      return { ...NOTHING, stdout: args.join(" ") };
    }),
    defineCommand(REACHED, async () => {
      this.#isReached = true;
      return NOTHING;
    }),
  ];

  readonly plugin: Plugin = {
    name: TRAP,
    transform: ({ ast }) => {
      const isOuter = !this.#isInner;
      this.#isInner = true;
      if (holds(ast, (node) => isCall(node, REACHED))) return { ast: { ...ast, statements: [...this.#functions, ...ast.statements] } };
      if (!isOuter || !holds(ast, (node) => isCall(node, "trap"))) return { ast };
      rename(ast);
      holds(ast, (node) => {
        if (node.type === "FunctionDef") this.#functions.push(statement(node as Parameters<typeof statement>[0]));
        return false;
      });
      return { ast };
    },
  };

  /** The script that is left to run, with what it needs to know; null where there is none. */
  atEnd(exitCode: number, env: Env): { script: string; env: Env; cwd: string | undefined } | null {
    if (this.#action === null || this.#action.trim() === "") return null;
    // After `exit`, just-bash hands back the variables the script began with.
    const isPast = Object.keys(this.#noted).some((name) => !(name in env));
    const last = { ...this.#env, ...(isPast ? this.#noted : env) };
    return { script: `(exit ${exitCode})\n${this.#action}\n${REACHED}`, env: last, cwd: last.PWD };
  }

  /** Whether what ran at the end ended by itself, so that the script's own code counts. */
  get isReached(): boolean {
    return this.#isReached;
  }

  #set(args: readonly string[], env: ReadonlyMap<string, string>) {
    const [action = "", ...signals] = args[0] === "--" ? args.slice(1) : args;
    if (action === "-p" || args.length === 0)
      return { ...NOTHING, stdout: this.#action === null ? "" : `trap -- '${this.#action.replaceAll("'", "'\\''")}' EXIT\n` };
    if (signals.some((signal) => /^(?:0|(?:SIG)?EXIT)$/i.test(signal))) {
      this.#action = action === "-" ? null : action;
      this.#env = Object.fromEntries(env);
    }
    return NOTHING;
  }
}

function rename(node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  const { type, background, commands } = node as { type?: string; background?: boolean; commands?: unknown[] };
  if (APART.has(type ?? "") || background === true || (type === "Pipeline" && (commands?.length ?? 0) > 1)) return;
  if (isCall(node, "trap")) node.name = literal(TRAP);
  else if (isCall(node, "exit")) node.args = noted(node.args);
  for (const child of Object.values(node)) rename(child);
}

/** `exit 3` as `exit $(note)3`, and `exit` as `exit $(note $?)`: it changes nothing but that somebody has looked. */
function noted([code, ...others]: readonly Word[]): Word[] {
  const status: Word = word({ type: "ParameterExpansion", parameter: "?", operation: null });
  const note: Part = {
    type: "CommandSubstitution",
    body: { type: "Script", statements: [statement(simple(NOTE, ...(code === undefined ? [status] : [])))] },
    legacy: false,
  };
  return [word(note, ...(code?.parts ?? [])), ...others];
}

function isCall(node: object, name: string): node is Simple {
  return (node as { type?: string }).type === "SimpleCommand" && nameOf(node as Simple) === name;
}
