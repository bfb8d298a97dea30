// Scripts that people run in a process (codemode.run): the sandbox is the process's, the calls are the person's. Nothing of them is stored:
// a script whose process is lost is lost too, and its caller hears of it.

import { withTimeout } from "../lib/with-timeout.ts";
import type { ScriptAnswer, ScriptCall, ScriptGlobals } from "../ports/sandbox.ts";
import { type ScriptResult, toScriptResult } from "../sandbox/calls/result.ts";
import { CALL_MS } from "../sandbox/limits.ts";
import { type ProcessPorts, type ScriptCallOutcome, STOPPED } from "./kernel-port.ts";
import { describeTimeout } from "./script-timeout.ts";

export type RunScriptArgs = { scriptId: string; code: string; globals: ScriptGlobals };

export class PersonalScripts {
  readonly #ports: ProcessPorts;
  readonly #running = new Map<string, AbortController>();

  constructor(ports: ProcessPorts) {
    this.#ports = ports;
  }

  async run({ scriptId, code, globals }: RunScriptArgs): Promise<ScriptResult> {
    const over = new AbortController();
    this.#running.set(scriptId, over);
    const link = (call: ScriptCall) => this.#answer(scriptId, call, over.signal);
    try {
      const end = await this.#ports.sandbox.run({ kind: "source", code, globals }, link, over.signal);
      // Nobody is asked inside a script of a person, so none of its calls is answered later.
      if (end.kind === "suspended") throw new Error("A script of a person was suspended");
      return toScriptResult(end);
    } finally {
      this.#running.delete(scriptId);
      // Calls that the script did not wait for end with it, wherever they run.
      over.abort(STOPPED);
    }
  }

  stop(scriptId: string): void {
    this.#running.get(scriptId)?.abort(null);
  }

  close(): void {
    for (const over of this.#running.values()) over.abort(null);
  }

  async #answer(scriptId: string, { number, call, args }: ScriptCall, signal: AbortSignal): Promise<ScriptAnswer> {
    const request = { scriptId, number, call, args: JSON.parse(args) as Record<string, unknown> };
    const late: ScriptCallOutcome = { isError: true, message: describeTimeout(call) };
    const expired = { value: late, reason: STOPPED };
    const outcome = await withTimeout(CALL_MS, signal, (stopping) => this.#ports.kernel.runScriptCall(request, stopping), expired);
    return outcome.isError ? { kind: "error", message: outcome.message } : { kind: "value", json: outcome.json };
  }
}
