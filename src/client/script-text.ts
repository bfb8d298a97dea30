// What people read of a script of a model: what it is for, in one line, and what it reports at its end. Both are text of others: a view
// shows them as text only.

/** What a script reports at its end. */
export type ScriptReport = { logs: readonly string[] } & (
  | { status: "completed"; result: unknown }
  | { status: "failed"; error: string; stack: string }
);

/** The first line that says something: a comment, if the script begins with one, or code. */
export function scriptPurpose(code: string): string {
  const lines = code.split("\n").map((line) => line.trim());
  const says = lines.map((line) => line.replace(/^(?:\/\/+|\/\*+|\*+\/|\*)\s*|\s*\*+\/$/g, ""));
  return says.find((line) => /[\p{L}\p{N}]/u.test(line) && !/^["']use strict["'];?$/.test(line)) ?? "";
}

/** Reads the output of a script's call; null if it was shortened, or if the script was never started. */
export function parseScriptReport(output: string): ScriptReport | null {
  if (!output.startsWith("{")) return null;
  let value: unknown;
  try {
    value = JSON.parse(output);
  } catch {
    return null;
  }
  const { status, result, error, stack, logs } = value as Record<string, unknown>;
  const lines = Array.isArray(logs) ? logs.map(String) : [];
  if (status === "completed") return { status, result, logs: lines };
  if (status !== "failed" || typeof error !== "string") return null;
  return { status, error, stack: typeof stack === "string" ? stack : "", logs: lines };
}
