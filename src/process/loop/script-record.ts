// What is kept of the calls that a script made: the last of them, shortened, as part of the script's result in the history. Events tell
// followers more while it runs (script-reports.ts), and are gone after a while.

import { shortenArgs, shortenText } from "../../lib/shorten-args.ts";
import type { ScriptCallList, ScriptCallRecord } from "../../protocol/proc-records.ts";
import { HIL_REQUESTED, TOOL_FINISHED, TOOL_STARTED } from "../../protocol/signal-names.ts";
import type { ProcessEvent } from "../../protocol/signals.ts";

const CALLS_MAX = 100;
const ARG_CHARS = 120;
/** Of all arguments of a call, with their names: a script may make calls with thousands. */
const ARGS_CHARS = 1_000;
const ERROR_CHARS = 300;

export class ScriptRecord {
  #count = 0;
  readonly #calls: ScriptCallRecord[] = [];

  /** For an instance of the process that has not seen the script run. */
  static fromEvents(events: readonly ProcessEvent[]): ScriptRecord {
    const record = new ScriptRecord();
    const argsOf = new Map<string, Record<string, unknown>>();
    for (const { signal, payload } of events) {
      if (signal === TOOL_STARTED || signal === HIL_REQUESTED) argsOf.set(payload.callId, payload.args);
      else if (signal === TOOL_FINISHED) record.add({ ...payload, args: payload.args ?? argsOf.get(payload.callId) ?? {} });
    }
    return record;
  }

  add({ callId, name, args, ok, outcome, error, durationMs }: ScriptCallRecord): void {
    this.#count++;
    this.#calls.push({
      callId,
      name,
      args: takeFirst(shortenArgs(args, ARG_CHARS)),
      ok,
      ...(outcome === undefined ? {} : { outcome }),
      ...(error === undefined ? {} : { error: shortenText(error, ERROR_CHARS) }),
      ...(durationMs === undefined ? {} : { durationMs }),
    });
    if (this.#calls.length > CALLS_MAX) this.#calls.shift();
  }

  has(callId: string): boolean {
    return this.#calls.some((call) => call.callId === callId);
  }

  /** Undefined if there was none. */
  get list(): ScriptCallList | undefined {
    return this.#count === 0 ? undefined : { count: this.#count, calls: [...this.#calls] };
  }
}

function takeFirst(args: Record<string, unknown>): Record<string, unknown> {
  let chars = 0;
  const entries = Object.entries(args);
  const end = entries.findIndex(([name, value]) => (chars += name.length + (JSON.stringify(value) ?? "").length) > ARGS_CHARS);
  return end === -1 ? args : Object.fromEntries(entries.slice(0, end));
}
