// The exits of commands that did not end by themselves, with the exit codes that shells use and our own messages.

import type { Exit, SignalName } from "../ports/shells.ts";

/** Like timeout(1). */
export const TIMED_OUT = 124;
/** Started, but could not continue. */
export const STOPPED = 126;
export const NOT_STARTED = 127;
/** A shell's exit code for an end by signal: this plus the signal's number. */
const SIGNAL_BASE = 128;
export const INTERRUPTED = SIGNAL_BASE + 2;
export const KILLED = SIGNAL_BASE + 9;

const SIGNAL_NUMBERS: Record<SignalName, number> = {
  HUP: 1,
  INT: 2,
  QUIT: 3,
  KILL: 9,
  USR1: 10,
  USR2: 12,
  TERM: 15,
  CONT: 18,
  STOP: 19,
  TSTP: 20,
};

/** Signals that end a command unless it handles them. */
const ENDING_SIGNALS: ReadonlySet<SignalName> = new Set(["HUP", "INT", "QUIT", "KILL", "TERM"]);

export function makeTimeoutExit(ms: number): Exit {
  return { exitCode: TIMED_OUT, error: `Command timed out after ${ms}ms` };
}

export function makeInterruptExit(why: string): Exit {
  return { exitCode: INTERRUPTED, error: why };
}

export function makeKilledExit(why: string): Exit {
  return { exitCode: KILLED, error: why };
}

/** Null if the signal does not end a command. */
export function exitForEndingSignal(signal: SignalName): Exit | null {
  return ENDING_SIGNALS.has(signal) ? makeSignalExit(`SIG${signal}`, SIGNAL_NUMBERS[signal]) : null;
}

export function makeSignalExit(name: string, number: number): Exit {
  return { exitCode: SIGNAL_BASE + number, error: `Command was ended by ${name}` };
}
