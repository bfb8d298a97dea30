// A target's shell, as shell.exec sees it: the gateway's own and a device's implement the same interface, so starting,
// polling, feeding and ending a command mean the same wherever it runs.

import type { PollOptions, SendOutcome, CommandInput, SessionInfo, PollResult, TerminalSize } from "../ports/shells.ts";

export type ShellStart = {
  /** With a terminal it may be empty: then it is the user's own login shell. */
  input: string;
  /** As the caller wrote it. */
  cwd: string | undefined;
  timeoutMs: number | undefined;
  tty: TerminalSize | undefined;
};

export interface Shell {
  /** How long a call waits by default before it answers that the command is still running. */
  readonly waitMs: number;
  /** The longest wait a call can request. */
  readonly waitMsMax: number;
  /** Fails with an OpError if the command cannot be started. */
  start(command: ShellStart): Promise<string>;
  /** Null if the caller has no such session. The signal ends the wait. */
  wait(sessionId: string, options: PollOptions, signal: AbortSignal): Promise<PollResult | null>;
  /** Resolves when the command can take more input, or after `ms`. */
  send(sessionId: string, sent: CommandInput, ms: number): Promise<SendOutcome>;
  end(sessionId: string, why: string): Promise<void>;
  list(): Promise<SessionInfo[]>;
}
