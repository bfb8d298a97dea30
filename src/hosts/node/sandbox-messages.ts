// Messages between sandboxes.ts and sandbox-thread.ts.

import type { EngineLimits } from "../../sandbox/limits.ts";
import type { ScriptAnswer, ScriptCall, ScriptEnd, ScriptStart } from "../../ports/sandbox.ts";

export type ToSandbox = { type: "run"; start: ScriptStart } | { type: "answer"; number: number; answer: ScriptAnswer } | { type: "stop" };

export type FromSandbox = { type: "call"; call: ScriptCall } | { type: "end"; end: ScriptEnd };

/** `wasm` is compiled once for all threads. */
export type SandboxData = { wasm: WebAssembly.Module; limits: EngineLimits };
