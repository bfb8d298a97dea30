// just-bash with our files, commands and limits. An interpreter belongs to one user and runs one command at a time: its
// requests and output go to the command that is running.

import { Bash, type Command, defineCommand, getCommandNames } from "just-bash/browser";
import { FileError } from "../hardware/filesystem.ts";
import { fromLatin1 } from "../lib/bytes.ts";
import { shellQuote } from "../lib/quote.ts";
import { SysError } from "../lib/sys-error.ts";
import type { ShellCommand } from "../ports/shells.ts";
import { resolvePath } from "../vfs/path.ts";
import { CommandError, type CommandContext, type CommandFile, type Output } from "./command.ts";
import { shellCommands } from "./commands.table.ts";
import { DECODE, makeDecodeCommand, decodePlugin } from "./decoded.ts";
import { REASONS, ShellFiles, type Terminal } from "./files.ts";
import { makeExportedFunctionsPlugin } from "./functions.ts";
import { RUN, runFile } from "./inner.ts";
import type { ShellLimits } from "./limits.ts";
import { type AskKernel, KernelClient } from "./kernel-client.ts";
import { workaroundsPlugin } from "./workarounds.ts";
import { OURS, shadowedPlugin } from "./shadowed.ts";
import type { Plugin } from "./syntax.ts";
import { makeTerminalPlugin } from "./terminal.ts";
import { TRAP_COMMANDS, Traps } from "./traps.ts";
import { YIELD, makeYieldCommand, yieldPlugin } from "./yielding.ts";

export type RunResult = { stdout: string; stderr: string; exitCode: number; env: Record<string, string> };
export type ShellRun = { command: ShellCommand; ask: AskKernel; terminal: Terminal };

/** Not in the build of just-bash that runs on both hosts. */
const ABSENT = new Set(["python", "python3", "js-exec", "node", "sqlite3", "tar", "yq", "xan"]);
const BUILT_IN = getCommandNames().filter((name) => !ABSENT.has(name));
/** All commands that can be called by name. */
export const PROGRAMS: ReadonlySet<string> = new Set([...BUILT_IN, "curl", ...shellCommands.map(({ name }) => name)]);
const CALLABLE: ReadonlySet<string> = new Set([...PROGRAMS, ...Object.values(OURS), RUN, ...TRAP_COMMANDS, DECODE, YIELD]);

export class Interpreter {
  readonly #uid: number;
  readonly #timeoutMs: number;
  readonly #limits: ShellLimits;
  readonly #files: ShellFiles;
  readonly #link: KernelClient;
  readonly #terminal: Terminal;
  readonly #bash: Bash;
  #run: ShellRun | null = null;
  #script = new ScriptState();

  constructor({ who, timeoutMs }: ShellCommand, limits: ShellLimits) {
    this.#uid = who.uid;
    this.#timeoutMs = timeoutMs;
    this.#limits = limits;
    this.#link = new KernelClient((ask) => this.#currentRun.ask(ask));
    this.#terminal = {
      write: (stream, text) => this.#currentRun.terminal.write(stream, text),
      readLine: () => this.#currentRun.terminal.readLine(),
    };
    this.#files = new ShellFiles(this.#link, this.#terminal, (name) => CALLABLE.has(name));
    this.#bash = new Bash({
      fs: this.#files,
      commands: BUILT_IN as never,
      customCommands: [
        ...[...shellCommands, runFile].map((file) => this.#toBashCommand(file)),
        ...TRAP_COMMANDS.map((name) => defineCommand(name, (args, inner) => this.#script.findTrapCommand(name).execute(args, inner))),
        makeDecodeCommand(),
        ...(limits.givesWay ? [makeYieldCommand()] : []),
      ],
      fetch: (url, options) => this.#fetch(url, options),
      executionLimits: { ...limits.counts, maxExecutionTimeMs: timeoutMs },
      // It protects a process that is shared with others; here the thread or Durable Object is the boundary.
      defenseInDepth: false,
      processInfo: { pid: 2, ppid: 1, uid: who.uid, gid: who.gid },
    });
    const plugins = [
      this.#makeScriptPlugin("functions"),
      workaroundsPlugin,
      this.#makeScriptPlugin("traps"),
      shadowedPlugin,
      decodePlugin,
      this.#makeScriptPlugin("terminal"),
      ...(limits.givesWay ? [yieldPlugin] : []),
    ];
    for (const plugin of plugins) this.#bash.registerTransformPlugin(plugin);
  }

  fits({ who, timeoutMs }: ShellCommand, limits: ShellLimits): boolean {
    return who.uid === this.#uid && timeoutMs === this.#timeoutMs && limits === this.#limits;
  }

  async run(run: ShellRun, signal: AbortSignal): Promise<RunResult> {
    const { input, env, cwd } = run.command;
    this.#run = run;
    this.#script = new ScriptState();
    this.#files.clearFailures();
    const exec = (script: string, variables: Readonly<Record<string, string>>, at: string): Promise<RunResult> =>
      this.#bash.exec(script, { env: { ...variables }, replaceEnv: true, cwd: at, rawScript: true, signal }).catch(toFailedRun);
    const mainRun = await exec(input, env, cwd);
    const { traps } = this.#script;
    const exitTrap = traps.makeExitScript(mainRun.exitCode, mainRun.env);
    const trapRun = exitTrap === null || signal.aborted ? null : await exec(exitTrap.script, exitTrap.env, exitTrap.cwd ?? cwd);
    this.#run = null;
    return {
      stdout: mainRun.stdout + (trapRun?.stdout ?? ""),
      stderr: this.#files.correctErrors(mainRun.stderr + (trapRun?.stderr ?? "")),
      exitCode: trapRun === null || traps.hasRunToEnd ? mainRun.exitCode : trapRun.exitCode,
      env: {},
    };
  }

