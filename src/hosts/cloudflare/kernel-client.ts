// A process's client of the kernel, which lives in another object. Calls can fail, mostly because the kernel's object restarted;
// then they are retried. The other end is process-requests.ts.

import { rejectOnAbort } from "../../lib/or-aborted.ts";
import { sleep } from "../../lib/sleep.ts";
import { SysError } from "../../lib/sys-error.ts";
import { type Reply, unwrapReply } from "../../ports/reply.ts";
import {
  type KernelPort,
  type PersonalScriptCall,
  type ScriptCallOutcome,
  STOPPED,
  type SysCall,
  type SysOutcome,
} from "../../process/kernel-port.ts";
import type { KernelRequests, ProcessFacts, ProcessOutput } from "./process-requests.ts";

/** The method of the kernel's object for processes. */
export type KernelStub = { answerProcess(pid: string, name: string, args: readonly unknown[]): Promise<Reply> };

export type RemoteKernelOptions = {
  /** Returns a new stub each time: after a failure the old one no longer works. */
  makeStub(): KernelStub;
  pauseMs?: number;
};

const PAUSE_MS = 100;
const PAUSE_MS_MAX = 5_000;
/** About a minute. Callers that must not give up ask again themselves. */
const TRIES = 16;
/** The size of a batch of events; the platform's limit is 32 MiB. */
const BATCH_CHARS_MAX = 4_000_000;

type Result<N extends keyof KernelRequests> = Awaited<ReturnType<KernelRequests[N]>>;
type RetryOptions = { tries: number; signal?: AbortSignal };
type OutboxItem = { told: ProcessOutput; chars: number; resolve: () => void; reject: (error: unknown) => void };

export class RemoteKernel {
  readonly #pid: string;
  readonly #line: RemoteKernelOptions;
  #outbox: OutboxItem[] = [];
  #stub: KernelStub | null = null;
  #isSending = false;
  /** A delivery failed. Later events would hide the gap, so they are rejected until `lastReceivedSeq` was asked. */
  #hasGap = false;

  constructor(pid: string, line: RemoteKernelOptions) {
    this.#pid = pid;
    this.#line = line;
  }

  fetchFacts(): Promise<ProcessFacts> {
    return this.#ask("facts", []);
  }

