// Runs one script from its start, or from where it was suspended, to its end: passes its calls to the link, its answers to the script,
// and suspends it when it waits for nothing but people. The host runs this where a script that misbehaves harms nobody: in a thread on
// Node, in the process's own object on Cloudflare.

import { deferred } from "../lib/deferred.ts";
import { sleep } from "../lib/sleep.ts";
import { Slots } from "../lib/slots.ts";
import {
  INTERRUPTED,
  type ScriptAnswer,
  type ScriptCall,
  type ScriptEnd,
  type ScriptLink,
  type ScriptStart,
  type ScriptTime,
  TIMED_OUT,
} from "../ports/sandbox.ts";
import { findFrameProblem } from "../protocol/scan.ts";
import { type Failure, Instance, type Outcome } from "./instance.ts";
import { CALLS_AT_ONCE, ENGINE_LIMITS, type EngineLimits, SNAPSHOT_BYTES, SOURCE_CHARS, TIMERS, WALL_MS } from "./limits.ts";
import { TIMER } from "./prelude.ts";
import { TOOL_OF_SCRIPT_CALL } from "./script-calls.ts";
import { cleanSource } from "./source.ts";

/** `takeInstance` returns a new instance with these limits; hosts make some ahead of time. */
export type EngineOptions = { wasm: WebAssembly.Module; takeInstance(): Promise<Instance>; limits?: EngineLimits };

/** Never rejects. */
export async function runScript(options: EngineOptions, start: ScriptStart, link: ScriptLink, signal: AbortSignal): Promise<ScriptEnd> {
  const source = start.kind === "source" ? cleanSource(start.code) : "";
  const problem = start.kind === "source" ? findSourceProblem(source) : null;
  if (problem !== null) return makeFailedEnd(problem);
  const limits = options.limits ?? ENGINE_LIMITS;
  let instance: Instance;
  try {
    instance = start.kind === "source" ? await options.takeInstance() : await Instance.restore(options.wasm, start.snapshot, limits);
  } catch {
    return makeFailedEnd(start.kind === "source" ? "The script could not be started" : INTERRUPTED);
  }
  const execution = new Execution(instance, link, start, limits);
  try {
    return await execution.run(start, source, signal);
  } finally {
    instance.dispose();
  }
}

function findSourceProblem(source: string): string | null {
  if (source === "") return "codemode requires a non-empty code string";
  return source.length > SOURCE_CHARS ? `The script is longer than ${SOURCE_CHARS} characters` : null;
}

export function makeFailedEnd(error: string, stack = "", logs: readonly string[] = []): ScriptEnd {
  return { kind: "failed", error, stack, logs };
}

class Execution {
  readonly #instance: Instance;
  readonly #link: ScriptLink;
  readonly #wallMs: number;
  readonly #used: ScriptTime;
  /** A host gets no more calls at a time, however many a script makes. */
  readonly #slots = new Slots(CALLS_AT_ONCE);
  readonly #end = deferred<ScriptEnd>();
  /** Ends timers together with the script. */
  readonly #over = new AbortController();
  /** Calls without an answer, timers, and calls that wait for a person. */
  #running = 0;
  #timers = 0;
  #suspended = 0;

  constructor(instance: Instance, link: ScriptLink, start: ScriptStart, { wallMs }: EngineLimits) {
    this.#instance = instance;
    this.#link = link;
    this.#wallMs = wallMs;
    this.#used = start.kind === "source" ? { wallMs: 0, cpuMs: 0 } : { ...start.used };
    this.#suspended = start.kind === "source" ? 0 : start.suspended;
  }

