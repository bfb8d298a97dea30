// Answers the requests that processes, which live in objects of their own, send to the kernel. The other end is kernel-client.ts.

import { fail } from "../../lib/sys-error.ts";
import { type Reply, replyOf } from "../../ports/reply.ts";
import type { RunSettings } from "../../protocol/process-settings.ts";
import type { AnswerPiece, ProcessEvent } from "../../protocol/signals.ts";
import {
  type KernelPort,
  type PersonalScriptCall,
  type Preparation,
  type ScriptCallOutcome,
  STOPPED,
  type SysCall,
  type SysOutcome,
} from "../../process/kernel-port.ts";

/** Values a process needs synchronously. They come with every preparation, so they are never older than the current run. */
export type ProcessFacts = {
  archiveRoot: string;
  /** The value of config/ai/catalogue. */
  catalogue: string;
  /** Hosts it may connect to although their addresses are not public, in the form kernel/egress/allow.ts takes. */
  reachable: [string, ...string[]];
};

export type PreparedRun = { preparation: Preparation; facts: ProcessFacts };

/** An event or a piece of an answer; delivered in order. */
export type ProcessOutput = { event: ProcessEvent } | { piece: AnswerPiece };

/** The requests of a process. `abandon` is about a call made by `sys`; `isStopped` means that the call must end. */
export type KernelRequests = {
  facts: () => ProcessFacts;
  prepare: (conversationId: string, settings: RunSettings | undefined) => Promise<PreparedRun>;
  runSyscall: (call: SysCall) => Promise<SysOutcome>;
  abandon: (call: SysCall, isStopped: boolean) => void;
  runScriptCall: (call: PersonalScriptCall) => Promise<ScriptCallOutcome>;
  cancelScriptCall: (scriptId: string, number: number) => void;
  deliver: (told: readonly ProcessOutput[]) => Promise<void>;
} & Pick<
  KernelPort,
  | "lastReceivedSeq"
  | "listScriptFunctions"
  | "withdrawQuestions"
  | "readOwnerAccount"
  | "askForBudget"
  | "storeOutput"
  | "readMedia"
  | "archive"
  | "readArchive"
  | "checkpoint"
>;

const ENDED_MAX = 200;

type OpenCall = { outcome: Promise<SysOutcome>; abort: AbortController };

export class ProcessRequests {
  readonly #kernelPortFor: (pid: string) => KernelPort;
  readonly #factsOf: (pid: string) => ProcessFacts;
  readonly #reportStart: (pid: string, callId: string) => Promise<void>;
  /** Open calls, by process and call id. */
  readonly #open = new Map<string, OpenCall>();
  /** Open calls of scripts that people run, by process, script and number. */
  readonly #scriptCalls = new Map<string, AbortController>();
  /** The calls that ended most recently. */
  readonly #ended = new Set<string>();

  /** `reportStart` reports to a process that one of its calls has started. */
  constructor(
    kernelPortFor: (pid: string) => KernelPort,
    facts: (pid: string) => ProcessFacts,
    reportStart: (pid: string, callId: string) => Promise<void>,
  ) {
    this.#kernelPortFor = kernelPortFor;
    this.#factsOf = facts;
    this.#reportStart = reportStart;
  }

  answer(pid: string, name: string, args: readonly unknown[]): Promise<Reply> {
    return replyOf(this.#answer(pid, name, args));
  }

  async #answer(pid: string, name: string, args: readonly unknown[]): Promise<unknown> {
    const handlers = this.#makeHandlers(pid);
    if (!Object.hasOwn(handlers, name)) fail(404, `A process cannot ask for ${name}`);
    return (handlers[name as keyof KernelRequests] as (...args: readonly unknown[]) => unknown)(...args);
  }

  #makeHandlers(pid: string): KernelRequests {
    const kernel = this.#kernelPortFor(pid);
    return {
      lastReceivedSeq: () => kernel.lastReceivedSeq(),
      listScriptFunctions: () => kernel.listScriptFunctions(),
      withdrawQuestions: (runId, about) => kernel.withdrawQuestions(runId, about),
      runScriptCall: (call) => this.#runScriptCall(pid, kernel, call),
      cancelScriptCall: (scriptId, number) => this.#scriptCalls.get(`${pid} ${scriptId} ${number}`)?.abort(STOPPED),
      readOwnerAccount: () => kernel.readOwnerAccount(),
      askForBudget: (question) => kernel.askForBudget(question),
      storeOutput: (callId, text) => kernel.storeOutput(callId, text),
      readMedia: (key) => kernel.readMedia(key),
      archive: (path, bytes) => kernel.archive(path, bytes),
      readArchive: (path) => kernel.readArchive(path),
      checkpoint: (checkpoint) => kernel.checkpoint(checkpoint),
      facts: () => this.#factsOf(pid),
      prepare: async (conversationId, settings) => ({
        preparation: await kernel.prepare(conversationId, settings),
        facts: this.#factsOf(pid),
      }),
      runSyscall: (call) => this.#runSyscall(pid, kernel, call),
      abandon: (call, isStopped) => this.#abandon(pid, kernel, call, isStopped),
      deliver: async (items) => {
        for (const item of items) {
          if ("event" in item) await kernel.emit([item.event]);
          else kernel.stream(item.piece);
        }
      },
    };
  }

  /**
   * After a restart the kernel's object does not know an older call. Sending it again with `isRepeat` finds it, and the aborted
   * signal ends it.
   */
  #abandon(pid: string, kernel: KernelPort, call: SysCall, isStopped: boolean): void {
    const key = `${pid} ${call.callId}`;
    const open = this.#open.get(key);
    if (open !== undefined) open.abort.abort(isStopped ? STOPPED : null);
    // It ended while its process was stopping it: there is nothing left to end.
    else if (this.#ended.has(key)) return;
    else if (isStopped) void kernel.runSyscall({ ...call, isRepeat: true }, AbortSignal.abort(STOPPED), () => {}).catch(() => {});
  }

  /** A process retries after a lost connection; a call that is still open here is not started twice. */
  #runSyscall(pid: string, kernel: KernelPort, call: SysCall): Promise<SysOutcome> {
    const key = `${pid} ${call.callId}`;
    const before = this.#open.get(key);
    if (before !== undefined) return before.outcome;
    const abort = new AbortController();
    // The start of a call must be reported before its end.
    let reported: Promise<void> | undefined;
    const reportStart = () => {
      reported ??= this.#reportStart(pid, call.callId).catch(() => {});
    };
    const waitForReport = async (end: SysOutcome) => {
      await reported;
      return end;
    };
    const outcome = kernel
      .runSyscall(call, abort.signal, reportStart)
      .then(waitForReport)
      .finally(() => this.#markEnded(key));
    this.#ended.delete(key);
    this.#open.set(key, { outcome, abort });
    return outcome;
  }

  async #runScriptCall(pid: string, kernel: KernelPort, call: PersonalScriptCall): Promise<ScriptCallOutcome> {
    const key = `${pid} ${call.scriptId} ${call.number}`;
    const abort = new AbortController();
    this.#scriptCalls.set(key, abort);
    try {
      return await kernel.runScriptCall(call, abort.signal);
    } finally {
      this.#scriptCalls.delete(key);
    }
  }

  #markEnded(key: string): void {
    this.#open.delete(key);
    this.#ended.add(key);
    for (const oldest of this.#ended) if (this.#ended.size > ENDED_MAX) this.#ended.delete(oldest);
  }
}
