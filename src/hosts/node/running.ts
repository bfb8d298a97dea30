// Finds a gateway's data directory on this machine and whether a gateway runs there, for commands that only want to know. It
// loads no SQLite, because they also run on a Node without it; home.ts is the gateway's own side.

import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

export type RunningGateway = { pid: number; url: string; startedAt: number; version: string };

export function homePath(flag: string | undefined, env: NodeJS.ProcessEnv): string {
  return resolve(flag ?? (env.GSV_HOME || join(homedir(), ".gsv")));
}

export function readRunningGateway(home: string): RunningGateway | null {
  try {
    return JSON.parse(readFileSync(runningFile(home), "utf8")) as RunningGateway;
  } catch {
    return null;
  }
}

export function runningFile(home: string): string {
  return join(home, "gateway.json");
}

/** Checks the pid, because a killed gateway leaves its file behind. */
export function isAlive({ pid }: RunningGateway): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process exists but belongs to another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
