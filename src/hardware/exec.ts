// shell.exec: starts a command, or polls and feeds a running one. A command that outlives the wait is no failure: the answer says
// `running` and names the session to poll. shell.list: lists the sessions that can be polled.

import type { CommandInput, SessionInfo, PollResult, SignalName, TerminalSize } from "../ports/shells.ts";
import type { Machine } from "./filesystem.ts";
import { catchFailures } from "./outcome.ts";
import type { Shell } from "./shell.ts";

export type ExecArgs = {
  input: string;
  cwd?: string | undefined;
  sessionId?: string | undefined;
  timeout?: number | undefined;
  wait?: number | undefined;
  until?: "end" | "output" | "sent" | undefined;
  after?: number | undefined;
  tty?: TerminalSize | undefined;
  resize?: TerminalSize | undefined;
  signal?: SignalName | undefined;
  streams?: boolean | undefined;
};

export type ExecResult =
  | ({ status: "completed"; exitCode: number } & Output)
  | ({ status: "running"; sessionId: string; wantsInput?: boolean } & Output)
  | ({ status: "failed"; error: string; exitCode?: number; sessionId?: string } & Output);

/** The arguments as received: older clients' names beside our own. */
export type GivenExecArgs = ExecArgs & { background?: boolean | undefined; yieldMs?: number | undefined };

type Output = { output: string; truncated?: boolean; stdout?: string; stderr?: string; part?: number };

const YIELD_MS_MIN = 250;
const YIELD_MS_MAX = 30_000;

export async function execCommand(machine: Machine, given: GivenExecArgs): Promise<ExecResult> {
  const args = translateArgs(given);
  const result = await catchFailures<ExecResult>(machine.files, () =>
    args.sessionId === undefined ? startCommand(machine, args) : continueCommand(machine, args, args.sessionId),
  );
  return "status" in result ? result : makeFailedResult(result.error);
}

/** Runs on every target, because each gets the client's original arguments. If both names are given, ours count. */
function translateArgs({ background, yieldMs, ...args }: GivenExecArgs): ExecArgs {
  const isStart = args.sessionId === undefined;
  return {
    ...args,
    timeout: args.timeout === 0 ? undefined : args.timeout,
    wait: args.wait ?? (yieldMs === undefined ? undefined : Math.min(YIELD_MS_MAX, Math.max(YIELD_MS_MIN, yieldMs))),
    until: args.until ?? (background === true && isStart ? "sent" : undefined),
  };
}

export async function listSessions({ shell }: Machine): Promise<{ sessions: SessionInfo[] }> {
  return { sessions: await shell.list() };
}

async function startCommand({ shell, signal }: Machine, args: ExecArgs): Promise<ExecResult> {
  const { input, cwd, timeout: timeoutMs, tty } = args;
  if (args.signal !== undefined || args.resize !== undefined)
    return makeFailedResult("signal and resize are for a running command: give its sessionId");
  if (input.trim() === "" && tty === undefined) return makeFailedResult("input must not be empty");
  if (signal.aborted) return makeFailedResult("The call was cancelled before the command started");
  const sessionId = await shell.start({ input, cwd, timeoutMs, tty });
  if (args.until === "sent") return { status: "running", sessionId, output: "" };
  const state = await poll(shell, sessionId, args, signal);
  if (!signal.aborted) return toExecResult(state, sessionId, args);
  // Nobody knows this session's id, so nobody could ever poll it.
  await shell.end(sessionId, "The call was cancelled");
  return toExecResult(await poll(shell, sessionId, { ...args, wait: 0 }, signal), sessionId, args);
}

async function continueCommand({ shell, signal }: Machine, args: ExecArgs, sessionId: string): Promise<ExecResult> {
  if (args.tty !== undefined) return makeFailedResult("tty applies only when a command is started: to change the size, give resize");
  for (const sent of toCommandInputs(args)) {
    const outcome = await shell.send(sessionId, sent, Math.min(args.wait ?? shell.waitMs, shell.waitMs));
    if (outcome === "missing") return makeMissingSessionResult(sessionId);
    if (outcome === "unable") return { ...makeFailedResult(unableMessage(sent)), sessionId };
    // Otherwise the poll reports how it ended.
    if (outcome === "ended" && args.until === "sent")
      return { ...makeFailedResult("The command has ended: poll it once more, with an empty input, for its result"), sessionId };
  }
  if (args.until === "sent") return { status: "running", sessionId, output: "" };
  return toExecResult(await poll(shell, sessionId, args, signal), sessionId, args);
}

function toCommandInputs({ input, resize, signal, until }: ExecArgs): CommandInput[] {
  const inputs: CommandInput[] = [];
  if (resize !== undefined) inputs.push({ resize });
  if (input !== "" || until === "sent") inputs.push({ text: input });
  if (signal !== undefined) inputs.push({ signal });
  return inputs;
}

function unableMessage(sent: CommandInput): string {
  if ("signal" in sent) return `Commands on the gateway do not support SIG${sent.signal}: INT, TERM, KILL, HUP and QUIT end them`;
  return "This command has no terminal to resize: give tty when you start it";
}

function poll(shell: Shell, sessionId: string, args: ExecArgs, signal: AbortSignal): Promise<PollResult | null> {
  const until = args.until === "output" ? "output" : "end";
  return shell.wait(sessionId, { ms: waitMs(shell, args), until, after: args.after }, signal);
}

/** Callers that show live output poll more often than those that only want the end. */
function waitMs(shell: Shell, { wait }: ExecArgs): number {
  return Math.min(wait ?? shell.waitMs, shell.waitMsMax);
}

function toExecResult(state: PollResult | null, sessionId: string, { streams }: ExecArgs): ExecResult {
  if (state === null) return makeMissingSessionResult(sessionId);
  const { stdout, stderr, exit, part } = state;
  const output: Output = {
    output: stdout + stderr,
    ...(state.truncated ? { truncated: true } : {}),
    ...(streams ? { stdout, stderr } : {}),
    ...(part === undefined ? {} : { part }),
  };
  if (exit === null) return { status: "running", sessionId, ...(state.wantsInput ? { wantsInput: true } : {}), ...output };
  const { exitCode, error } = exit;
  if (error !== undefined) return { status: "failed", error, exitCode, ...output };
  if (exitCode === 0) return { status: "completed", exitCode, ...output };
  return { status: "failed", error: `Command exited with code ${exitCode}`, exitCode, ...output };
}

function makeMissingSessionResult(sessionId: string): ExecResult {
  return makeFailedResult(
    `No such session: ${sessionId}. It has ended and its result was read, or it was never yours: start the command again`,
  );
}

function makeFailedResult(error: string): ExecResult & { status: "failed" } {
  return { status: "failed", output: "", error };
}
