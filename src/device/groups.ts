// Sends signals to a command and everything it has started, and describes an end by a signal.

import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { makeSignalExit } from "../hardware/exit.ts";
import type { Exit } from "../ports/shells.ts";

/** Time between the first signal and SIGKILL: a stopped command is gone within two seconds. */
export const GRACE_MS = 1_500;

/** The id of a process group is the pid of its first process. Windows has no groups, and only one way to end a process. */
export function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch {
    // It has already exited.
  }
}

/** At a terminal, a shell puts each of its jobs into its own group; the one in the foreground gets the signal as well. */
export function signalTerminal(pid: number, signal: NodeJS.Signals): void {
  const foreground = foregroundGroup(pid);
  if (foreground !== undefined && foreground !== pid) signalGroup(foreground, signal);
  signalGroup(pid, signal);
}

export function exitBySignal(number: number): Exit {
  const name = Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `signal ${number}`;
  return makeSignalExit(name, number);
}

export function signalNumber(name: NodeJS.Signals): number {
  return constants.signals[name];
}

/** Undefined except on Linux. */
function foregroundGroup(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // Fields after the name, which may contain anything: state, parent, group, session, terminal, foreground group.
    const group = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[5]);
    return group > 0 ? group : undefined;
  } catch {
    return undefined;
  }
}
