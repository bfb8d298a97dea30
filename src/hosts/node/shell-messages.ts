// Messages between the gateway and a thread that runs commands. Ids belong to one run: a late reply is ignored.

import type { Exit, ShellAsk, ShellCommand, ShellReply } from "../../ports/shells.ts";

export type ToShell =
  | { type: "run"; command: ShellCommand }
  | { type: "reply"; id: number; reply: ShellReply }
  /** Null at the end of input. */
  | { type: "lines"; lines: string[] | null }
  | { type: "abort" };

export type FromShell =
  | { type: "ready" }
  | { type: "ask"; id: number; ask: ShellAsk }
  | { type: "output"; stream: "stdout" | "stderr"; text: string }
  /** The command wants input. */
  | { type: "want" }
  | { type: "done"; stdout: string; stderr: string; exit: Exit };
