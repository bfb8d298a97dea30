// A command that we add to those of just-bash: one file in commands/, which includes its manual. It reaches the system only
// through `link`, so it can do nothing that its caller may not.

import type { ShellCommand, ShellUser } from "../ports/shells.ts";
import type { Terminal } from "./files.ts";
import type { KernelClient } from "./kernel-client.ts";

/** `stdoutKind: "bytes"`: one character is one byte. */
export type Output = { stdout?: string; stderr?: string; exitCode?: number; stdoutKind?: "text" | "bytes" };

export type ExecOptions = { withInput?: boolean; variables?: Readonly<Record<string, string>> };

export type CommandContext = {
  link: KernelClient;
  who: ShellUser;
  host: ShellCommand["host"];
  cwd: string;
  env: ReadonlyMap<string, string>;
  stdin: string;
  /** The standard input as bytes. */
  stdinBytes: () => Uint8Array;
  /** Reads a whole file, or the standard input for `-`. Also reads what a script passes with `<(...)`. */
  read: (path: string) => Promise<Uint8Array>;
  terminal: Terminal;
  /** Makes a path absolute and resolves `~` and `..`. */
  resolve: (path: string) => string;
  /** The commands that we add to those of just-bash. */
  commands: readonly CommandFile[];
  /** The names of all commands. */
  commandNames: () => readonly string[];
  /** Runs another command. The words are quoted, so a shell interprets nothing in them. */
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

export function defineCommandFile(file: CommandFile): CommandFile {
  return file;
}

/** Ends a command with an error message that starts with its name. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Separates short and long flags from the other arguments; `--` ends the flags. */
export function parseFlags(
  args: readonly string[],
  known: Readonly<Record<string, string>>,
): { flags: ReadonlySet<string>; rest: string[] } {
  const flags = new Set<string>();
  const rest: string[] = [];
  let isAfterFlags = false;
  for (const arg of args) {
    if (isAfterFlags || !arg.startsWith("-") || arg === "-") rest.push(arg);
    else if (arg === "--") isAfterFlags = true;
    else if (arg.startsWith("--")) flags.add(known[arg.slice(2)] ?? failUnknownFlag(arg));
    else for (const letter of arg.slice(1)) flags.add(Object.values(known).includes(letter) ? letter : failUnknownFlag(`-${letter}`));
  }
  return { flags, rest };
}

function failUnknownFlag(flag: string): never {
  throw new CommandError(`unknown option ${flag}`, 2);
}
