// Running another program of this machine and hearing how it went. Service managers are reached through here, found on
// the PATH like any command.

import { execFile } from "node:child_process";

export type Ran = { code: number; out: string; err: string };

const NOT_FOUND = 127;
const LONGEST_MS = 60_000;

/** Never fails: a program that is not there ends with 127, as in a shell. */
export function ran(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(program, args, { env, timeout: LONGEST_MS }, (error, out, err) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : error.code === "ENOENT" ? NOT_FOUND : 1;
      resolve({ code, out: out.trim(), err: err.trim() });
    });
  });
}
