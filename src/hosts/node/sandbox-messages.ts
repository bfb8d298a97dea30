// Messages between sandboxes.ts and sandbox-thread.ts.

import type { ScriptAnswer, ScriptCall, ScriptEnd, ScriptStart } from "../../ports/sandbox.ts";

export type ToSandbox = { type: "run"; start: ScriptStart } | { type: "answer"; number: number; answer: ScriptAnswer } | { type: "stop" };

export type FromSandbox = { type: "call"; call: ScriptCall } | { type: "end"; end: ScriptEnd };

/** Compiled once for all threads. */
export type SandboxData = { wasm: WebAssembly.Module };
