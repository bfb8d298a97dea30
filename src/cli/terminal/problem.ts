// Errors and how they are printed: one line that says what to do. Only unexpected errors have a stack, and only on request.

import { CallError, ConnectionLost } from "../../client/connection.ts";
import { printNote } from "./terminal.ts";

/** An error that the user can fix. */
export class Problem extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.name = "Problem";
    this.exitCode = exitCode;
  }
}

/** The exit code if no gateway answers, so that scripts can tell it from a refusal. */
export const EXIT_UNREACHABLE = 3;
export const EXIT_CANCELLED = 130;

/** Prints the failure and returns the exit code. */
export function printError(error: unknown): number {
  if (error instanceof Problem) {
    printNote(`gsv: ${error.message}`);
    return error.exitCode;
  }
  if (error instanceof CallError) {
    printNote(`gsv: ${error.message} (${error.code})`);
    return 1;
  }
  if (error instanceof ConnectionLost) {
    printNote(`gsv: the connection was lost before the answer arrived; the call may or may not have run: ${error.message}`);
    return 1;
  }
  const isDebug = process.env.GSV_DEBUG === "1";
  if (isDebug && error instanceof Error) for (const line of `gsv: ${error.stack}`.split("\n")) printNote(line);
  else printNote(`gsv: ${String(error)} - set GSV_DEBUG=1 for details`);
  return 1;
}
