// For what is left behind by a test whose process is killed, when it can clean up nothing itself.

import { spawn } from "node:child_process";
import type { Socket } from "node:net";

/** Runs a line of shell, with these as $1, $2, ..., once this process is gone. Returns what calls it off. */
export function runAtEnd(line: string, ...args: readonly string[]): () => void {
  // Nothing is ever written to it: its input ends with whoever holds the other end.
  const watcher = spawn("sh", ["-c", `read -r _; ${line}`, "sh", ...args], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  watcher.on("error", () => {});
  watcher.unref();
  (watcher.stdin as unknown as Socket).unref();
  return () => void watcher.kill("SIGKILL");
}
