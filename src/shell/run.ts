// Runs one command line in just-bash, with the kernel's files and the caller's environment. Only files survive from one
// command to the next. The host must call this where an endless loop does no harm.

import { STOPPED, TIMED_OUT, makeTimeoutExit } from "../hardware/exit.ts";
import type { Exit, ShellCommand } from "../ports/shells.ts";
import type { Terminal } from "./files.ts";
import { Interpreter } from "./interpreter.ts";
import type { ShellLimits } from "./limits.ts";
import type { AskKernel } from "./kernel-client.ts";

export type Outcome = Exit & { stdout: string; stderr: string };

export async function runCommand(
  command: ShellCommand,
  ask: AskKernel,
  screen: Terminal,
  limits: ShellLimits,
  signal: AbortSignal,
): Promise<Outcome> {
  // A command that waits for a line can be ended without typing one.
  const aborted = new Promise<null>((resolve) => signal.addEventListener("abort", () => resolve(null), { once: true }));
  const terminal: Terminal = { write: screen.write, readLine: () => Promise.race([screen.readLine(), aborted]) };
  const interpreter = takeInterpreter(command, limits);
  const started = performance.now();
  const { stdout, stderr: rawStderr, exitCode } = await interpreter.run({ command, ask, terminal }, signal);
  if (exitCode === TIMED_OUT && performance.now() - started >= command.timeoutMs)
    return { stdout, stderr: "", ...makeTimeoutExit(command.timeoutMs) };
  if (exitCode !== TIMED_OUT && !signal.aborted && !mayLeaveState(command.input)) returnInterpreter(interpreter);
  const stderr = rawStderr.replace(ADVICE, "");
  const limit = exitCode === STOPPED ? LIMIT_MESSAGE.exec(stderr) : null;
  return { stdout, stderr, exitCode, ...(limit === null ? {} : { error: `Command stopped at a limit: ${limit[1]}` }) };
}

/** just-bash names the option that its embedder should raise; the reader of the message cannot. */
const ADVICE = /,? ?\(?increase executionLimits\.\w+\)?/g;
const LIMIT_MESSAGE = /^(?:bash: )?(.*(?:exceed|too many).*)$/m;

/**
 * After a script, just-bash resets variables and functions, but not options, attributes and aliases; and background commands
 * may still run. An interpreter whose script may have used any of these, even indirectly, is not reused.
 */
function mayLeaveState(script: string): boolean {
  return STATEFUL.test(script) || BACKGROUND.test(script);
}

/** Words that change the interpreter or run code that is not in the script's own text. */
const STATEFUL =
  /\b(?:shopt|set|unset|alias|unalias|enable|readonly|declare|typeset|local|export|hash|trap|umask|ulimit|exec|eval|source|bash|sh|env|xargs|command|builtin)\b|(?:^|[\s;&|(])\.[\s/]|(?:^|[;&|(\n])\s*["']?\$/;
const BACKGROUND = /(?<![&<>|])&(?![&>])/;

/** A pool, because creating an interpreter costs more than running a small command. */
const idle: Interpreter[] = [];
const IDLE_MAX = 4;

function takeInterpreter(command: ShellCommand, limits: ShellLimits): Interpreter {
  const at = idle.findIndex((interpreter) => interpreter.fits(command, limits));
  return at === -1 ? new Interpreter(command, limits) : idle.splice(at, 1)[0]!;
}

function returnInterpreter(interpreter: Interpreter): void {
  idle.push(interpreter);
  if (idle.length > IDLE_MAX) idle.shift();
}