  /** `onFacts` gets the facts that come with every preparation. */
  makePort(onFacts: (facts: ProcessFacts) => void): KernelPort {
    return {
      prepare: async (conversationId, settings) => {
        const { preparation, facts } = await this.#ask("prepare", [conversationId, settings]);
        onFacts(facts);
        return preparation;
      },
      // The kernel reports the start of a call to the process's object itself (process-requests.ts), because a function cannot
      // cross.
      runSyscall: (call, signal) => this.#runSyscall(call, signal),
      emit: async (events) => void (await Promise.all(events.map((event) => this.#deliver({ event })))),
      stream: (piece) => void this.#deliver({ piece }).catch(() => {}),
      lastReceivedSeq: async () => {
        const heard = await this.#ask("lastReceivedSeq", []);
        this.#hasGap = false;
        return heard;
      },
      runScriptCall: (call, signal) => this.#runScriptCall(call, signal),
      listScriptFunctions: () => this.#ask("listScriptFunctions", []),
      withdrawQuestions: (runId, about) => this.#ask("withdrawQuestions", [runId, about]),
      readOwnerAccount: () => this.#ask("readOwnerAccount", []),
      askForBudget: (question) => this.#ask("askForBudget", [question]),
      storeOutput: (callId, text) => this.#ask("storeOutput", [callId, text]),
      readMedia: (key) => this.#ask("readMedia", [key]),
      archive: (path, bytes) => this.#ask("archive", [path, bytes]),
      readArchive: (path) => this.#ask("readArchive", [path]),
      checkpoint: (checkpoint) => this.#ask("checkpoint", [checkpoint]),
    };
  }

  /** Retries until it is answered or the signal aborts, which happens at the latest when the lease of its run ends. */
  async #runSyscall(call: SysCall, signal: AbortSignal): Promise<SysOutcome> {
    const abandon = () => void this.#ask("abandon", [call, signal.reason === STOPPED]).catch(() => {});
    signal.addEventListener("abort", abandon, { once: true });
    try {
      // A call that was sent once may have run, even if it was never answered.
      return await this.#ask("runSyscall", (tries) => [{ ...call, isRepeat: call.isRepeat || tries > 0 }], { tries: Infinity, signal });
    } catch (error) {
      return { kind: "done", isError: true, output: `Error: ${error instanceof Error ? error.message : String(error)}` };
    } finally {
      signal.removeEventListener("abort", abandon);
    }
  }

  /** Sent once: the kernel forgets a person's script when it restarts. */
  async #runScriptCall(call: PersonalScriptCall, signal: AbortSignal): Promise<ScriptCallOutcome> {
    const cancel = () => void this.#ask("cancelScriptCall", [call.scriptId, call.number]).catch(() => {});
    signal.addEventListener("abort", cancel, { once: true });
    try {
      return await this.#ask("runScriptCall", [call], { tries: 1, signal });
    } catch (error) {
      return { isError: true, message: error instanceof Error ? error.message : String(error) };
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  /** Resolves when the kernel has received it. */
  #deliver(told: ProcessOutput): Promise<void> {
    if (this.#hasGap) return Promise.reject(new SysError(503, "The kernel has not received the earlier events"));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#outbox.push({ told, chars: JSON.stringify(told).length, resolve, reject });
    if (!this.#isSending) {
      this.#isSending = true;
      void this.#flush();
    }
    return promise;
  }

  /**
   * Sends one batch after the other, each with everything that arrived meanwhile: this keeps the order, and a slow connection
   * delays little.
   */
  async #flush(): Promise<void> {
    for (let batch = this.#takeBatch(); batch.length > 0; batch = this.#takeBatch()) {
      const all = batch.map(({ told }) => told);
      // Pieces are sent once: followers who miss one soon see the whole answer.
      const again = all.filter((told) => "event" in told);
      try {
        await this.#ask("deliver", (tries) => [tries === 0 ? all : again]);
        for (const { resolve } of batch) resolve();
      } catch (error) {
        this.#hasGap = true;
        const lost = [...batch, ...this.#outbox];
        this.#outbox = [];
        for (const { reject } of lost) reject(error);
      }
    }
    // Set in the same turn in which the outbox was empty, so the next item starts a new flush.
    this.#isSending = false;
  }

  #takeBatch(): OutboxItem[] {
    let chars = 0;
    const count = this.#outbox.findIndex((one, at) => (chars += one.chars) > BATCH_CHARS_MAX && at > 0);
    return this.#outbox.splice(0, count === -1 ? this.#outbox.length : count);
  }

  async #ask<N extends keyof KernelRequests>(
    name: N,
    args: Parameters<KernelRequests[N]> | ((tries: number) => Parameters<KernelRequests[N]>),
    { tries: triesMax, signal = new AbortController().signal }: RetryOptions = { tries: TRIES },
  ): Promise<Result<N>> {
    for (let tries = 0; ; tries++) {
      if (signal.aborted) throw new SysError(503, "The call was cancelled");
      this.#stub ??= this.#line.makeStub();
      const stub = this.#stub;
      const pending = stub.answerProcess(this.#pid, name, typeof args === "function" ? args(tries) : args);
      const reply = await rejectOnAbort(pending, signal).catch((error: unknown) => {
        if (this.#stub === stub) this.#stub = null;
        // Refusals are replies. Anything thrown is a connection failure, unless the value can never be copied.
        if (signal.aborted || (tries + 1 < triesMax && !isNotCloneable(error))) return null;
        throw new SysError(503, `The kernel cannot be reached now: ${String(error)}`);
      });
      if (reply !== null) return unwrapReply(reply) as Result<N>;
      await sleep(Math.min((this.#line.pauseMs ?? PAUSE_MS) * 2 ** tries, PAUSE_MS_MAX), signal);
    }
  }
}

function isNotCloneable(error: unknown): boolean {
  return error instanceof Error && error.name === "DataCloneError";
}
