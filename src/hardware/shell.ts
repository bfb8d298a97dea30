// A target's shell, as shell.exec sees it: the gateway's own and a device's implement the same interface, so starting,
// polling, feeding and ending a command mean the same wherever it runs.

import type { SessionState } from "../ports/shells.ts";

export interface Shell {
  /** How long a call waits for a command before it answers that it is still running. */
  readonly waitMs: number;
  /** `cwd` is as the caller wrote it. Fails with an OpError where the command cannot be started. */
  start(command: { input: string; cwd: string | undefined; timeoutMs: number | undefined }): Promise<string>;
  /** Null where there is no such session of the caller's. */
  wait(sessionId: string, ms: number): Promise<SessionState | null>;
  write(sessionId: string, text: string): Promise<boolean>;
  end(sessionId: string, why: string): Promise<void>;
}
