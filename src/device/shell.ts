// A machine's real shell: each command is a process group of its own, which outlives the socket it was asked for through and
// lives until it ends, or is ended.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { NOT_STARTED, timedOut } from "../hardware/exit.ts";
import { OpError } from "../hardware/outcome.ts";
import { type SessionLimits, Sessions, type Sink, type Spawned } from "../hardware/sessions.ts";
import type { Shell, ShellStart } from "../hardware/shell.ts";
import { sleep } from "../lib/sleep.ts";
import type { Exit, Look, SendOutcome, Sent, SessionInfo, SessionState } from "../ports/shells.ts";
import type { MachineFiles } from "./files.ts";
import { GRACE_MS, signalGroup, signalled, signalNumber } from "./groups.ts";
import { type Program, shellOf } from "./program.ts";
import { loadPty, ptyCommand } from "./pty.ts";

export type MachineShellOptions = {
  files: MachineFiles;
  env: Record<string, string>;
  /** How long a call waits before it answers that the command is still running. */
  waitMs?: number;
  /** Told of every command. */
  onStart?: (sessionId: string, done: Promise<Exit>) => void;
};

const WAIT_MS = 5_000;
/** Well below what the gateway waits for a device. */
const WAIT_MS_MAX = 30_000;
const OUTPUT_BYTES_MAX = 256 * 1024;
/** Who comes back the next day can still read how it ended. */
const LIMITS: SessionLimits = { running: 16, ended: 16, keepMs: 24 * 60 * 60 * 1000 };
/** All sessions of a device are its owner's, whoever asked for them: the gateway knows who did. */
const OWNER = 0;
/** What a command has left running in the background may hold its output open; the command itself is over. */
const LAST_WORDS_MS = 100;
const LAST_LOOKS = 20;
/** More than a pipe can hold is not the command's own any more, however much somebody follows it. */
const LAST_BYTES_MAX = 4 * 1024 * 1024;
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
    const where = files.resolve(cwd ?? ".");
    if ((await files.stat(where)).kind !== "directory") throw new OpError(`cwd is not a directory: ${where}`);
    const program = shellOf(process.platform, env, input);
    const about = { command: input.trim() === "" ? program.file : input, cwd: where, outputBytesMax: OUTPUT_BYTES_MAX };
    const pty = tty === undefined ? null : await loadPty();
    let done: Promise<Exit> | undefined;
    const spawn = (sink: Sink): Spawned => {
      const spawned =
        pty === null || tty === undefined
          ? pipeCommand(program, where, env, timeoutMs, sink)
          : ptyCommand(pty, { program, cwd: where, env, size: tty, timeoutMs }, sink);
      done = spawned.done;
      return spawned;
    };
    const sessionId = this.#sessions.start(OWNER, pty === null ? about : { ...about, tty: true }, spawn);
    if (done !== undefined) this.#options.onStart?.(sessionId, done);
    return sessionId;
  }

  wait(sessionId: string, look: Look, signal: AbortSignal): Promise<SessionState | null> {
    return this.#sessions.wait(OWNER, sessionId, look, signal);
  }

  send(sessionId: string, sent: Sent, ms: number): Promise<SendOutcome> {
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

function pipeCommand(program: Program, cwd: string, env: Record<string, string>, timeoutMs: number | undefined, sink: Sink): Spawned {
  const child = spawn(program.file, program.args, { cwd, env, detached: process.platform !== "win32", windowsHide: true });
  const { pid, stdin, stdout, stderr } = child;
  let end: Exit | null = null;
  /** Set when it has ended: waits for its last words. */
  let listen: (() => void) | null = null;
  let isHeldUp = false;
  const stop = (exit: Exit, first: NodeJS.Signals) => {
    end ??= exit;
    signalGroup(pid, first);
    setTimeout(() => signalGroup(pid, "SIGTERM"), GRACE_MS / 4).unref();
    setTimeout(() => signalGroup(pid, "SIGKILL"), GRACE_MS).unref();
  };
  const deadline = timeoutMs === undefined ? undefined : setTimeout(() => stop(timedOut(timeoutMs), "SIGTERM"), timeoutMs);
  let heard = 0;
  // Read by hand, because Node makes paused streams flow again when the process ends, whoever is held up.
  const next = (name: "stdout" | "stderr") => (isHeldUp ? null : (child[name].read() as string | null));
  const read = (name: "stdout" | "stderr") => {
    for (let text = next(name); text !== null; text = next(name)) {
      heard += text.length;
      sink.output(name, text);
    }
  };
  stdout.setEncoding("utf8").on("readable", () => read("stdout"));
  stderr.setEncoding("utf8").on("readable", () => read("stderr"));
  // A command that has closed its input is told nothing more.
  stdin.on("error", () => {});
  const done = new Promise<Exit>((resolve) => {
    child.once("error", (error) => resolve({ exitCode: NOT_STARTED, error: `The shell could not be started: ${error.message}` }));
    child.once("exit", (code, signal) => {
      clearTimeout(deadline);
      const exit = end ?? (signal === null ? { exitCode: code ?? 1 } : signalled(signalNumber(signal)));
      child.once("close", () => resolve(exit));
      // As long as something comes, within reason: on a busy machine what was said is read late.
      const most = heard + LAST_BYTES_MAX;
      let looks = 0;
      let timer: NodeJS.Timeout | undefined;
      const look = (before: number) => {
        // Whoever lets it go on listens again.
        if (isHeldUp) return;
        if (heard > before && ++looks < LAST_LOOKS) listen?.();
        else resolve(exit);
      };
      listen = () => {
        clearTimeout(timer);
        if (heard > most) return resolve(exit);
        const before = heard;
        timer = setTimeout(() => setImmediate(look, before), LAST_WORDS_MS);
      };
      if (!isHeldUp) listen();
    });
  });
  return {
    done,
    pid,
    write: (text) => fed(child.stdin, text),
    end: (exit) => stop(exit, "SIGINT"),
    signal: (signal) => signalGroup(pid, `SIG${signal}`),
    pause: () => {
      isHeldUp = true;
    },
    resume: () => {
      isHeldUp = false;
      read("stdout");
      read("stderr");
      if (!isHeldUp) listen?.();
    },
  };
}

/** Resolves when it was taken. What comes after the end of input is nobody's. */
function fed(stdin: NodeJS.WritableStream, text: string): Promise<void> {
  const at = text.indexOf(END_OF_INPUT);
  return new Promise((resolve) => {
    if (!stdin.writable) return resolve();
    stdin.write(at === -1 ? text : text.slice(0, at), () => resolve());
    if (at !== -1) stdin.end();
  });
}
