// Runs a command in its own terminal, with node-pty. That is native code, so it is an optional package, loaded on first use: a
// machine without it can do everything else.

import type * as NodePty from "@lydell/node-pty";
import { OpError } from "../hardware/outcome.ts";
import type { Sink, SpawnedCommand } from "../hardware/sessions.ts";
import type { Exit, TerminalSize } from "../ports/shells.ts";
import { makeTimeoutExit } from "../hardware/exit.ts";
import { GRACE_MS, exitBySignal, signalTerminal } from "./groups.ts";
import type { Program } from "./program.ts";

export type Pty = Pick<typeof NodePty, "spawn">;

const PACKAGE = "@lydell/node-pty";
const VERSION = "1.1.0";
const TERM = "xterm-256color";
/** A command that exits while it is paused would lose its last output, so its exit is polled. */
const EXIT_CHECK_MS = 50;

/** `load` is for tests without the package. */
export async function loadPty(load: () => Promise<unknown> = () => import(PACKAGE)): Promise<Pty> {
  try {
    const loaded = (await load()) as Pty & { default?: Pty };
    return loaded.default ?? loaded;
  } catch {
    throw new OpError(
      `This device does not support terminals. On the device, run npm install ${PACKAGE}@${VERSION} next to the gsv program and restart the device, or omit tty`,
    );
  }
}

export type PtyCommand = { program: Program; cwd: string; env: Record<string, string>; size: TerminalSize; timeoutMs: number | undefined };

export function spawnPtyCommand(pty: Pty, { program, cwd, env, size, timeoutMs }: PtyCommand, sink: Sink): SpawnedCommand {
  const terminal = pty.spawn(program.file, program.args, { name: TERM, ...size, cwd, env: addTerminalVariables(env) });
  const { pid } = terminal;
  let forcedExit: Exit | null = null;
  let exitCheck: NodeJS.Timeout | undefined;
  const stop = (exit: Exit) => {
    forcedExit ??= exit;
    // An interactive shell ignores SIGTERM.
    signalTerminal(pid, "SIGHUP");
    setTimeout(() => signalTerminal(pid, "SIGKILL"), GRACE_MS).unref();
  };
  const resume = () => {
    clearInterval(exitCheck);
    terminal.resume();
  };
  const deadline = timeoutMs === undefined ? undefined : setTimeout(() => stop(makeTimeoutExit(timeoutMs)), timeoutMs);
  terminal.onData((text) => sink.onOutput("stdout", text));
  const done = new Promise<Exit>((resolve) =>
    terminal.onExit(({ exitCode, signal }) => {
      clearTimeout(deadline);
      clearInterval(exitCheck);
      resolve(forcedExit ?? (signal === undefined || signal === 0 ? { exitCode } : exitBySignal(signal)));
    }),
  );
  return {
    done,
    pid,
    write: (text) => terminal.write(text),
    end: stop,
    signal: (signal) => signalTerminal(pid, `SIG${signal}`),
    resize: ({ cols, rows }) => terminal.resize(cols, rows),
    pause: () => {
      terminal.pause();
      exitCheck = setInterval(() => {
        if (!isAlive(pid)) resume();
      }, EXIT_CHECK_MS);
    },
    resume,
  };
}

/** A service often starts without a locale, and full-screen programs would draw question marks. */
function addTerminalVariables(env: Record<string, string>): Record<string, string> {
  const hasLanguage = env.LANG !== undefined || env.LC_ALL !== undefined || env.LC_CTYPE !== undefined;
  return { ...env, ...(hasLanguage ? {} : { LANG: "C.UTF-8" }), TERM };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
