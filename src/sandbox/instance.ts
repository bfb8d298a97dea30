// One QuickJS, compiled to WebAssembly: its own memory, and no imports but the host's callbacks. An instance runs one script.

import { type JSException, type JSValueHandle, QuickJS, type QuickJSOptions } from "quickjs-wasi";
import { type NumberedAnswer, type ScriptCall, type ScriptGlobals, type ScriptTime, TIMED_OUT } from "../ports/sandbox.ts";
import { CPU_MS, MEMORY_BYTES, STACK_BYTES, STEPS_PER_SLICE } from "./limits.ts";
import { PRELUDE, PRELUDE_FILE } from "./prelude.ts";
import { packSnapshot, unpackSnapshot } from "./snapshot.ts";
import { wrapSource } from "./source.ts";
import { describeStack, SCRIPT_FILE } from "./stack.ts";

/** How the script ended, as the prelude reports it. */
export type Outcome = { isOk: boolean; value?: unknown; error?: string; name?: string; stack?: string; logs: string[] };
export type Failure = { error: string; stack: string };

const HOST_CALL = "gsv.call";
const HOST_END = "gsv.end";

export class Instance {
  readonly #vm: QuickJS;
  readonly #clock: SliceClock;
  /** Functions of the prelude; the first two are needed only before the script starts. */
  readonly #setGlobals: JSValueHandle | null = null;
  readonly #start: JSValueHandle | null = null;
  readonly #settle: JSValueHandle;
  /** Characters that were added before the first line of the source. */
  #prefix = 0;
  #calls: ScriptCall[] = [];
  outcome: Outcome | null = null;

  private constructor(vm: QuickJS, clock: SliceClock, suspended: { token: number; prefix: number } | null) {
    this.#vm = vm;
    this.#clock = clock;
    const onCall = (...[number, name, args]: JSValueHandle[]) => {
      this.#calls.push({ number: number!.toNumber(), call: name!.toString(), args: args!.isUndefined ? "null" : args!.toString() });
      return vm.undefined;
    };
    const onEnd = (...[json]: JSValueHandle[]) => {
      this.outcome ??= JSON.parse(json!.toString()) as Outcome;
      return vm.undefined;
    };
    if (suspended !== null) {
      vm.registerHostCallback(HOST_CALL, onCall);
      vm.registerHostCallback(HOST_END, onEnd);
      this.#settle = vm.importHandle(suspended.token);
      this.#prefix = suspended.prefix;
      return;
    }
    clock.begin(vm, { wallMs: 0, cpuMs: 0 });
    const prelude = vm.evalCode(PRELUDE, PRELUDE_FILE);
    const functions = vm.callFunction(prelude, vm.undefined, vm.newFunction(HOST_CALL, onCall), vm.newFunction(HOST_END, onEnd));
    this.#setGlobals = functions.getProp("setGlobals");
    this.#start = functions.getProp("start");
    this.#settle = functions.getProp("settle");
  }

  static async create(wasm: WebAssembly.Module): Promise<Instance> {
    const clock = new SliceClock();
    return new Instance(await QuickJS.create(makeOptions(wasm, clock)), clock, null);
  }

  static async restore(wasm: WebAssembly.Module, packed: Uint8Array): Promise<Instance> {
    const { snapshot, ...suspended } = await unpackSnapshot(packed);
    const clock = new SliceClock();
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
    return this.#runSlice(used, () => {
      vm.withScope(() => vm.callFunction(this.#settle, vm.undefined, vm.newNumber(number), isValue, vm.newString(text)));
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
  describeStack({ name = "", error = "", stack = "" }: Pick<Outcome, "name" | "error" | "stack">): string {
    const lines = describeStack(stack, this.#prefix);
    return lines === "" ? "" : `${name === "" ? "" : `${name}: `}${error}\n${lines}`;
  }

  dispose(): void {
    this.#vm.dispose();
  }

  #runSlice(used: ScriptTime, body: () => void): Failure | null {
    this.#clock.begin(this.#vm, used);
    try {
      body();
      this.#vm.executePendingJobs();
      return this.#clock.findProblem();
    } catch (error) {
      return this.#clock.findProblem() ?? this.#describeFailure(error);
    } finally {
      used.cpuMs += this.#clock.elapsedMs;
    }
  }

  /** A function is tried as an expression first: what looks like one may be the first statement of a body. */
  #compile(source: string): JSValueHandle {
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
    return { error: `SyntaxError: ${message}${place === "" ? "" : ` (${place.replace(/^ *at /, "")})`}`, stack: "" };
  }
}

/** Limits how long a script may compute: by the clock, or by the steps that a metered engine counts. */
class SliceClock {
  #startedAt = 0;
  #deadline = Infinity;
  #isOver = false;
  #steps: { value: number } | undefined;

  begin(vm: QuickJS, { cpuMs }: ScriptTime): void {
    this.#startedAt = performance.now();
    this.#deadline = this.#startedAt + CPU_MS - cpuMs;
    this.#steps = (vm as unknown as { exports: { steps?: { value: number } } }).exports.steps;
    if (this.#steps !== undefined) this.#steps.value = STEPS_PER_SLICE;
  }

  get elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }

  /** The engine polls this and stops the script when it is true. */
  readonly poll = (): boolean => {
    this.#isOver ||= performance.now() > this.#deadline;
    return this.#isOver;
  };

  findProblem(): Failure | null {
    // A metered engine traps below zero.
    if (this.#steps !== undefined && this.#steps.value < 0)
      return { error: `${TIMED_OUT}: the script computed for too long without waiting for a call`, stack: "" };
    if (this.#isOver) return { error: `${TIMED_OUT}: the script computed for more than ${CPU_MS / 1000} s`, stack: "" };
    return null;
  }
}

function makeOptions(wasm: WebAssembly.Module, clock: SliceClock): QuickJSOptions {
  return { wasm, memoryLimit: MEMORY_BYTES, maxStackSize: STACK_BYTES, timezoneOffset: 0, interruptHandler: clock.poll };
}
