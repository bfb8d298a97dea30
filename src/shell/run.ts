// One command line, run by just-bash over the kernel's files with the caller's environment. Nothing survives from one
// command to the next but files. Whoever calls this does so where a loop without end does no harm.

import { Bash, type Command, defineCommand, getCommandNames } from "just-bash/browser";
import { FileError } from "../hardware/filesystem.ts";
import { SysError } from "../lib/sys-error.ts";
import type { Exit, ShellCommand } from "../ports/shells.ts";
import { resolvePath } from "../vfs/path.ts";
import { CommandError, type CommandContext, type CommandFile, type Output } from "./command.ts";
import { shellCommands } from "./commands.table.ts";
import { ShellFiles, type Terminal } from "./files.ts";
import type { ShellLimits } from "./limits.ts";
import { type Ask, Link } from "./link.ts";
import { timedOut } from "./messages.ts";
import { OURS, withOurs } from "./shadowed.ts";
import { onTerminal } from "./terminal.ts";
import { YIELD, yieldCommand, yielding } from "./yielding.ts";

export type Outcome = Exit & { stdout: string; stderr: string };

/** Not in the build of just-bash that runs on both hosts. */
const ABSENT = new Set(["python", "python3", "js-exec", "node", "sqlite3", "tar", "yq", "xan"]);
const TIMED_OUT = 124;
const STOPPED = 126;

export async function runCommand(
  command: ShellCommand,
  ask: Ask,
  screen: Terminal,
  limits: ShellLimits,
  signal: AbortSignal,
): Promise<Outcome> {
  const link = new Link(ask);
  // Whoever ends a command that waits for a line does not have to type one.
  const ended = new Promise<null>((resolve) => signal.addEventListener("abort", () => resolve(null), { once: true }));
  const terminal: Terminal = { write: screen.write, line: () => Promise.race([screen.line(), ended]) };
  const programs = new Set([...programNames(), ...Object.values(OURS), YIELD]);
  const files = new ShellFiles(link, terminal, (name) => programs.has(name));
  const bash = new Bash({
    fs: files,
    cwd: command.cwd,
    commands: getCommandNames().filter((name) => !ABSENT.has(name)) as never,
    customCommands: [...shellCommands.map((file) => adapted(file, command, link, terminal)), ...(limits.givesWay ? [yieldCommand()] : [])],
    fetch: async (url, options = {}) => {
      const { method = "GET", headers = {}, body, timeoutMs } = options;
      const bytes = body === undefined ? undefined : typeof body === "string" ? new TextEncoder().encode(body) : body;
      const response = await link.fetch({
        url,
        method,
        headers: Object.fromEntries(new Headers(headers)),
        ...(bytes === undefined ? {} : { body: bytes }),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      });
      return { ...response, statusText: "" };
    },
    executionLimits: { ...limits.counts, maxExecutionTimeMs: command.timeoutMs },
    // It guards a process that others share; this one's walls are its own thread or object.
    defenseInDepth: false,
    processInfo: { pid: 2, ppid: 1, uid: command.who.uid, gid: command.who.gid },
  });
  bash.registerTransformPlugin(withOurs);
  bash.registerTransformPlugin(onTerminal);
  if (limits.givesWay) bash.registerTransformPlugin(yielding);
  const started = performance.now();
  const {
    stdout,
    stderr: said,
    exitCode,
  } = await bash.exec(command.input, {
    env: { ...command.env },
    replaceEnv: true,
    cwd: command.cwd,
    rawScript: true,
    signal,
  });
  if (exitCode === TIMED_OUT && performance.now() - started >= command.timeoutMs)
    return { stdout, stderr: "", exitCode, error: timedOut(command.timeoutMs) };
  const stderr = files.corrected(said.replace(ADVICE, ""));
  const limit = exitCode === STOPPED ? LIMIT_MET.exec(stderr) : null;
  return { stdout, stderr, exitCode, ...(limit === null ? {} : { error: `Command stopped at a limit: ${limit[1]}` }) };
}

/** Everything that can be called by name. */
export function programNames(): ReadonlySet<string> {
  return new Set([...getCommandNames().filter((name) => !ABSENT.has(name)), "curl", ...shellCommands.map(({ name }) => name)]);
}

/** just-bash tells its embedder which option to raise; whoever reads this cannot. */
const ADVICE = /,? ?\(?increase executionLimits\.\w+\)?/g;
const LIMIT_MET = /^(?:bash: )?(.*(?:exceed|too many).*)$/m;

function adapted(file: CommandFile, { who, host }: ShellCommand, link: Link, terminal: Terminal): Command {
  return defineCommand(OURS[file.name] ?? file.name, async (args, inner) => {
    const context: CommandContext = {
      link,
      who,
      host,
      cwd: inner.cwd,
      env: inner.env,
      stdin: textOf(inner.stdin),
      terminal,
      resolve: (path) => resolvePath(path, { cwd: inner.cwd, home: who.home }),
      commands: shellCommands,
      programs: () => [...programNames()].toSorted(),
      builtin: async (others) => (await inner.origCommand?.([...others])) ?? { stderr: `${file.name}: not available\n`, exitCode: 127 },
    };
    const output = await file.run(context, args).catch((error: unknown) => failure(file, error));
    return result(typeof output === "string" ? { stdout: output } : output);
  });
}

function result({ stdout = "", stderr = "", exitCode = 0, ...rest }: Output) {
  return { ...rest, stdout, stderr, exitCode };
}

function failure({ name, usage }: CommandFile, error: unknown): Output {
  if (error instanceof CommandError)
    return { stderr: `${name}: ${error.message}\n${error.exitCode === 2 ? `usage: ${name} ${usage}\n` : ""}`, exitCode: error.exitCode };
  if (error instanceof SysError) return { stderr: `${name}: ${error.message}\n`, exitCode: 1 };
  if (error instanceof FileError) return { stderr: `${name}: ${error.path}: ${reason(error)}\n`, exitCode: 1 };
  throw error;
}

function reason({ code, message, path }: FileError): string {
  const words: Partial<Record<FileError["code"], string>> = {
    ENOENT: "No such file or directory",
    EACCES: "Permission denied",
    EPERM: "Operation not permitted",
    EISDIR: "Is a directory",
    ENOTDIR: "Not a directory",
  };
  return message === `${code}: ${path}` ? (words[code] ?? code) : message;
}

/** just-bash carries bytes as text of one character each. */
function textOf(stdin: unknown): string {
  return new TextDecoder().decode(Uint8Array.from(stdin as string, (character) => character.charCodeAt(0) & 0xff));
}