  async run(start: ScriptStart, source: string, signal: AbortSignal): Promise<ScriptEnd> {
    const startedAt = performance.now();
    const usedBefore = this.#used.wallMs;
    const timer = setTimeout(() => this.#end.resolve(makeFailedEnd(TIMED_OUT)), Math.max(0, this.#wallMs - usedBefore));
    const onAbort = () => this.#end.resolve(makeFailedEnd(INTERRUPTED));
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    else if (start.kind === "source") this.#proceed(this.#instance.start(source, start.globals, this.#used));
    // Together, so that the script is not suspended again between two answers.
    else this.#proceed(start.answers.reduce<Failure | null>((failure, one) => failure ?? this.#instance.answer(one, this.#used), null));
    try {
      const end = await this.#end.promise;
      this.#used.wallMs = usedBefore + performance.now() - startedAt;
      return end.kind === "suspended" ? { ...end, used: this.#used } : end;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      this.#over.abort();
    }
  }

  /** After a piece of the script has run: passes on the calls it has made, and ends or suspends the script. */
  #proceed(failure: Failure | null): void {
    if (failure !== null) return this.#end.resolve(makeFailedEnd(failure.error, failure.stack));
    for (const call of this.#instance.takeCalls()) this.#send(call);
    const { outcome } = this.#instance;
    // A call that the script has not awaited is made nevertheless, so a script that has returned waits for it.
    if (outcome !== null && (this.#running === 0 || !outcome.isOk)) return this.#end.resolve(this.#toEnd(outcome));
    if (outcome !== null || this.#running + this.#timers > 0) return;
    if (this.#suspended > 0) void this.#suspend();
    else this.#end.resolve(makeFailedEnd("The script waits for a promise that nothing can resolve"));
  }

  #send(call: ScriptCall): void {
    const isTimer = call.call === TIMER;
    if (isTimer) this.#timers++;
    else this.#running++;
    void this.#answer(call).then((answer) => {
      if (this.#over.signal.aborted) return;
      if (isTimer) this.#timers--;
      else this.#running--;
      if (answer.kind !== "suspended") return this.#proceed(this.#instance.answer({ number: call.number, answer }, this.#used));
      this.#suspended++;
      this.#proceed(null);
    });
  }

  async #answer(call: ScriptCall): Promise<ScriptAnswer> {
    const problem = findValueProblem(call.args);
    if (problem !== null) return { kind: "error", message: `The arguments of ${call.call} are too large: ${problem}` };
    if (call.call === TIMER) {
      if (this.#timers > TIMERS) return { kind: "error", message: `A script may have at most ${TIMERS} timers at a time` };
      await sleep(readTimerMs(call.args), this.#over.signal);
      return { kind: "value", json: "" };
    }
    if (!TOOL_OF_SCRIPT_CALL.has(call.call)) return { kind: "error", message: `A script cannot call ${call.call}` };
    return this.#slots.run(async () => (this.#over.signal.aborted ? { kind: "error", message: "The script has ended" } : this.#link(call)));
  }

  async #suspend(): Promise<void> {
    const snapshot = await this.#instance.takeSnapshot().catch(() => null);
    const isSmall = snapshot !== null && snapshot.length <= SNAPSHOT_BYTES;
    this.#end.resolve(isSmall ? { kind: "suspended", snapshot, used: this.#used } : makeFailedEnd(INTERRUPTED));
  }

  #toEnd(outcome: Outcome): ScriptEnd {
    const { isOk, json, error, logs } = outcome;
    const open = this.#running + this.#suspended;
    const all = open === 0 ? logs : [...logs, `[warn] The script ended before ${open === 1 ? "a call" : `${open} calls`} had an answer`];
    if (!isOk) return makeFailedEnd(error, this.#instance.describeStack(outcome), all);
    const problem = findValueProblem(json);
    return problem === null ? { kind: "completed", json, logs: all } : makeFailedEnd(`The result is too large: ${problem}`, "", all);
  }
}

/** Why the kernel's thread may not parse this: it would take too long, or fail. */
function findValueProblem(json: string): string | null {
  const problem = findFrameProblem(json);
  if (problem !== null) return problem;
  try {
    JSON.parse(json);
    return null;
  } catch {
    return "it is not JSON";
  }
}

function readTimerMs(args: string): number {
  const ms = (JSON.parse(args) as { ms?: unknown } | null)?.ms;
  return typeof ms === "number" && ms > 0 ? Math.min(ms, WALL_MS) : 0;
}
