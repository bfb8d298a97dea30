// A command of ours beside just-bash's own: one file in commands/, with its manual in it. What it does to the system it
// does through sys and link, so it can do nothing its caller may not.

import type { ShellCommand, ShellUser } from "../ports/shells.ts";
import type { Terminal } from "./files.ts";
import type { Link } from "./kernel-client.ts";

/** `stdoutKind: "bytes"`: one character is one byte. */
export type Output = { stdout?: string; stderr?: string; exitCode?: number; stdoutKind?: "text" | "bytes" };

export type ExecOptions = { withInput?: boolean; variables?: Readonly<Record<string, string>> };

export type CommandContext = {
  link: Link;
  who: ShellUser;
  host: ShellCommand["host"];
  cwd: string;
  env: ReadonlyMap<string, string>;
  stdin: string;
  /** The standard input as it is. */
  bytes: () => Uint8Array;
  /** A whole file, or `-` for the standard input; what a script has put there (`<(...)`) too. */
  read: (path: string) => Promise<Uint8Array>;
  terminal: Terminal;
  /** Absolute, with `~` and `..` taken out. */
  resolve: (path: string) => string;
  /** Ours. */
  commands: readonly CommandFile[];
  /** Every command there is, by name. */
  programs: () => readonly string[];
  /** Runs another command. Nothing in the words means anything to a shell. */
  exec: (words: readonly string[], options?: ExecOptions) => Promise<Required<Pick<Output, "stdout" | "stderr" | "exitCode">>>;
  /** just-bash's command of the same name. */
  builtin: (args: readonly string[]) => Promise<Output>;
};

export type CommandFile = {
  name: string;
  /** Without the name: `[-R] mode path...`. */
  usage: string;
  /** The first sentence is the summary in lists. */
  doc: string;
  run(context: CommandContext, args: readonly string[]): Promise<Output | string>;
};

export function command(file: CommandFile): CommandFile {
  return file;
}

/** Ends a command with a message in its own name. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** One-letter flags and long ones, told apart from the rest; `--` ends them. */
export function parseFlags(
  args: readonly string[],
  known: Readonly<Record<string, string>>,
): { flags: ReadonlySet<string>; rest: string[] } {
  const flags = new Set<string>();
  const rest: string[] = [];
  let isOver = false;
  for (const arg of args) {
    if (isOver || !arg.startsWith("-") || arg === "-") rest.push(arg);
    else if (arg === "--") isOver = true;
    else if (arg.startsWith("--")) flags.add(known[arg.slice(2)] ?? unknown(arg));
    else for (const letter of arg.slice(1)) flags.add(Object.values(known).includes(letter) ? letter : unknown(`-${letter}`));
  }
  return { flags, rest };
}

function unknown(flag: string): never {
  throw new CommandError(`unknown option ${flag}`, 2);
}
