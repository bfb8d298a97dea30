// One QuickJS, compiled to WebAssembly: its own memory, and no imports but the host's callbacks. An instance runs one script.

import { type JSException, type JSValueHandle, QuickJS, type QuickJSOptions } from "quickjs-wasi";
import { type NumberedAnswer, type ScriptCall, type ScriptGlobals, type ScriptTime, TIMED_OUT } from "../ports/sandbox.ts";
import {
  CALLS,
  ENGINE_LIMITS,
  type EngineLimits,
  LOG_LINES,
  MEMORY_BYTES,
  OPEN_CALLS_CHARS,
  REPORT_CHARS,
  STACK_BYTES,
  VALUE_CHARS,
} from "./limits.ts";
import { PRELUDE, PRELUDE_FILE, TIMER } from "./prelude.ts";
import { packSnapshot, unpackSnapshot } from "./snapshot.ts";
import { wrapSource } from "./source.ts";
import { describeStack, SCRIPT_FILE } from "./stack.ts";

/** How the script ended, as the prelude reports it; `json` is the result. */
export type Outcome = { isOk: boolean; json: string; error: string; name: string; stack: string; logs: string[] };
export type Failure = { error: string; stack: string };

const HOST_CALL = "gsv.call";
const HOST_END = "gsv.end";
const NAME_CHARS = 100;
/** Takes linear time, whatever the source is: it is not the script's time. */
const IMPORT = /^[ \t]*import\b(?!\s{0,99}\()/m;

export class Instance {
  readonly #vm: QuickJS;
  readonly #clock: SliceClock;
  /** Functions of the prelude; the first two are needed only before the script starts. */
  readonly #setGlobals: JSValueHandle | null = null;
  readonly #start: JSValueHandle | null = null;
  readonly #settle: JSValueHandle;
  /** Characters that were added before the first line of the source. */
  #prefix = 0;
  #hasImport = false;
  #calls: ScriptCall[] = [];
  #callCount = 0;
  /** The lengths of calls that have no answer, by their numbers. */
  readonly #open = new Map<number, number>();
  #openChars = 0;
  outcome: Outcome | null = null;

  private constructor(vm: QuickJS, clock: SliceClock, suspended: { token: number; prefix: number } | null) {
    this.#vm = vm;
    this.#clock = clock;
    const onCall = (...[number, name, args]: JSValueHandle[]) => {
      const refusal = this.#takeCall(number!, name!, args!);
      return refusal === null ? vm.undefined : vm.newString(refusal);
    };
    const onEnd = (...[report, json]: JSValueHandle[]) => {
      this.outcome ??= readOutcome(report!, json!);
      return vm.undefined;
    };
    if (suspended !== null) {
      vm.registerHostCallback(HOST_CALL, onCall);
      vm.registerHostCallback(HOST_END, onEnd);
      this.#settle = vm.importHandle(suspended.token);
      this.#prefix = suspended.prefix;
      return;
    }
    // No clock runs: this is not the script's time.
    const prelude = vm.evalCode(PRELUDE, PRELUDE_FILE);
    const functions = vm.callFunction(prelude, vm.undefined, vm.newFunction(HOST_CALL, onCall), vm.newFunction(HOST_END, onEnd));
    this.#setGlobals = functions.getProp("setGlobals");
    this.#start = functions.getProp("start");
    this.#settle = functions.getProp("settle");
  }

  static async create(wasm: WebAssembly.Module, limits: EngineLimits = ENGINE_LIMITS): Promise<Instance> {
    const clock = new SliceClock(limits);
    return new Instance(await QuickJS.create(makeOptions(wasm, clock)), clock, null);
  }

  static async restore(wasm: WebAssembly.Module, packed: Uint8Array, limits: EngineLimits = ENGINE_LIMITS): Promise<Instance> {
    const { snapshot, ...suspended } = await unpackSnapshot(packed);
    const clock = new SliceClock(limits);
    return new Instance(await QuickJS.restore(snapshot, makeOptions(wasm, clock)), clock, suspended);
  }

  /** Compiles a script and runs it until it waits or ends. Returns what ended it from outside, or null. */
  start(source: string, globals: ScriptGlobals, used: ScriptTime): Failure | null {
    const vm = this.#vm;
    return this.#runSlice(used, () => {
      vm.callFunction(this.#setGlobals!, vm.undefined, vm.newString(JSON.stringify(globals)));
      vm.callFunction(this.#start!, vm.undefined, this.#compile(source));
    });
  }

  /** Answers a call, and runs the script until it waits again or ends. */
  answer({ number, answer }: NumberedAnswer, used: ScriptTime): Failure | null {
    const vm = this.#vm;
    const [isValue, text] = answer.kind === "value" ? [vm.true, answer.json] : [vm.false, answer.message];
    this.#openChars -= this.#open.get(number) ?? 0;
    this.#open.delete(number);
    return this.#runSlice(used, () => {
      vm.callFunction(this.#settle, vm.undefined, vm.newNumber(number), isValue, vm.newString(text));
    });
  }

  /** The calls that the script has made since this was last asked. */
  takeCalls(): ScriptCall[] {
    return this.#calls.splice(0);
  }

  takeSnapshot(): Promise<Uint8Array> {
    return packSnapshot({ snapshot: this.#vm.snapshot(), token: this.#vm.exportHandle(this.#settle), prefix: this.#prefix });
  }

  /** The script's own lines of a stack trace, below the name of the error. */
  describeStack({ name, error, stack }: Pick<Outcome, "name" | "error" | "stack">): string {
    const lines = describeStack(stack, this.#prefix);
    return lines === "" ? "" : `${name === "" ? "" : `${name}: `}${error}\n${lines}`;
  }

  dispose(): void {
    this.#vm.dispose();
  }

  /** Returns why a call is refused, or null. Lengths are checked inside the engine: a text that is read is the host's memory. */
  #takeCall(number: JSValueHandle, name: JSValueHandle, args: JSValueHandle): string | null {
    const call = readText(name, NAME_CHARS) ?? "?";
    if (call !== TIMER && ++this.#callCount > CALLS) return `A script may make at most ${CALLS} calls`;
    const text = readText(args, VALUE_CHARS);
    if (text === null) return `The arguments of ${call} are too large: more than ${VALUE_CHARS} characters`;
    if (this.#openChars + text.length > OPEN_CALLS_CHARS)
      return `The arguments of the calls that wait for answers have more than ${OPEN_CALLS_CHARS} characters: wait for some of them first`;
    const key = number.isNumber ? number.toNumber() : NaN;
    if (!Number.isSafeInteger(key) || this.#open.has(key)) return "The engine has misnumbered a call";
    this.#open.set(key, text.length);
    this.#openChars += text.length;
    this.#calls.push({ number: key, call, args: text });
    return null;
  }

  #runSlice(used: ScriptTime, body: () => void): Failure | null {
    this.#clock.begin(this.#vm, used);
    try {
      this.#vm.withScope(() => {
        body();
        this.#vm.executePendingJobs();
      });
      return this.#clock.findProblem();
    } catch (error) {
      return this.#clock.findProblem() ?? this.#describeFailure(error);
    } finally {
      used.cpuMs += this.#clock.elapsedMs;
    }
  }

  /** A function is tried as an expression first: what looks like one may be the first statement of a body. */
  #compile(source: string): JSValueHandle {
    this.#hasImport = IMPORT.test(source);
    const candidates = wrapSource(source);
    let problem: unknown;
    for (const { text, prefix } of candidates) {
      this.#prefix = prefix;
      try {
        return this.#vm.evalCode(text, SCRIPT_FILE);
      } catch (error) {
        problem = error;
      }
    }
    throw problem;
  }

  /** Errors of the script itself arrive as an outcome. What is thrown is a syntax error, or the end of the engine. */
  #describeFailure(thrown: unknown): Failure {
    if (thrown instanceof WebAssembly.RuntimeError) return { error: "The script recurses too deeply, or needs too much memory", stack: "" };
    const { name, message, stack = "" } = thrown as JSException;
    if (name !== "SyntaxError") return { error: message, stack: this.describeStack({ name, error: message, stack }) };
    const [place = ""] = describeStack(stack, this.#prefix).split("\n");
    const hint = this.#hasImport ? ". A script cannot import: it has shell and fs" : "";
    return { error: `SyntaxError: ${message}${place === "" ? "" : ` (${place.replace(/^ *at /, "")})`}${hint}`, stack: "" };
  }
}

/** Null if it is not a text, or longer than that. */
function readText(handle: JSValueHandle, charsMax: number): string | null {
  if (!handle.isString) return null;
  return handle.getProp("length").consume((length) => length.toNumber()) > charsMax ? null : handle.toString();
}

const BAD_REPORT = "The engine ended this script without a report that can be read";
const LONG_RESULT = `The result is longer than ${VALUE_CHARS} characters: return less`;

/** The prelude's report and its result as JSON, neither of which is trusted to be what the prelude writes. */
function readOutcome(report: JSValueHandle, result: JSValueHandle): Outcome {
  const outcome: Outcome = { isOk: false, json: "null", error: BAD_REPORT, name: "", stack: "", logs: [] };
  const text = readText(report, REPORT_CHARS);
  const said = text === null ? null : parseReport(text);
  if (said === null) return outcome;
  const { isOk, error = "", name = "", stack = "", logs } = said;
  const json = readText(result, VALUE_CHARS);
  if (isOk !== true) return { ...outcome, error, name, stack, logs };
  return json === null ? { ...outcome, error: LONG_RESULT, logs } : { ...outcome, isOk: true, json, error: "", logs };
}

type Report = { isOk?: unknown; error?: string; name?: string; stack?: string; logs: string[] };

function parseReport(text: string): Report | null {
  try {
    const { isOk, error, name, stack, logs } = JSON.parse(text) as Record<string, unknown>;
    const isText = (value: unknown) => value === undefined || typeof value === "string";
    // One line more than a script may write says how many were left out.
    if (!Array.isArray(logs) || logs.length > LOG_LINES + 1 || !logs.every((line) => typeof line === "string")) return null;
    return isText(error) && isText(name) && isText(stack) ? ({ isOk, error, name, stack, logs } as Report) : null;
  } catch {
    return null;
  }
}

/** Limits how long a script may compute: by the clock, or by the steps that a metered engine counts. */
class SliceClock {
  readonly #limits: EngineLimits;
  #startedAt = 0;
  #deadline = Infinity;
  #isOver = false;
  #steps: { value: number } | undefined;

  constructor(limits: EngineLimits) {
    this.#limits = limits;
  }

  begin(vm: QuickJS, { cpuMs }: ScriptTime): void {
    this.#startedAt = performance.now();
    this.#deadline = this.#startedAt + this.#limits.cpuMs - cpuMs;
    this.#steps = (vm as unknown as { exports: { steps?: { value: number } } }).exports.steps;
    if (this.#steps !== undefined) this.#steps.value = this.#limits.stepsPerSlice;
  }

  get elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }

  /** The engine polls this. It throws through the engine: where it only answers, the constructor of promises catches the interrupt. */
  readonly poll = (): boolean => {
    if (performance.now() <= this.#deadline) return false;
    this.#isOver = true;
    throw new Error(TIMED_OUT);
  };

  findProblem(): Failure | null {
    // A metered engine traps below zero.
    if (this.#steps !== undefined && this.#steps.value < 0)
      return { error: `${TIMED_OUT}: the script computed for too long without waiting for a call`, stack: "" };
    if (this.#isOver) return { error: `${TIMED_OUT}: the script computed for more than ${this.#limits.cpuMs / 1000} s`, stack: "" };
    return null;
  }
}

function makeOptions(wasm: WebAssembly.Module, clock: SliceClock): QuickJSOptions {
  return { wasm, memoryLimit: MEMORY_BYTES, maxStackSize: STACK_BYTES, timezoneOffset: 0, interruptHandler: clock.poll };
}
