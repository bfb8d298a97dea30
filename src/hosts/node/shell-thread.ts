// The other side of shells.ts: a thread that runs one command at a time. It may loop for ever or die of hunger; nobody
// but its caller notices.

import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import type { ShellCommand, ShellReply } from "../../ports/shells.ts";
import { THREAD_LIMITS } from "../../shell/limits.ts";
import { runCommand } from "../../shell/run.ts";
import type { FromShell, ToShell } from "./shell-messages.ts";

const port = parentPort!;
/** Behind the kernel, where there are fewer cores than work. On Linux this is about the thread alone; elsewhere it is not. */
const NICENESS = 5;
if (process.platform === "linux") setPriority(NICENESS);
const post = (message: FromShell) => port.postMessage(message);
const asking = new Map<number, (reply: ShellReply) => void>();
let asked = 0;
let linesWanted: ((lines: string[] | null) => void) | null = null;
let aborting = new AbortController();

port.on("message", (message: ToShell) => {
  switch (message.type) {
    case "run":
      return void run(message.command);
    case "reply":
      asking.get(message.id)?.(message.reply);
      asking.delete(message.id);
      return;
    case "lines":
      linesWanted?.(message.lines);
      linesWanted = null;
      return;
    case "abort":
      return aborting.abort();
  }
});
post({ type: "ready" });

async function run(command: ShellCommand): Promise<void> {
  aborting = new AbortController();
  const ask = (wanted: Parameters<typeof runCommand>[1] extends (ask: infer A) => unknown ? A : never) =>
    new Promise<ShellReply>((resolve) => {
      asking.set(++asked, resolve);
      post({ type: "ask", id: asked, ask: wanted });
    });
  const fetch = () =>
    new Promise<string[] | null>((resolve) => {
      linesWanted = resolve;
      post({ type: "want" });
    });
  const lines: string[] = [];
  const terminal = {
    write: (stream: "stdout" | "stderr", text: string) => post({ type: "output", stream, text }),
    line: async () => {
      if (lines.length === 0) lines.push(...((await fetch()) ?? []));
      return lines.shift() ?? null;
    },
  };
  try {
    const { stdout, stderr, ...exit } = await runCommand(command, ask, terminal, THREAD_LIMITS, aborting.signal);
    post({ type: "done", stdout, stderr, exit });
  } catch (error) {
    // just-bash reports what a script does wrong as output; what it throws is its own fault or a limit it met.
    post({ type: "done", stdout: "", stderr: "", exit: { exitCode: 1, error: `The shell failed: ${(error as Error).message}` } });
  }
}
