// The kernel's end of the line to processes, which live in objects of their own: answers what they ask by name. The other end
// is kernel-client.ts.

import { fail } from "../../lib/sys-error.ts";
import { type Reply, replyOf } from "../../ports/reply.ts";
import type { AnswerPiece, ProcessEvent } from "../../protocol/signals.ts";
import { type KernelPort, type Preparation, STOPPED, type SysCall, type SysOutcome } from "../../process/kernel-port.ts";

/** What a process must know at once whenever it needs it. It is brought with every preparation, so that it is never older than a run. */
export type ProcessFacts = {
  archiveRoot: string;
  /** The value of config/ai/catalogue. */
  catalogue: string;
  /** Where it may connect to although the addresses are not public, as kernel/egress/allow.ts takes it. */
  reachable: [string, ...string[]];
};

export type Prepared = { preparation: Preparation; facts: ProcessFacts };

/** In the order in which it became true. */
export type Told = { event: ProcessEvent } | { piece: AnswerPiece };

/** What can be asked. `abandon` is about a call that was asked for by `sys`; `isStopped`: it is to end. */
export type KernelAsk = {
  facts: () => ProcessFacts;
  prepare: (conversationId: string) => Promise<Prepared>;
  sys: (call: SysCall) => Promise<SysOutcome>;
  abandon: (call: SysCall, isStopped: boolean) => void;
  tell: (told: readonly Told[]) => Promise<void>;
} & Pick<KernelPort, "heardUpTo" | "ofOwner" | "askForBudget" | "keepOutput" | "readMedia" | "archive" | "readArchive" | "checkpoint">;

const ENDED_MAX = 200;

type Open = { outcome: Promise<SysOutcome>; abort: AbortController };

export class ProcessRequests {
  readonly #kernelPortFor: (pid: string) => KernelPort;
  readonly #facts: (pid: string) => ProcessFacts;
  readonly #began: (pid: string, callId: string) => Promise<void>;
  /** Calls under way, by process and call id. */
  readonly #open = new Map<string, Open>();
  /** Those that ended last. */
  readonly #ended = new Set<string>();

  /** `began` tells a process that a call of its own is carried out. */
  constructor(
    kernelPortFor: (pid: string) => KernelPort,
    facts: (pid: string) => ProcessFacts,
    began: (pid: string, callId: string) => Promise<void>,
  ) {
    this.#kernelPortFor = kernelPortFor;
    this.#facts = facts;
    this.#began = began;
  }

  answer(pid: string, name: string, args: readonly unknown[]): Promise<Reply> {
    return replyOf(this.#answer(pid, name, args));
  }

  async #answer(pid: string, name: string, args: readonly unknown[]): Promise<unknown> {
    const asks = this.#asks(pid);
    if (!Object.hasOwn(asks, name)) fail(404, `A process cannot ask for ${name}`);
    return (asks[name as keyof KernelAsk] as (...args: readonly unknown[]) => unknown)(...args);
  }

  #asks(pid: string): KernelAsk {
    const link = this.#kernelPortFor(pid);
    return {
      heardUpTo: () => link.heardUpTo(),
      ofOwner: () => link.ofOwner(),
      askForBudget: (question) => link.askForBudget(question),
      keepOutput: (callId, text) => link.keepOutput(callId, text),
      readMedia: (key) => link.readMedia(key),
      archive: (path, bytes) => link.archive(path, bytes),
      readArchive: (path) => link.readArchive(path),
      checkpoint: (checkpoint) => link.checkpoint(checkpoint),
      facts: () => this.#facts(pid),
      prepare: async (conversationId) => ({ preparation: await link.prepare(conversationId), facts: this.#facts(pid) }),
      sys: (call) => this.#sys(pid, link, call),
      abandon: (call, isStopped) => this.#abandon(pid, link, call, isStopped),
      tell: async (told) => {
        for (const one of told) {
          if ("event" in one) await link.emit([one.event]);
          else link.stream(one.piece);
        }
      },
    };
  }

  /** Of a call that an earlier life of the kernel's carried out, this one knows nothing: as one that is sent again it is found, and ended. */
  #abandon(pid: string, link: KernelPort, call: SysCall, isStopped: boolean): void {
    const key = `${pid} ${call.callId}`;
    const open = this.#open.get(key);
    if (open !== undefined) open.abort.abort(isStopped ? STOPPED : null);
    // It ended while its process stopped it: nothing is left to find.
    else if (this.#ended.has(key)) return;
    else if (isStopped) void link.sys({ ...call, isAgain: true }, AbortSignal.abort(STOPPED), () => {}).catch(() => {});
  }

  /** A process whose line was cut asks again; what is still under way here is not begun a second time. */
  #sys(pid: string, link: KernelPort, call: SysCall): Promise<SysOutcome> {
    const key = `${pid} ${call.callId}`;
    const before = this.#open.get(key);
    if (before !== undefined) return before.outcome;
    const abort = new AbortController();
    // Its beginning is told before its end.
    let told: Promise<void> | undefined;
    const began = () => {
      told ??= this.#began(pid, call.callId).catch(() => {});
    };
    const ended = async (end: SysOutcome) => {
      await told;
      return end;
    };
    const outcome = link
      .sys(call, abort.signal, began)
      .then(ended)
      .finally(() => this.#end(key));
    this.#ended.delete(key);
    this.#open.set(key, { outcome, abort });
    return outcome;
  }

  #end(key: string): void {
    this.#open.delete(key);
    this.#ended.add(key);
    for (const oldest of this.#ended) if (this.#ended.size > ENDED_MAX) this.#ended.delete(oldest);
  }
}
