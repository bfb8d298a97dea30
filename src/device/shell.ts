// A machine's real shell: each command is a process group of its own, which outlives the socket it was asked for through.

import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { randomUUID } from "node:crypto";
import { OpError } from "../hardware/outcome.ts";
import { Sessions, type Sink, type Spawned } from "../hardware/sessions.ts";
import type { Shell } from "../hardware/shell.ts";
import { sleep } from "../lib/sleep.ts";
import type { Exit, SessionState } from "../ports/shells.ts";
import type { MachineFiles } from "./files.ts";

export type MachineShellOptions = {
  files: MachineFiles;
  env: Record<string, string>;
  /** How long a call waits before it answers that the command is still running. */
  waitMs?: number;
  /** How long a command may run where nothing is said; 0 for as long as it wants. */
  timeoutMs?: number;
};

const WAIT_MS = 5_000;
const TIMEOUT_MS = 5 * 60_000;
/** Between the polite signal and the one nobody survives. */
const GRACE_MS = 2_000;
const OUTPUT_BYTES_MAX = 200_000;
/** All sessions of a device are its owner's, whoever asked for them: the gateway knows who did. */
const OWNER = 0;

const TIMED_OUT = 124;
const INTERRUPTED = 130;

export class MachineShell implements Shell {
  readonly #options: MachineShellOptions;
  readonly #sessions = new Sessions({ newId: randomUUID, now: () => Date.now(), sleep });

  constructor(options: MachineShellOptions) {
    this.#options = options;
  }

  get waitMs(): number {
    return this.#options.waitMs ?? WAIT_MS;
  }

  async start({ input, cwd, timeoutMs }: Parameters<Shell["start"]>[0]): Promise<string> {
    const { files, env } = this.#options;
    const where = files.resolve(cwd ?? ".");
    if ((await files.stat(where)).kind !== "directory") throw new OpError(`cwd is not a directory: ${where}`);
    const limit = timeoutMs ?? this.#options.timeoutMs ?? TIMEOUT_MS;
    return this.#sessions.start(OWNER, OUTPUT_BYTES_MAX, (sink) => command(input, where, env, limit, sink));
  }

  wait(sessionId: string, ms: number, signal: AbortSignal = new AbortController().signal): Promise<SessionState | null> {
    return this.#sessions.wait(OWNER, sessionId, ms, signal);
  }

  async write(sessionId: string, text: string): Promise<boolean> {
    return this.#sessions.write(OWNER, sessionId, text);
  }

  end(sessionId: string, why: string): Promise<void> {
    return this.#sessions.end(OWNER, sessionId, why);
  }
}

function command(input: string, cwd: string, env: Record<string, string>, timeoutMs: number, sink: Sink): Spawned {
  const [program, ...args] = shellOf(env, input);
  const child = spawn(program!, args, { cwd, env, detached: process.platform !== "win32", windowsHide: true });
  let end: Exit | null = null;
  const stop = (exit: Exit) => {
    end ??= exit;
    signalGroup(child, "SIGTERM");
    setTimeout(() => signalGroup(child, "SIGKILL"), GRACE_MS).unref();
  };
  const deadline =
    timeoutMs === 0
      ? undefined
      : setTimeout(() => stop({ exitCode: TIMED_OUT, error: `Command timed out after ${timeoutMs}ms` }), timeoutMs);
  child.stdout.setEncoding("utf8").on("data", (text: string) => sink.output("stdout", text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => sink.output("stderr", text));
  // A command that has closed its input is told nothing more.
  child.stdin.on("error", () => {});
  const done = new Promise<Exit>((resolve) => {
    child.once("error", (error) => resolve({ exitCode: 127, error: `The shell could not be started: ${error.message}` }));
    // Its output may be held open by what it left running in the background; the command itself is over.
    child.once("exit", (code, signal) => {
      setTimeout(
        () =>
          resolve(
            end ?? {
              exitCode: code ?? 128 + signalNumber(signal),
              ...(signal === null ? {} : { error: `Command was ended by ${signal}` }),
            },
          ),
        20,
      );
    });
  }).finally(() => clearTimeout(deadline));
  return {
    done,
    write: (text) => {
      const at = text.indexOf("\u0004");
      child.stdin.write(at === -1 ? text : text.slice(0, at));
      if (at !== -1) child.stdin.end();
    },
    end: (why) => {
      end ??= { exitCode: INTERRUPTED, error: why };
      signalGroup(child, "SIGINT");
      setTimeout(() => signalGroup(child, "SIGTERM"), GRACE_MS / 4).unref();
      setTimeout(() => signalGroup(child, "SIGKILL"), GRACE_MS).unref();
    },
  };
}

/** The user's own shell as at login, so that what works in a terminal works here. */
function shellOf(env: Record<string, string>, input: string): string[] {
  if (process.platform === "win32") return ["powershell.exe", "-NoLogo", "-NoProfile", "-Command", input];
  const own = env.SHELL ?? "";
  return [isAbsolute(own) && isProgram(own) ? own : "/bin/sh", "-lc", input];
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** With everything it has started. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined || (child.exitCode !== null && process.platform === "win32")) return;
  try {
    if (process.platform === "win32") child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // Gone already.
  }
}

function signalNumber(signal: NodeJS.Signals | null): number {
  return { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }[signal as string] ?? 0;
}
