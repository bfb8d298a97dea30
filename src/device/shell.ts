// A machine's real shell. Each command is its own process group, which outlives the socket it was requested through and lives
// until it exits or is ended.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { NOT_STARTED, makeTimeoutExit } from "../hardware/exit.ts";
import { OpError } from "../hardware/outcome.ts";
import { type SessionLimits, Sessions, type Sink, type SpawnedCommand } from "../hardware/sessions.ts";
import type { Shell, ShellStart } from "../hardware/shell.ts";
import { sleep } from "../lib/sleep.ts";
import type { Exit, PollOptions, SendOutcome, CommandInput, SessionInfo, PollResult } from "../ports/shells.ts";
import type { MachineFiles } from "./files.ts";
import { GRACE_MS, signalGroup, exitBySignal, signalNumber } from "./groups.ts";
import { type Program, makeShellProgram } from "./program.ts";
import { loadPty, spawnPtyCommand } from "./pty.ts";

export type MachineShellOptions = {
  files: MachineFiles;
  env: Record<string, string>;
  /** How long a call waits before it answers that the command is still running. */
  waitMs?: number;
  /** Called for every command. */
  onStart?: (sessionId: string, done: Promise<Exit>) => void;
};

const WAIT_MS = 5_000;
/** Well below the gateway's timeout for a device. */
const WAIT_MS_MAX = 30_000;
const OUTPUT_BYTES_MAX = 256 * 1024;
/** A user who returns the next day can still read how it ended. */
const LIMITS: SessionLimits = { running: 16, ended: 16, keepMs: 24 * 60 * 60 * 1000 };
/** All sessions of a device belong to its owner; the gateway knows who requested each. */
const OWNER = 0;
/** A background process may hold the output open after the command itself has exited. */
const LAST_OUTPUT_MS = 100;
const LAST_CHECKS_MAX = 20;
/** More output than a pipe can hold no longer comes from the command itself, even for a follower. */
const LAST_CHARS_MAX = 4 * 1024 * 1024;
const END_OF_INPUT = "\u0004";

export class MachineShell implements Shell {
  readonly #options: MachineShellOptions;
  readonly #sessions = new Sessions({ newId: randomUUID, now: () => Date.now(), sleep }, LIMITS);

  constructor(options: MachineShellOptions) {
    this.#options = options;
  }

  get waitMs(): number {
    return this.#options.waitMs ?? WAIT_MS;
  }

  get waitMsMax(): number {
    return Math.max(this.waitMs, WAIT_MS_MAX);
  }

  async start({ input, cwd, timeoutMs, tty }: ShellStart): Promise<string> {
    const { files, env } = this.#options;
    const directory = files.resolve(cwd ?? ".");
    if ((await files.stat(directory)).kind !== "directory") throw new OpError(`cwd is not a directory: ${directory}`);
    const program = makeShellProgram(process.platform, env, input);
    const about = { command: input.trim() === "" ? program.file : input, cwd: directory, outputBytesMax: OUTPUT_BYTES_MAX };
    const pty = tty === undefined ? null : await loadPty();
    let done: Promise<Exit> | undefined;
    const spawn = (sink: Sink): SpawnedCommand => {
      const spawned =
        pty === null || tty === undefined
          ? spawnPipeCommand(program, directory, env, timeoutMs, sink)
          : spawnPtyCommand(pty, { program, cwd: directory, env, size: tty, timeoutMs }, sink);
      done = spawned.done;
      return spawned;
    };
    const sessionId = this.#sessions.start(OWNER, pty === null ? about : { ...about, tty: true }, spawn);
    if (done !== undefined) this.#options.onStart?.(sessionId, done);
    return sessionId;
  }

  wait(sessionId: string, look: PollOptions, signal: AbortSignal): Promise<PollResult | null> {
    return this.#sessions.wait(OWNER, sessionId, look, signal);
  }

  send(sessionId: string, sent: CommandInput, ms: number): Promise<SendOutcome> {
    return this.#sessions.send(OWNER, sessionId, sent, ms);
  }

