// The Sandbox port: scripts run in threads, one at a time in each. A thread that holds on to its script beyond its time is ended together
// with the script. Threads start on demand, are reused, and exit after an idle time.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { Slots } from "../../lib/slots.ts";
import { INTERRUPTED, type Sandbox, type ScriptEnd, type ScriptLink, type ScriptStart, TIMED_OUT } from "../../ports/sandbox.ts";
import { engineName } from "../../sandbox/engine-name.ts";
import { ENGINE_LIMITS, type EngineLimits } from "../../sandbox/limits.ts";
import type { FromSandbox, SandboxData, ToSandbox } from "./sandbox-messages.ts";

export type SandboxLimits = {
  /** Running scripts: of one user, and of all. */
  perUser: number;
  total: number;
  /** Idle threads that are kept, and how long; the others exit at once. */
  idle: number;
  idleMs: number;
  /** How long a thread may take beyond the time of its script, or after it was told to stop. */
  graceMs: number;
  engine: EngineLimits;
};

const LIMITS: SandboxLimits = { perUser: 4, total: 16, idle: 2, idleMs: 30_000, graceMs: 500, engine: ENGINE_LIMITS };
/** The engine's memory is not part of the heap; this is for the messages. */
const HEAP_MB_MAX = 64;

export class NodeSandboxes {
  readonly #idle: Thread[] = [];
  readonly #threads = new Set<Thread>();
  readonly #limits: SandboxLimits;
  readonly #all: Slots;
  readonly #users = new Map<number, Slots>();
  #wasm: Promise<WebAssembly.Module> | null = null;
  #isClosed = false;

  /** Tests lower the limits. */
  constructor(limits: Partial<SandboxLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
    this.#all = new Slots(this.#limits.total);
  }

  /** The sandbox of one process; `ownerUid` is the user whose share its scripts use. */
  makeSandbox(ownerUid: () => number): Sandbox {
    return { engine: engineName(false), run: (start, link, signal) => this.#queue(ownerUid(), start, link, signal) };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  #queue(uid: number, start: ScriptStart, link: ScriptLink, signal: AbortSignal): Promise<ScriptEnd> {
    const slots = this.#users.get(uid) ?? new Slots(this.#limits.perUser);
    this.#users.set(uid, slots);
    return slots
      .run(() => this.#all.run(() => this.#run(start, link, signal), signal), signal)
      .catch((error: unknown) => {
        if (signal.aborted) return makeEnd(INTERRUPTED);
        throw error;
      })
      .finally(() => {
        if (slots.isIdle) this.#users.delete(uid);
      });
  }

  async #run(start: ScriptStart, link: ScriptLink, signal: AbortSignal): Promise<ScriptEnd> {
    try {
      this.#wasm ??= compileEngine();
      const wasm = await this.#wasm;
      if (this.#isClosed || signal.aborted) return makeEnd(INTERRUPTED);
      const thread = this.#idle.pop() ?? this.#startThread(wasm);
      const end = await thread.run(start, link, signal);
      if (!thread.hasExited && this.#idle.length < this.#limits.idle) this.#idle.push(thread);
      else void thread.end();
      return end;
    } catch (error) {
      this.#wasm = null;
      return makeEnd(`The sandbox could not be started: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #startThread(wasm: WebAssembly.Module): Thread {
    const thread: Thread = new Thread(wasm, this.#limits, () => {
      this.#threads.delete(thread);
      const at = this.#idle.indexOf(thread);
      if (at !== -1) this.#idle.splice(at, 1);
    });
    this.#threads.add(thread);
    return thread;
  }
}

class Thread {
  readonly #worker: Worker;
  readonly #limits: SandboxLimits;
  #finish: ((end: ScriptEnd) => void) | null = null;
  #link: ScriptLink | null = null;
  #deadline: NodeJS.Timeout | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  hasExited = false;

  constructor(wasm: WebAssembly.Module, limits: SandboxLimits, onExit: () => void) {
    this.#limits = limits;
    this.#worker = new Worker(threadUrl(), {
      execArgv: [],
      env: {},
      // Keeps the thread off the gateway's own output.
      stdout: true,
      stderr: true,
      workerData: { wasm, limits: limits.engine } satisfies SandboxData,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX, maxYoungGenerationSizeMb: 8, stackSizeMb: 4 },
    });
    this.#worker.unref();
    this.#worker.on("message", (message: FromSandbox) => this.#onMessage(message));
    // Its exit follows.
    this.#worker.on("error", () => {});
    this.#worker.on("exit", () => {
      this.hasExited = true;
      clearTimeout(this.#idleTimer);
      this.#end(makeEnd("The sandbox failed while it ran this script"));
      onExit();
    });
  }

  async run(start: ScriptStart, link: ScriptLink, signal: AbortSignal): Promise<ScriptEnd> {
    clearTimeout(this.#idleTimer);
    this.#worker.ref();
    const { promise, resolve } = Promise.withResolvers<ScriptEnd>();
    this.#finish = resolve;
    this.#link = link;
    const used = start.kind === "source" ? 0 : start.used.wallMs;
    const { engine, graceMs, idleMs } = this.#limits;
    this.#deadline = setTimeout(() => this.#kill(TIMED_OUT), Math.max(0, engine.wallMs - used) + graceMs);
    const stop = () => {
      this.#post({ type: "stop" });
      clearTimeout(this.#deadline);
      this.#deadline = setTimeout(() => this.#kill(INTERRUPTED), graceMs);
    };
    signal.addEventListener("abort", stop, { once: true });
    this.#post({ type: "run", start });
    const end = await promise;
    signal.removeEventListener("abort", stop);
    this.#worker.unref();
    this.#idleTimer = setTimeout(() => void this.end(), idleMs).unref();
    return end;
  }

  async end(): Promise<void> {
    this.#end(makeEnd(INTERRUPTED));
    await this.#worker.terminate();
  }

  #onMessage(message: FromSandbox): void {
    const link = this.#link;
    if (link === null) return;
    if (message.type === "end") return this.#end(message.end);
    const { call } = message;
    void link(call).then((answer) => {
      if (this.#link === link) this.#post({ type: "answer", number: call.number, answer });
    });
  }

  #end(end: ScriptEnd): void {
    clearTimeout(this.#deadline);
    this.#link = null;
    this.#finish?.(end);
    this.#finish = null;
  }

  #kill(error: string): void {
    this.#end(makeEnd(error));
    this.hasExited = true;
    void this.#worker.terminate();
  }

  #post(message: ToSandbox): void {
    this.#worker.postMessage(message, []);
  }
}

function makeEnd(error: string): ScriptEnd {
  return { kind: "failed", error, stack: "", logs: [] };
}

/** Compiled once: threads share the code. A bundle has the file beside it. */
async function compileEngine(): Promise<WebAssembly.Module> {
  const isBundled = !import.meta.url.endsWith(".ts");
  const url = isBundled ? new URL("../quickjs.wasm", import.meta.url) : new URL(import.meta.resolve("quickjs-wasi/quickjs.wasm"));
  return WebAssembly.compile(await readFile(fileURLToPath(url)));
}

function threadUrl(): URL {
  return import.meta.url.endsWith(".ts")
    ? new URL("./sandbox-thread.ts", import.meta.url)
    : new URL("../sandbox-thread.js", import.meta.url);
}
