// Where the gateway's own commands run: outside the kernel (in a thread on Node, in an object on Cloudflare), so that a command
// that never ends delays nobody. A command reaches files, the kernel and the network only by requests through its link, as the
// caller it was started for.

import type { Reply } from "./reply.ts";

export interface Shells {
  /** Starts a command and returns its session id. Fails with 429 if the user has too many running commands. */
  start(command: ShellCommand, link: ShellLink): Promise<string>;
  /**
   * If the user has too many running commands, waits for one of them to end. False if none ended within the wait, or too many
   * callers wait already.
   */
  waitForRoom(uid: number): Promise<boolean>;
  /** Waits, and takes the output since the last poll. Null if the user has no such session. */
  wait(uid: number, sessionId: string, look: PollOptions, signal: AbortSignal): Promise<PollResult | null>;
  /** Resolves when the command can take more input, or after `ms`. */
  send(uid: number, sessionId: string, sent: CommandInput, ms: number): Promise<SendOutcome>;
  /** Ends a command, no matter what it is doing. */
  end(uid: number, sessionId: string, why: string): Promise<void>;
  /** The user's sessions, except those whose end was already reported. */
  list(uid: number): Promise<SessionInfo[]>;
}

export type PollOptions = {
  ms: number;
  /** A poll returns when the command ends or wants input, and with `output` as soon as there is some. */
  until: "end" | "output";
  /**
   * The number of the last answer that arrived, 0 for none: later answers were lost and are sent again. Without it every answer
   * counts as arrived, and a session is forgotten with the answer that reports its end.
   */
  after?: number | undefined;
};

export type CommandInput = { text: string } | { signal: SignalName } | { resize: TerminalSize };

/** `ended` if the command has ended and its end was not reported yet; `unable` if it does not support this kind of input. */
export type SendOutcome = "sent" | "ended" | "unable" | "missing";

export const SIGNAL_NAMES = ["HUP", "INT", "QUIT", "KILL", "USR1", "USR2", "TERM", "CONT", "STOP", "TSTP"] as const;
export type SignalName = (typeof SIGNAL_NAMES)[number];

export type TerminalSize = { cols: number; rows: number };

export type ShellCommand = {
  input: string;
  cwd: string;
  env: Readonly<Record<string, string>>;
  who: ShellUser;
  /** How the machine identifies itself. */
  host: { name: string; version: string; platform: string };
  /** How long it may run in total. */
  timeoutMs: number;
  /** How much of each stream is kept between two polls. */
  outputBytesMax: number;
};

/** `isAgent`: an agent runs the command, whatever its environment says. */
export type ShellUser = { uid: number; gid: number; gids: readonly number[]; username: string; home: string; isAgent?: true };

export type PollResult = {
  stdout: string;
  stderr: string;
  truncated: boolean;
  /** Null while it runs. */
  exit: Exit | null;
  /** It waits for input. Only the gateway's own shell knows this. */
  wantsInput: boolean;
  /** This answer's number, for callers that use `after`. */
  part?: number;
};

export type SessionInfo = {
  sessionId: string;
  /** The first part of the command. */
  command: string;
  cwd: string;
  startedAt: number;
  state: "running" | "ended";
  exitCode?: number;
  tty?: true;
  pid?: number;
};

/** `error` says why a command was stopped that did not end by itself. */
export type Exit = { exitCode: number; error?: string };

/**
 * Sends a request to the kernel as the caller; the signal aborts when the command is over. Never throws: failures are values,
 * because an error's class does not cross.
 */
export type ShellLink = (ask: ShellAsk, signal: AbortSignal) => Promise<ShellReply>;

export type ShellAsk =
  | { kind: "file"; op: FileOp; args: readonly unknown[] }
  | { kind: "sys"; call: string; args: Record<string, unknown> }
  | { kind: "fetch"; request: ShellHttpRequest };

export type FileOp =
  | "stat"
  | "list"
  | "read"
  | "write"
  | "append"
  | "makeDirectory"
  | "remove"
  | "rename"
  | "setMode"
  | "setOwner"
  | "setModified";

export type ShellHttpRequest = { url: string; method: string; headers: Record<string, string>; body?: Uint8Array; timeoutMs?: number };
export type ShellHttpResponse = { status: number; headers: Record<string, string>; body: Uint8Array; url: string };

export type ShellReply = Reply | { ok: false; failure: FileFailure };

export type FileFailure = { kind: "file"; code: string; path: string; message: string };
