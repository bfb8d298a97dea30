// gsv run: runs one command on a target. Passes our standard input to it, prints its output, and exits with its exit code.

import { fstatSync } from "node:fs";
import type { Client } from "../../client/client.ts";
import { readStdinChunk, readStdinRest } from "../terminal/ask.ts";
import { INTERRUPTED } from "../../hardware/exit.ts";
import { attach } from "../shell/attach.ts";
import { type Command, END_OF_INPUT, INTERRUPT, RunningCommand } from "../shell/exec.ts";
import { Problem } from "../terminal/problem.ts";
import { joinCommandLine } from "../../lib/quote.ts";
import { Screen } from "../terminal/screen.ts";
import { type Globals, withClient } from "../session/session.ts";
import { printNote, printJson } from "../terminal/terminal.ts";

type Flags = Globals & { target?: string; cwd?: string; timeout?: string; tty?: boolean };

/** Standard input is sent in pieces of this size, so that a command that reads slowly is not flooded. */
const PIECE_CHARS = 64 * 1024;

export async function run(flags: Flags, words: readonly string[]): Promise<number> {
  if (words.length === 0 && process.stdin.isTTY) throw new Problem("No command: write gsv run -- COMMAND, or use gsv shell for a prompt");
  return runOnTarget(flags, words);
}

/** Without words, runs the script on standard input. */
export async function runOnTarget(flags: Flags, words: readonly string[]): Promise<number> {
  const timeout = flags.timeout === undefined ? undefined : parseTimeout(flags.timeout);
  return withClient(flags, async (client) => {
    const isScript = words.length === 0;
    // Read after the login, because a password on standard input comes before the script.
    const input = isScript ? await readStdinRest() : joinCommandLine(words);
    if (input.trim() === "") return 0;
    const { target, cwd } = flags;
    const command = {
      input,
      ...(target === undefined ? {} : { target }),
      ...(cwd === undefined ? {} : { cwd }),
      ...(timeout === undefined ? {} : { timeout }),
    };
    if (flags.tty) {
      const outcome = await attach(client, command);
      if ("error" in outcome) throw new Problem(outcome.error);
      return outcome.exitCode;
    }
    return runToEnd(client, command, { json: flags.json === true, sendsInput: !isScript });
  });
}

/** Prints its output and returns its exit code. */
export async function runToEnd(
  client: Client,
  command: Command,
  { json, sendsInput }: { json: boolean; sendsInput: boolean },
): Promise<number> {
  // A command outlives the connection that started it, so the client reconnects.
  client.keepConnected();
  const output = { stdout: "", stderr: "" };
  const screens = { stdout: new Screen(process.stdout), stderr: new Screen(process.stderr) };
  const running = new RunningCommand(client, command, (stream, text) => {
    if (json) output[stream] += text;
    else return screens[stream].write(text);
  });
  running.onRemark = (remark) => printNote(`gsv: ${remark}`);
  const interrupt = () => running.interrupt();
  process.on("SIGINT", interrupt);
  if (sendsInput) void sendInput(running);
  else void running.write(END_OF_INPUT);
  try {
    const { exitCode = 1, error } = await running.done;
    if (!json) Object.values(screens).forEach((screen) => screen.end());
    const { isTruncated: truncated } = running;
    if (json) printJson({ exitCode, ...output, ...(error === undefined ? {} : { error }), ...(truncated ? { truncated } : {}) });
    else if (truncated) printNote("gsv: some output is missing, because it came too fast: write it to a file instead");
    if (!json && error !== undefined && exitCode !== INTERRUPTED) printNote(`gsv: ${error}`);
    return exitCode;
  } finally {
    process.off("SIGINT", interrupt);
    // The program does not wait for input that nobody has typed.
    process.stdin.unref?.();
  }
}

/** Sends a terminal's lines as they are typed, or a pipe's content piece by piece, and then the end of input. */
async function sendInput(running: RunningCommand): Promise<void> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  for (let part = hasInput() ? await readStdinChunk() : null; part !== null && !running.isOver; part = await readStdinChunk()) {
    const text = decoder.decode(part, { stream: true });
    if (text.includes(INTERRUPT) || text.includes(END_OF_INPUT)) {
      printNote("gsv: standard input contains a Ctrl-C or Ctrl-D character, which cannot be sent as data: the command is interrupted");
      return running.interrupt();
    }
    for (let at = 0; at < text.length; at += PIECE_CHARS) await running.write(text.slice(at, at + PIECE_CHARS));
  }
  await running.write(END_OF_INPUT);
}

/** False if standard input is closed or /dev/null. */
function hasInput(): boolean {
  try {
    const stat = fstatSync(0);
    return process.stdin.isTTY || stat.isFIFO() || stat.isFile() || stat.isSocket();
  } catch {
    return false;
  }
}

function parseTimeout(text: string): number {
  const seconds = Number(text);
  if (!Number.isFinite(seconds) || seconds <= 0) throw new Problem(`--timeout must be a number of seconds, such as 20: ${text}`);
  return Math.max(1, Math.round(seconds * 1_000));
}
