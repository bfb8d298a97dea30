// The other side of shells.ts: a thread that runs one command at a time. It may loop forever or run out of memory; only its
// caller notices.

import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import type { ShellCommand, ShellReply } from "../../ports/shells.ts";
import { THREAD_LIMITS } from "../../shell/limits.ts";
import { runCommand } from "../../shell/run.ts";
import type { FromShell, ToShell } from "./shell-messages.ts";

const port = parentPort!;
/**
 * Below the kernel's priority, for machines with fewer cores than work. On Linux this sets the thread alone; elsewhere it would
 * set the whole process.
 */
const NICENESS = 5;
if (process.platform === "linux") setPriority(NICENESS);
const post = (message: FromShell) => port.postMessage(message);
const pendingReplies = new Map<number, (reply: ShellReply) => void>();
let lastAskId = 0;
let resolveLines: ((lines: string[] | null) => void) | null = null;
let abortController = new AbortController();

port.on("message", (message: ToShell) => {
  switch (message.type) {
    case "run":
      return void run(message.command);
    case "reply":
      pendingReplies.get(message.id)?.(message.reply);
      pendingReplies.delete(message.id);
      return;
    case "lines":
      resolveLines?.(message.lines);
      resolveLines = null;
      return;
    case "abort":
      return abortController.abort();
  }
});
post({ type: "ready" });

async function run(command: ShellCommand): Promise<void> {
  abortController = new AbortController();
  const ask = (request: Parameters<typeof runCommand>[1] extends (ask: infer A) => unknown ? A : never) =>
    new Promise<ShellReply>((resolve) => {
      pendingReplies.set(++lastAskId, resolve);
      post({ type: "ask", id: lastAskId, ask: request });
    });
  const requestLines = () =>
    new Promise<string[] | null>((resolve) => {
      resolveLines = resolve;
      post({ type: "want" });
    });
  const lines: string[] = [];
  const terminal = {
    write: (stream: "stdout" | "stderr", text: string) => post({ type: "output", stream, text }),
    readLine: async () => {
      if (lines.length === 0) lines.push(...((await requestLines()) ?? []));
      return lines.shift() ?? null;
    },
  };
  try {
    const { stdout, stderr, ...exit } = await runCommand(command, ask, terminal, THREAD_LIMITS, abortController.signal);
    post({ type: "done", stdout, stderr, exit });
  } catch (error) {
    // just-bash reports a script's errors as output; what it throws is its own bug or a limit.
    post({ type: "done", stdout: "", stderr: "", exit: { exitCode: 1, error: `The shell failed: ${(error as Error).message}` } });
  }
}
