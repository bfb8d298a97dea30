// The result of a script, for the call of agents and the one of people.

import { z } from "zod";
import type { ScriptEnd } from "../../ports/sandbox.ts";

const logs = z.array(z.string()).optional();

export const ScriptResult = z.discriminatedUnion("status", [
  z.object({ status: z.literal("completed"), result: z.unknown(), logs }),
  /** `stack`: where in the script the error was thrown. */
  z.object({ status: z.literal("failed"), error: z.string(), stack: z.string().optional(), logs }),
]);
export type ScriptResult = z.output<typeof ScriptResult>;

export function toScriptResult(end: Exclude<ScriptEnd, { kind: "suspended" }>): ScriptResult {
  const logged = end.logs.length === 0 ? {} : { logs: [...end.logs] };
  if (end.kind === "completed") return { status: "completed", result: JSON.parse(end.json) as unknown, ...logged };
  return { status: "failed", error: end.error, ...(end.stack === "" ? {} : { stack: end.stack }), ...logged };
}