  /** Plugins are registered once, but their state belongs to one command. */
  #makeScriptPlugin(name: "functions" | "traps" | "terminal"): Plugin {
    return { name: `gsv-${name}`, transform: (context) => this.#script.plugins[name].transform(context) };
  }

  get #currentRun(): ShellRun {
    if (this.#run === null) throw new Error("The command has ended");
    return this.#run;
  }

  async #fetch(...[url, options = {}]: Parameters<NonNullable<ConstructorParameters<typeof Bash>[0]>["fetch"] & {}>) {
    const { method = "GET", headers = {}, body, timeoutMs } = options;
    const bytes = body === undefined ? undefined : typeof body === "string" ? new TextEncoder().encode(body) : body;
    const response = await this.#link.fetch({
      url,
      method,
      headers: Object.fromEntries(new Headers(headers)),
      ...(bytes === undefined ? {} : { body: bytes }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
    return { ...response, statusText: "" };
  }

  #toBashCommand(file: CommandFile): Command {
    return defineCommand(OURS[file.name] ?? file.name, async (args, inner) => {
      const { who, host } = this.#currentRun.command;
      const context: CommandContext = {
        link: this.#link,
        who,
        host,
        cwd: inner.cwd,
        env: inner.env,
        stdin: new TextDecoder().decode(toBytes(inner.stdin)),
        stdinBytes: () => toBytes(inner.stdin),
        read: async (path) =>
          path === "-"
            ? toBytes(inner.stdin)
            : inner.fs.readFileBuffer(resolvePath(path, { cwd: inner.cwd, home: who.home })).catch(failWithPath(path)),
        terminal: this.#terminal,
        resolve: (path) => resolvePath(path, { cwd: inner.cwd, home: who.home }),
        commands: shellCommands,
        commandNames: () => [...PROGRAMS].toSorted(),
        exec: async (words, { withInput = false, variables = {} } = {}) => {
          const settings = Object.entries(variables).map(([name, value]) => `${name}=${shellQuote(value)}`);
          const input: unknown = inner.stdin;
          return inner.exec!([...settings, ...words.map(shellQuote)].join(" "), {
            cwd: inner.cwd,
            ...(inner.exportedEnv && { env: inner.exportedEnv }),
            ...(inner.signal && { signal: inner.signal }),
            ...(withInput && { stdin: input as string, stdinKind: "bytes" as const }),
          });
        },
        builtin: async (builtinArgs) =>
          (await inner.origCommand?.([...builtinArgs])) ?? { stderr: `${file.name}: not available\n`, exitCode: 127 },
      };
      const output = await file.run(context, args).catch((error: unknown) => toFailureOutput(file, error));
      return toBashResult(typeof output === "string" ? { stdout: output } : output);
    });
  }
}

/** The state of one script run. */
class ScriptState {
  readonly traps = new Traps();
  readonly plugins: Readonly<Record<"functions" | "traps" | "terminal", Plugin>> = {
    functions: makeExportedFunctionsPlugin(),
    traps: this.traps.plugin,
    terminal: makeTerminalPlugin(),
  };

  findTrapCommand(name: string): Command {
    return this.traps.commands.find((command) => command.name === name)!;
  }
}

/** just-bash throws if a redirection of the last statement fails; output before it is on the terminal already. */
function toFailedRun(error: unknown): RunResult {
  if (!(error instanceof Error) || !("code" in error)) throw error;
  return { stdout: "", stderr: `${error.message}\n`, exitCode: 1, env: {} };
}

function toBashResult({ stdout = "", stderr = "", exitCode = 0, ...rest }: Output) {
  return { ...rest, stdout, stderr, exitCode };
}

function toFailureOutput({ name, usage }: CommandFile, error: unknown): Output {
  if (error instanceof CommandError)
    return { stderr: `${name}: ${error.message}\n${error.exitCode === 2 ? `usage: ${name} ${usage}\n` : ""}`, exitCode: error.exitCode };
  if (error instanceof SysError) return { stderr: `${name}: ${error.message}\n`, exitCode: 1 };
  if (error instanceof FileError) return { stderr: `${name}: ${error.path}: ${reasonOf(error)}\n`, exitCode: 1 };
  throw error;
}

function reasonOf({ code, message, path }: FileError): string {
  return message === `${code}: ${path}` ? (REASONS[code] ?? code) : message;
}

/** just-bash declares the type as opaque; it is a string with one byte per character. */
function toBytes(stdin: unknown): Uint8Array {
  return fromLatin1(stdin as string);
}

/** Turns an error of just-bash's file system into a failure of the command. */
function failWithPath(path: string) {
  return ({ message }: Error): never => {
    const code = /^E[A-Z]+/.exec(message)?.[0] as FileError["code"] | undefined;
    throw new CommandError(`${path}: ${(code && REASONS[code]) ?? message}`);
  };
}
