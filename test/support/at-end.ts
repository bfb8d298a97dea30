// Clean-up that runs even if the test's process is killed and cannot clean up itself.

import { spawn } from "node:child_process";
import type { Socket } from "node:net";

/** Runs a line of shell, with `args` as $1, $2, ..., once this process has ended. Returns a function that cancels it. */
export function runAtEnd(line: string, ...args: readonly string[]): () => void {
  // Nothing is ever written to its stdin: `read` returns when this process, which holds the other end, has ended.
  const watcher = spawn("sh", ["-c", `read -r _; ${line}`, "sh", ...args], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  watcher.on("error", () => {});
  watcher.unref();
  (watcher.stdin as unknown as Socket).unref();
  return () => void watcher.kill("SIGKILL");
}
