// A target's shell, as shell.exec sees it: the gateway's own and a device's implement the same interface, so starting,
// polling, feeding and ending a command mean the same wherever it runs.

import type { Look, SendOutcome, Sent, SessionInfo, SessionState, TerminalSize } from "../ports/shells.ts";

export type ShellStart = {
  /** With a terminal it may be empty: then it is the user's own shell, as at login. */
  input: string;
  /** As the caller wrote it. */
  cwd: string | undefined;
  timeoutMs: number | undefined;
  tty: TerminalSize | undefined;
};

export interface Shell {
  /** How long a call waits for a command before it answers that it is still running, where it does not say how long. */
  readonly waitMs: number;
  /** The most that it can say. */
  readonly waitMsMax: number;
  /** Fails with an OpError where the command cannot be started. */
  start(command: ShellStart): Promise<string>;
  /** Null where there is no such session of the caller's. Waits no longer than until the signal says so. */
  wait(sessionId: string, look: Look, signal: AbortSignal): Promise<SessionState | null>;
  /** Resolves when the command has room for more, or after so long. */
  send(sessionId: string, sent: Sent, ms: number): Promise<SendOutcome>;
  end(sessionId: string, why: string): Promise<void>;
  list(): Promise<SessionInfo[]>;
}
