// What a script is told of a call that takes longer than it waits. The call is stopped then, but it may have done what it was to do.

import { UNKNOWN_OUTCOME } from "../agent/tool-text.ts";
import { CALL_MS } from "../sandbox/limits.ts";

/** Calls that change nothing. */
const READS: ReadonlySet<string> = new Set(["fs.read", "fs.search"]);

export function describeTimeout(call: string): string {
  const text = `Timed out waiting for ${call} after ${CALL_MS / 1000} s`;
  return READS.has(call) ? text : `${text}. ${UNKNOWN_OUTCOME}`;
}
