// Where untrusted scripts run: outside the kernel, with limits of time, processor time and memory. A script reaches nothing but its
// link. Values cross as JSON text.

export interface Sandbox {
  /** Names the engine: only the engine that took a snapshot can restore it. */
  readonly engine: string;
  /** Runs a script until it ends or is suspended. Never rejects. An aborted signal ends the script. */
  run(start: ScriptStart, link: ScriptLink, signal: AbortSignal): Promise<ScriptEnd>;
}

export type ScriptStart =
  | { kind: "source"; code: string; globals: ScriptGlobals }
  /** Continues a suspended script with answers it was waiting for; `suspended` counts the calls that still have none. */
  | { kind: "snapshot"; snapshot: Uint8Array; used: ScriptTime; answers: readonly NumberedAnswer[]; suspended: number };

/** The global values of a script; `target` and `cwd` are the defaults of its file and shell calls. `cwd` is a directory of that target. */
export type ScriptGlobals = {
  target?: string | undefined;
  cwd?: string | undefined;
  argv: readonly string[];
  args: unknown;
  mcpTools?: readonly ScriptFunction[] | undefined;
};
/** A function of a script that calls a tool of an MCP server. */
export type ScriptFunction = {
  functionName: string;
  serverId: string;
  serverName: string;
  toolName: string;
  description: string | null;
  inputSchema: Record<string, unknown> | null;
  outputSchema: Record<string, unknown> | null;
};

/** What a script has used of its limits. Time in which it is suspended does not count. */
export type ScriptTime = { wallMs: number; cpuMs: number };

/** A call that a script makes; numbers are unique within the script. */
export type ScriptCall = { number: number; call: string; args: string };

/** `suspended`: the answer may take days. The script is suspended once it waits for nothing else. */
export type ScriptAnswer = { kind: "value"; json: string } | { kind: "error"; message: string } | { kind: "suspended" };

export type NumberedAnswer = { number: number; answer: Exclude<ScriptAnswer, { kind: "suspended" }> };

/** Answers the calls of a script, of which a few run at the same time. Never rejects. */
export type ScriptLink = (call: ScriptCall) => Promise<ScriptAnswer>;

export type ScriptEnd =
  /** `json` is the result. */
  | { kind: "completed"; json: string; logs: readonly string[] }
  /** `stack` has the lines of the script that led to the error. */
  | { kind: "failed"; error: string; stack: string; logs: readonly string[] }
  | { kind: "suspended"; snapshot: Uint8Array; used: ScriptTime };

/** The error of a script that the gateway could not continue. */
export const INTERRUPTED = "interrupted";
/** The error of a script that exceeded its time. */
export const TIMED_OUT = "Execution timed out";
