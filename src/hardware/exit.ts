// How a command is told of that did not end by itself: the codes are those that shells use, the words are ours.

import type { Exit, SignalName } from "../ports/shells.ts";

/** As timeout(1) has it. */
export const TIMED_OUT = 124;
/** Found, and could not go on. */
export const STOPPED = 126;
export const NOT_STARTED = 127;
/** A shell's code for what a signal has ended: this and the signal's number. */
const BY_SIGNAL = 128;
export const INTERRUPTED = BY_SIGNAL + 2;
export const KILLED = BY_SIGNAL + 9;

const NUMBERS: Record<SignalName, number> = {
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

/** Those that a command does not go on after, unless it has made arrangements. */
const ENDING: ReadonlySet<SignalName> = new Set(["HUP", "INT", "QUIT", "KILL", "TERM"]);

export function timedOut(ms: number): Exit {
  return { exitCode: TIMED_OUT, error: `Command timed out after ${ms}ms` };
}

export function interrupted(why: string): Exit {
  return { exitCode: INTERRUPTED, error: why };
}

export function killed(why: string): Exit {
  return { exitCode: KILLED, error: why };
}

/** Null where the signal ends nothing. */
export function endedBy(signal: SignalName): Exit | null {
  return ENDING.has(signal) ? bySignal(`SIG${signal}`, NUMBERS[signal]) : null;
}

export function bySignal(name: string, number: number): Exit {
  return { exitCode: BY_SIGNAL + number, error: `Command was ended by ${name}` };
}
