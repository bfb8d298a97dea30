// shell.exec: starts a command, or polls and feeds one that is running. A command that outlives the wait is no failure:
// the answer says `running` and names the session to ask again.

import type { SessionState } from "../ports/shells.ts";
import type { Machine } from "./filesystem.ts";
import { outcome } from "./outcome.ts";
import type { Shell } from "./shell.ts";

export type ExecArgs = {
  input: string;
  cwd?: string | undefined;
  sessionId?: string | undefined;
  timeout?: number | undefined;
  wait?: number | undefined;
  streams?: boolean | undefined;
};

export type ExecResult =
  | ({ status: "completed"; exitCode: number } & Output)
  | ({ status: "running"; sessionId: string } & Output)
  | ({ status: "failed"; error: string; exitCode?: number; sessionId?: string } & Output);

type Output = { output: string; truncated?: boolean; stdout?: string; stderr?: string };

/** What a terminal sends for Ctrl-C: ends the command. */
const INTERRUPT = "\u0003";

export async function execCommand(machine: Machine, args: ExecArgs): Promise<ExecResult> {
  const result = await outcome<ExecResult>(machine.files, () =>
    args.sessionId === undefined ? start(machine, args) : go(machine, args, args.sessionId),
  );
  return "status" in result ? result : failed(result.error);
}

async function start({ shell, signal }: Machine, args: ExecArgs): Promise<ExecResult> {
  if (args.input.trim() === "") return failed("input must not be empty");
  const sessionId = await shell.start({ input: args.input, cwd: args.cwd, timeoutMs: args.timeout });
  const state = await shell.wait(sessionId, waitMs(shell, args));
  // Nobody was told of this session, so nobody could ever ask for it.
  if (signal.aborted) await shell.end(sessionId, "the caller went away");
  return resultOf(state, sessionId, args);
}

async function go({ shell }: Machine, args: ExecArgs, sessionId: string): Promise<ExecResult> {
  const { input } = args;
  if (input.includes(INTERRUPT)) await shell.end(sessionId, "Interrupted");
  else if (input !== "" && !(await shell.write(sessionId, input))) return missing(sessionId);
  return resultOf(await shell.wait(sessionId, waitMs(shell, args)), sessionId, args);
}

/** Who shows output as it comes asks more often than who only wants the end. */
function waitMs(shell: Shell, { wait }: ExecArgs): number {
  return Math.min(wait ?? shell.waitMs, shell.waitMs);
}

function resultOf(state: SessionState | null, sessionId: string, { streams }: ExecArgs): ExecResult {
  if (state === null) return missing(sessionId);
  const { stdout, stderr, exit } = state;
  const output: Output = {
    output: stdout + stderr,
    ...(state.truncated ? { truncated: true } : {}),
    ...(streams ? { stdout, stderr } : {}),
  };
  if (exit === null) return { status: "running", sessionId, ...output };
  const { exitCode, error } = exit;
  if (error !== undefined) return { status: "failed", error, exitCode, ...output };
  if (exitCode === 0) return { status: "completed", exitCode, ...output };
  return { status: "failed", error: `Command exited with code ${exitCode}`, exitCode, ...output };
}

function missing(sessionId: string): ExecResult {
  return failed(`No such session: ${sessionId}. It has ended and been told of, or was never yours: start the command again`);
}

function failed(error: string): ExecResult {
  return { status: "failed", output: "", error };
}
