// A command at a terminal of its own, by node-pty. That is native code, so it is an optional package which is loaded when it is
// first needed: a machine without it does everything else.

import type * as NodePty from "@lydell/node-pty";
import { OpError } from "../hardware/outcome.ts";
import type { Sink, Spawned } from "../hardware/sessions.ts";
import type { Exit, TerminalSize } from "../ports/shells.ts";
import { timedOut } from "../hardware/exit.ts";
import { GRACE_MS, signalled, signalTerminal } from "./groups.ts";
import type { Program } from "./program.ts";

export type Pty = Pick<typeof NodePty, "spawn">;

const PACKAGE = "@lydell/node-pty";
const VERSION = "1.1.0";
const TERM = "xterm-256color";
/** A command that ends while it is held up would take its last words along. */
const LOOK_MS = 50;

/** `load` is for tests of what happens without. */
export async function loadPty(load: () => Promise<unknown> = () => import(PACKAGE)): Promise<Pty> {
  try {
    const loaded = (await load()) as Pty & { default?: Pty };
    return loaded.default ?? loaded;
  } catch {
    throw new OpError(
      `This device has no terminals: there, run npm install ${PACKAGE}@${VERSION} beside the gsv program and start the device again, or leave tty out`,
    );
  }
}

export type PtyCommand = { program: Program; cwd: string; env: Record<string, string>; size: TerminalSize; timeoutMs: number | undefined };

export function ptyCommand(pty: Pty, { program, cwd, env, size, timeoutMs }: PtyCommand, sink: Sink): Spawned {
  const terminal = pty.spawn(program.file, program.args, { name: TERM, ...size, cwd, env: terminalEnvironment(env) });
  const { pid } = terminal;
  let end: Exit | null = null;
  let look: NodeJS.Timeout | undefined;
  const stop = (exit: Exit) => {
    end ??= exit;
    // A shell that somebody types at does not end by SIGTERM.
    signalTerminal(pid, "SIGHUP");
    setTimeout(() => signalTerminal(pid, "SIGKILL"), GRACE_MS).unref();
  };
  const resume = () => {
    clearInterval(look);
    terminal.resume();
  };
  const deadline = timeoutMs === undefined ? undefined : setTimeout(() => stop(timedOut(timeoutMs)), timeoutMs);
  terminal.onData((text) => sink.output("stdout", text));
  const done = new Promise<Exit>((resolve) =>
    terminal.onExit(({ exitCode, signal }) => {
      clearTimeout(deadline);
      clearInterval(look);
      resolve(end ?? (signal === undefined || signal === 0 ? { exitCode } : signalled(signal)));
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
      look = setInterval(() => {
        if (!isThere(pid)) resume();
      }, LOOK_MS);
    },
    resume,
  };
}

/** A service is often started without a language, and full-screen programs would draw question marks. */
function terminalEnvironment(env: Record<string, string>): Record<string, string> {
  const hasLanguage = env.LANG !== undefined || env.LC_ALL !== undefined || env.LC_CTYPE !== undefined;
  return { ...env, ...(hasLanguage ? {} : { LANG: "C.UTF-8" }), TERM };
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
