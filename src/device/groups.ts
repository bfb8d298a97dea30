// Signals to a command with everything it has started, and the end of one by a signal.

import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { bySignal } from "../hardware/exit.ts";
import type { Exit } from "../ports/shells.ts";

/** Between the polite signal and the one nobody survives: whoever stops a command sees it gone within two seconds. */
export const GRACE_MS = 1_500;

/** A group has its first process's number. Windows has no groups, and only one kind of end. */
export function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch {
    // Gone already.
  }
}

/** At a terminal, a shell gives each of its jobs a group of its own; the one in the foreground is meant as well. */
export function signalTerminal(pid: number, signal: NodeJS.Signals): void {
  const foreground = foregroundOf(pid);
  if (foreground !== undefined && foreground !== pid) signalGroup(foreground, signal);
  signalGroup(pid, signal);
}

export function signalled(number: number): Exit {
  const name = Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `signal ${number}`;
  return bySignal(name, number);
}

export function signalNumber(name: NodeJS.Signals): number {
  return constants.signals[name];
}

/** Only Linux tells. */
function foregroundOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // Behind the name, which may hold anything: state, parent, group, session, terminal, foreground group.
    const group = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[5]);
    return group > 0 ? group : undefined;
  } catch {
    return undefined;
  }
}
