// Where a gateway keeps its data on this machine and whether one runs there, for commands that only want to know. Loads
// no SQLite, because they also run on a Node that has none; home.ts is the gateway's own side.

import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

export type Running = { pid: number; url: string; startedAt: number; version: string };

export function homePath(flag: string | undefined, env: NodeJS.ProcessEnv): string {
  return resolve(flag ?? (env.GSV_HOME || join(homedir(), ".gsv")));
}

export function readRunning(home: string): Running | null {
  try {
    return JSON.parse(readFileSync(runningFile(home), "utf8")) as Running;
  } catch {
    return null;
  }
}

export function runningFile(home: string): string {
  return join(home, "gateway.json");
}

/** A gateway that was killed leaves its file behind. */
export function isAlive({ pid }: Running): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It exists and is somebody else's.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
