// Shells inside the shell: `bash -eu script.sh`, `sh -c`, `bash -n`, and a script that is called by its path. just-bash supports
// bash with a file or -c; other options become `set` commands at the start of the script.

import { Bash } from "just-bash/browser";
import { FileError } from "../hardware/filesystem.ts";
import { type CommandContext, type CommandFile, CommandError, type Output } from "./command.ts";

const IGNORED = new Set(["--norc", "--noprofile", "--login", "-l", "-i", "--posix"]);

export async function runInnerShell(context: CommandContext, args: readonly string[]): Promise<Output> {
  const options: string[] = [];
  let [isCommand, isCheck] = [false, false];
  let at = 0;
  for (; at < args.length && /^[-+]./.test(args[at]!); at++) {
    const arg = args[at]!;
    if (IGNORED.has(arg)) continue;
    if (arg === "--help" || arg === "--version") return context.builtin(args);
    if (arg === "--") {
      at++;
      break;
    }
    const letters = arg.slice(1);
    isCommand ||= letters.includes("c");
    isCheck ||= letters.includes("n");
    const setOptions = letters.replace(/[cnsli]/g, "");
    if (setOptions.endsWith("o")) options.push(`set ${arg[0]}${setOptions} ${args[++at] ?? ""}`);
    else if (setOptions !== "") options.push(`set ${arg[0]}${setOptions}`);
  }
  const [first, ...rest] = args.slice(at);
  if (first === undefined && !isCommand && !isCheck) return context.builtin([]);
  const text = isCommand ? (first ?? "") : new TextDecoder().decode(await context.read(first ?? "-").catch(rethrowAsNotFound));
  if (isCheck) return checkSyntax(first ?? "bash", text);
  const name = isCommand ? rest : [first ?? "bash", ...rest];
  return context.builtin(["-c", [...options, text].join(options.length === 0 ? "" : "\n"), ...name]);
}

export const RUN = "gsv-run";

/** Inserted before the path of a script that is called by its path. */
export const runFile: CommandFile = {
  name: RUN,
  usage: "path [word...]",
  doc: "Run a script.",
  async run(context, args) {
    const [path = "", ...rest] = args;
    const stat = await context.link.stat(context.resolve(path)).catch((error: unknown) => {
      if (!(error instanceof FileError)) throw error;
      return error.code;
    });
    if (typeof stat === "string")
      return makeFailureOutput(path, stat === "ENOENT" ? "No such file or directory" : "Permission denied", stat === "ENOENT" ? 127 : 126);
    if (stat.kind === "directory") return makeFailureOutput(path, "Is a directory", 126);
    if ((stat.mode & 0o111) === 0) return makeFailureOutput(path, "Permission denied", 126);
    return context.exec(["bash", path, ...rest], { withInput: true });
  },
};

function makeFailureOutput(path: string, why: string, exitCode: number): Output {
  return { stderr: `bash: ${path}: ${why}\n`, exitCode };
}

function checkSyntax(name: string, text: string): Output {
  try {
    new Bash().transform(text);
    return {};
  } catch (error) {
    return { stderr: `${name}: ${(error as Error).message}\n`, exitCode: 2 };
  }
}

function rethrowAsNotFound(error: unknown): never {
  throw error instanceof CommandError ? new CommandError(error.message, 127) : error;
}
