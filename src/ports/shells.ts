// Where the gateway's own commands run: apart from the kernel (a thread on Node, an object of its own on Cloudflare), so
// that one that never ends delays nobody. A command reaches files, the kernel and the network only by asking through
// its link, as the caller it was started for.

import type { Reply } from "./reply.ts";

export interface Shells {
  /** Starts a command and returns its session. Fails with 429 where the user has too many running. */
  start(command: ShellCommand, link: ShellLink): Promise<string>;
  /** Waits for one of the user's commands to end where too many run. False where none has in a while, or where too many wait for that already. */
  room(uid: number): Promise<boolean>;
  /** Waits, and takes what the command has put out since the last look. Null where the user has no such session. */
  wait(uid: number, sessionId: string, look: Look, signal: AbortSignal): Promise<SessionState | null>;
  /** Resolves when the command has room for more, or after so long. */
  send(uid: number, sessionId: string, sent: Sent, ms: number): Promise<SendOutcome>;
  /** Ends a command, whatever it is doing. */
  end(uid: number, sessionId: string, why: string): Promise<void>;
  /** The user's, but for those whose end was told. */
  list(uid: number): Promise<SessionInfo[]>;
}

export type Look = {
  ms: number;
  /** A look is over when the command ends or wants input, and with `output` as soon as there is some. */
  until: "end" | "output";
  /**
   * The number of the last answer that arrived, 0 for none: what was told since, and so got lost, is told again. Without it,
   * every answer counts as arrived, and a session is forgotten with the one that tells of its end.
   */
  after?: number | undefined;
};

export type Sent = { text: string } | { signal: SignalName } | { resize: TerminalSize };

/** `ended` where the command has, and its end was not told yet; `unable` where it knows nothing of that kind. */
export type SendOutcome = "sent" | "ended" | "unable" | "missing";

export const SIGNAL_NAMES = ["HUP", "INT", "QUIT", "KILL", "USR1", "USR2", "TERM", "CONT", "STOP", "TSTP"] as const;
export type SignalName = (typeof SIGNAL_NAMES)[number];

export type TerminalSize = { cols: number; rows: number };

export type ShellCommand = {
  input: string;
  cwd: string;
  env: Readonly<Record<string, string>>;
  who: ShellUser;
  /** What the machine calls itself. */
  host: { name: string; version: string; platform: string };
  /** How long it may run in all. */
  timeoutMs: number;
  /** How much of each stream is kept between two looks at it. */
  outputBytesMax: number;
};

export type ShellUser = { uid: number; gid: number; gids: readonly number[]; username: string; home: string };

export type SessionState = {
  stdout: string;
  stderr: string;
  truncated: boolean;
  /** Null while it runs. */
  exit: Exit | null;
  /** It has nothing to do before it is fed. Only a shell of ours knows. */
  wantsInput: boolean;
  /** This answer's number, for whoever counts them. */
  part?: number;
};

export type SessionInfo = {
  sessionId: string;
  /** Its beginning. */
  command: string;
  cwd: string;
  startedAt: number;
  state: "running" | "ended";
  exitCode?: number;
  tty?: true;
  pid?: number;
};

/** `error` says why a command was ended that did not end by itself. */
export type Exit = { exitCode: number; error?: string };

/** Asks the kernel as the caller; the signal says that the command is over. Never throws: failures are values, because errors lose their kind on the way. */
export type ShellLink = (ask: ShellAsk, signal: AbortSignal) => Promise<ShellReply>;

export type ShellAsk =
  | { kind: "file"; op: FileOp; args: readonly unknown[] }
  | { kind: "sys"; call: string; args: Record<string, unknown> }
  | { kind: "fetch"; request: ShellRequest };

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

export type ShellRequest = { url: string; method: string; headers: Record<string, string>; body?: Uint8Array; timeoutMs?: number };
export type ShellResponse = { status: number; headers: Record<string, string>; body: Uint8Array; url: string };

export type ShellReply = Reply | { ok: false; failure: FileFailure };

export type FileFailure = { kind: "file"; code: string; path: string; message: string };