  end(sessionId: string, why: string): Promise<void> {
    return this.#sessions.end(OWNER, sessionId, why);
  }

  async list(): Promise<SessionInfo[]> {
    return this.#sessions.list(OWNER);
  }

  endAll(why: string): Promise<void> {
    return this.#sessions.endAll(why);
  }
}

function spawnPipeCommand(
  program: Program,
  cwd: string,
  env: Record<string, string>,
  timeoutMs: number | undefined,
  sink: Sink,
): SpawnedCommand {
  const child = spawn(program.file, program.args, { cwd, env, detached: process.platform !== "win32", windowsHide: true });
  const { pid, stdin, stdout, stderr } = child;
  let forcedExit: Exit | null = null;
  /** Set when it has exited: waits for its last output. */
  let awaitOutput: (() => void) | null = null;
  let isPaused = false;
  const stop = (exit: Exit, first: NodeJS.Signals) => {
    forcedExit ??= exit;
    signalGroup(pid, first);
    setTimeout(() => signalGroup(pid, "SIGTERM"), GRACE_MS / 4).unref();
    setTimeout(() => signalGroup(pid, "SIGKILL"), GRACE_MS).unref();
  };
  const deadline = timeoutMs === undefined ? undefined : setTimeout(() => stop(makeTimeoutExit(timeoutMs), "SIGTERM"), timeoutMs);
  let charsRead = 0;
  // Reads explicitly, because Node resumes paused streams when the process exits.
  const next = (name: "stdout" | "stderr") => (isPaused ? null : (child[name].read() as string | null));
  const read = (name: "stdout" | "stderr") => {
    for (let text = next(name); text !== null; text = next(name)) {
      charsRead += text.length;
      sink.onOutput(name, text);
    }
  };
  stdout.setEncoding("utf8").on("readable", () => read("stdout"));
  stderr.setEncoding("utf8").on("readable", () => read("stderr"));
  // Writing to a command that has closed its input fails; that is no error.
  stdin.on("error", () => {});
  const done = new Promise<Exit>((resolve) => {
    child.once("error", (error) => resolve({ exitCode: NOT_STARTED, error: `The shell could not be started: ${error.message}` }));
    child.once("exit", (code, signal) => {
      clearTimeout(deadline);
      const exit = forcedExit ?? (signal === null ? { exitCode: code ?? 1 } : exitBySignal(signalNumber(signal)));
      child.once("close", () => resolve(exit));
      // Waits as long as output arrives, within limits: on a busy machine it is read late.
      const charsMax = charsRead + LAST_CHARS_MAX;
      let checks = 0;
      let timer: NodeJS.Timeout | undefined;
      const check = (before: number) => {
        // `resume` waits again.
        if (isPaused) return;
        if (charsRead > before && ++checks < LAST_CHECKS_MAX) awaitOutput?.();
        else resolve(exit);
      };
      awaitOutput = () => {
        clearTimeout(timer);
        if (charsRead > charsMax) return resolve(exit);
        const before = charsRead;
        timer = setTimeout(() => setImmediate(check, before), LAST_OUTPUT_MS);
      };
      if (!isPaused) awaitOutput();
    });
  });
  return {
    done,
    pid,
    write: (text) => writeInput(child.stdin, text),
    end: (exit) => stop(exit, "SIGINT"),
    signal: (signal) => signalGroup(pid, `SIG${signal}`),
    pause: () => {
      isPaused = true;
    },
    resume: () => {
      isPaused = false;
      read("stdout");
      read("stderr");
      if (!isPaused) awaitOutput?.();
    },
  };
}

/** Resolves when the text was accepted. Text after the end of input is dropped. */
function writeInput(stdin: NodeJS.WritableStream, text: string): Promise<void> {
  const at = text.indexOf(END_OF_INPUT);
  return new Promise((resolve) => {
    if (!stdin.writable) return resolve();
    stdin.write(at === -1 ? text : text.slice(0, at), () => resolve());
    if (at !== -1) stdin.end();
  });
}
