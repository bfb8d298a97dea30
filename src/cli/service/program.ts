// Runs another program of this machine and returns its exit code and output. Service managers are called through this, found on
// the PATH like any command.

import { execFile } from "node:child_process";

export type ProgramResult = { code: number; out: string; err: string };

const NOT_FOUND = 127;
const TIMEOUT_MS = 60_000;

/** Never rejects: a missing program gives exit code 127, as in a shell. */
export function runProgram(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<ProgramResult> {
  return new Promise((resolve) => {
    execFile(program, args, { env, timeout: TIMEOUT_MS }, (error, out, err) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : error.code === "ENOENT" ? NOT_FOUND : 1;
      resolve({ code, out: out.trim(), err: err.trim() });
    });
  });
}
