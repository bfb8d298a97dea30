// One command line, run by just-bash over the kernel's files with the caller's environment. Nothing survives from one
// command to the next but files. Whoever calls this does so where a loop without end does no harm.

import { STOPPED, TIMED_OUT, timedOut } from "../hardware/exit.ts";
import type { Exit, ShellCommand } from "../ports/shells.ts";
import type { Terminal } from "./files.ts";
import { Interpreter } from "./interpreter.ts";
import type { ShellLimits } from "./limits.ts";
import type { Ask } from "./kernel-client.ts";

export type Outcome = Exit & { stdout: string; stderr: string };

export async function runCommand(
  command: ShellCommand,
  ask: Ask,
  screen: Terminal,
  limits: ShellLimits,
  signal: AbortSignal,
): Promise<Outcome> {
  // Whoever ends a command that waits for a line does not have to type one.
  const ended = new Promise<null>((resolve) => signal.addEventListener("abort", () => resolve(null), { once: true }));
  const terminal: Terminal = { write: screen.write, line: () => Promise.race([screen.line(), ended]) };
  const interpreter = take(command, limits);
  const started = performance.now();
  const { stdout, stderr: said, exitCode } = await interpreter.run({ command, ask, terminal }, signal);
  if (exitCode === TIMED_OUT && performance.now() - started >= command.timeoutMs)
    return { stdout, stderr: "", ...timedOut(command.timeoutMs) };
  if (exitCode !== TIMED_OUT && !signal.aborted && !leavesSomething(command.input)) putBack(interpreter);
  const stderr = said.replace(ADVICE, "");
  const limit = exitCode === STOPPED ? LIMIT_MET.exec(stderr) : null;
  return { stdout, stderr, exitCode, ...(limit === null ? {} : { error: `Command stopped at a limit: ${limit[1]}` }) };
}

/** just-bash tells its embedder which option to raise; whoever reads this cannot. */
const ADVICE = /,? ?\(?increase executionLimits\.\w+\)?/g;
const LIMIT_MET = /^(?:bash: )?(.*(?:exceed|too many).*)$/m;

/**
 * just-bash forgets variables and functions after a script, and not its options, attributes and aliases; and what was begun
 * in the background may still be under way. An interpreter that may have seen any of it, whatever it hides in, is not
 * used again.
 */
function leavesSomething(script: string): boolean {
  return LASTING.test(script) || BACKGROUND.test(script);
}

/** Words that change the interpreter, or run what is not in the script's own text. */
const LASTING =
  /\b(?:shopt|set|unset|alias|unalias|enable|readonly|declare|typeset|local|export|hash|trap|umask|ulimit|exec|eval|source|bash|sh|env|xargs|command|builtin)\b|(?:^|[\s;&|(])\.[\s/]|(?:^|[;&|(\n])\s*["']?\$/;
const BACKGROUND = /(?<![&<>|])&(?![&>])/;

/** Making one costs more than running a small command. */
const idle: Interpreter[] = [];
const IDLE_MAX = 4;

function take(command: ShellCommand, limits: ShellLimits): Interpreter {
  const at = idle.findIndex((interpreter) => interpreter.fits(command, limits));
  return at === -1 ? new Interpreter(command, limits) : idle.splice(at, 1)[0]!;
}

function putBack(interpreter: Interpreter): void {
  idle.push(interpreter);
  if (idle.length > IDLE_MAX) idle.shift();
}
