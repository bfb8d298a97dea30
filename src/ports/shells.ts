// Where the gateway's own commands run: apart from the kernel (a thread on Node, an object of its own on Cloudflare), so
// that one that never ends delays nobody. A command reaches files, the kernel and the network only by asking through
// its link, as the caller it was started for.

import type { Reply } from "./reply.ts";

export interface Shells {
  /** Starts a command and returns its session. Fails with 429 where the user has too many running. */
  start(command: ShellCommand, link: ShellLink): Promise<string>;
  /**
   * Waits until the command ends, until it wants input, or for so long; then takes what it has put out since. Null where
   * the user has no such session. One that has ended is forgotten with this answer.
   */
  wait(uid: number, sessionId: string, ms: number, signal: AbortSignal): Promise<SessionState | null>;
  /** Feeds what a command reads. False where the user has no such session. */
  write(uid: number, sessionId: string, text: string): Promise<boolean>;
  /** Ends a command, whatever it is doing. */
  end(uid: number, sessionId: string, why: string): Promise<void>;
}

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
