// A process as others reach it: by its number and the names of what can be asked of it. Who asks was let in by the kernel.
// Arguments and results are values that can be copied; an answer comes when what it tells of is durable.

import { fail } from "../lib/sys-error.ts";
import type { SummaryMaterial } from "./checkpoint.ts";
import type { CompactArgs } from "./compaction.ts";
import type { ForkArgs } from "./fork.ts";
import { type HistoryArgs, idOf, type PageArgs } from "./conversation-calls.ts";
import type { ContextPolicy } from "./estimate.ts";
import type { KernelLink, ProcessPorts } from "./link.ts";
import { type AbortArgs, Process, type SendArgs } from "./process.ts";
import type { ResetAllArgs } from "./reset.ts";
import type { SearchArgs } from "./search.ts";

/** So many at once; who was away for longer is told to read the history anew. */
const EVENTS_PAGE = 500;
const NOT_HEARD_PAGE = 200;
const TELL_AGAIN_MS = 5_000;

type Id = { conversationId?: string | undefined };
type None = Record<string, never>;

export const processCalls = {
  /** Wakes it; there is nothing to say. The kernel hears again what it does not know any more. */
  wake: (process: Process, _: None) => {
    process.woke();
    return null;
  },

  send: (process: Process, args: SendArgs) => process.send(args),

  abort: (process: Process, args: AbortArgs) => process.abort(args),

  /** A call that the process asked for is carried out from now on. */
  began: (process: Process, { callId }: { callId: string }) => {
    process.began(callId);
    return null;
  },

  /** A person has answered the question; the call asks the kernel again, which knows the answer. */
  decided: (process: Process, { requestId }: { requestId: string }) => {
    process.decided(requestId);
    return null;
  },

  budgetDecided: (process: Process, { requestId, isAllowed }: { requestId: string; isAllowed: boolean }) => {
    process.budgetDecided(requestId, isAllowed);
    return null;
  },

  /** What waits, oldest first. */
  queue: (process: Process, { conversationId }: Id) => process.queue.list(conversationId),
  resumeQueue: (process: Process, { conversationId }: Id) => process.resumeQueue(conversationId),
  editQueued: (process: Process, { runId, text }: { runId: string; text: string }) => process.queue.edit(runId, text),
  withdrawQueued: (process: Process, { runId }: { runId: string }) => process.queue.withdraw(runId),

  history: (process: Process, args: HistoryArgs) => process.conversation.history(args, null),
  search: (process: Process, args: SearchArgs) => process.conversation.search(args),

  openConversation: (process: Process, args: Id & { title?: string | undefined }) => process.conversation.open(args),
  listConversations: (process: Process, args: { includeClosed?: boolean | undefined }) => process.conversation.list(args),
  getConversation: (process: Process, args: Id) => process.conversation.get(args),
  closeConversation: (process: Process, args: Id) => process.conversation.close(args),
  resetConversation: (process: Process, args: Id & { archive?: boolean | undefined }) => process.conversation.reset(args),
  policy: (process: Process, args: Id) => process.conversation.policy(args),
  setPolicy: (
    process: Process,
    args: Id & { overflow?: ContextPolicy["overflow"] | undefined; compactAtPressure?: number | undefined; keepLast?: number | undefined },
  ) => process.conversation.setPolicy(args),
  compact: (process: Process, args: Id & Omit<CompactArgs, "conversationId">) => process.conversation.compact(args),
  fork: (process: Process, args: Id & Omit<ForkArgs, "conversationId">) => process.conversation.fork(args),
  segments: (process: Process, args: Id) => process.conversation.segments(args),
  readSegment: (process: Process, args: Id & PageArgs & { segmentId: string }) => process.conversation.readSegment(args),

  /** Empties all conversations. */
  reset: (process: Process, args: ResetAllArgs) => process.conversation.resetAll(args),
  /** The summary of its workspace, rewritten by the model; null where the old one stays. May take minutes. */
  renewSummary: (process: Process, args: SummaryMaterial) => process.conversation.renewSummary(args),

  /**
   * What followers are told after a number, and the answer that is just coming. `isWhole` is false where some of it is no longer
   * kept: such a follower reads the history anew and goes on from `seq`.
   */
  follow: (process: Process, { after }: { after: number | null }) => {
    const seq = process.events.lastSeq;
    const kept = after === null ? [] : process.events.after(after, EVENTS_PAGE);
    const isWhole =
      kept !== null && (kept.length === 0 || kept.at(-1)!.seq === seq) && (after === null || kept.length > 0 || after === seq);
    return { seq, isWhole, events: isWhole ? kept : [], live: process.live() };
  },

  /** What it has used: of a run, or of all there were, and of the run that is worked on. */
  usage: (process: Process, { runId }: { runId?: string | undefined }) => ({
    spent: process.spent(runId),
    activeRun: process.activeRun === undefined ? null : { runId: process.activeRun.runId, spent: process.spent(process.activeRun.runId) },
  }),

  /** Of messages of a page, for those who show what each has cost. */
  messageUsage: (process: Process, { messageIds }: { messageIds: readonly number[] }) => process.usageOf(messageIds),

  context: (process: Process, { conversationId }: Id) => process.context(idOf(conversationId)),

  /** How far it is, for whoever keeps a list. */
  state: (process: Process, _: None) => ({
    activeRunId: process.activeRun?.runId ?? null,
    conversationId: process.activeRun?.conversationId ?? null,
    queuedCount: process.waitingCount,
    runnableCount: process.runnableCount,
    seq: process.events.lastSeq,
  }),
} satisfies Record<string, (process: Process, args: never) => unknown>;

export type ProcessCall = keyof typeof processCalls;
export type ProcessArgs<N extends ProcessCall> = Parameters<(typeof processCalls)[N]>[1];
export type ProcessResult<N extends ProcessCall> = Awaited<ReturnType<(typeof processCalls)[N]>>;

export class ProcessActor {
  readonly #process: Process;
  readonly #ports: ProcessPorts;
  #caughtUp: Promise<void>;
  /** What is to be told once the kernel knows all that came before it; null as soon as it does. */
  #held: (() => void)[] | null = [];
  /** When it is tried again, where the kernel could not be told. What became true meanwhile is on disk. */
  #behindUntil = Infinity;
  #isClosed = false;
  #working = 0;

  constructor(pid: string, ports: ProcessPorts) {
    this.#ports = ports;
    const { kernel } = ports;
    const inOrder: KernelLink = {
      ...kernel,
      emit: (events) => this.#tell(() => kernel.emit(events)),
      // Pieces of an answer that a life leaves behind belong to nobody: the next life asks the model anew.
      stream: (payload) => this.#tell(() => this.#isClosed || kernel.stream(payload)),
    };
    const wakeBy = (ms: number) => ports.wakeBy(Math.min(ms, this.#behindUntil));
    this.#process = new Process(pid, { ...ports, kernel: inOrder, wakeBy });
    this.#caughtUp = this.#catchUp();
    this.#process.woke();
  }

  async call(name: string, args: object): Promise<unknown> {
    const call = Object.hasOwn(processCalls, name) ? processCalls[name as ProcessCall] : undefined;
    if (call === undefined) fail(404, `A process knows no ${name}`);
    this.#working++;
    try {
      if (name === "wake") await this.#catchUpAgain();
      const value = await (call as (process: Process, args: object) => unknown)(this.#process, args);
      await this.#ports.sql.durable();
      return value;
    } finally {
      this.#working--;
    }
  }

  /** Whether nothing is under way, so that it may sleep until it is asked for again. */
  get isIdle(): boolean {
    const isTold = this.#working === 0 && this.#behindUntil === Infinity;
    return isTold && this.#process.activeRun === undefined && this.#process.runnableCount === 0;
  }

  /** Whether all there is to do is to wait for a person, or until a lease runs out. Nothing of that is in memory. */
  get isWaiting(): boolean {
    return this.#working === 0 && this.#behindUntil === Infinity && this.#process.isWaiting;
  }

  woke(): void {
    if (this.#behindUntil <= this.#ports.now()) void this.#catchUpAgain();
    this.#process.woke();
  }

  close(): void {
    this.#isClosed = true;
    this.#process.close();
  }

  /** Resolves when the kernel knows all that was true when it was last woken. */
  caughtUp(): Promise<void> {
    return this.#caughtUp;
  }

  /** Never before what an earlier life has left to tell: whoever has heard a number takes no lower one. */
  #tell(told: () => void): void {
    if (this.#behindUntil < Infinity) return;
    if (this.#held !== null) return void this.#held.push(told);
    try {
      told();
    } catch (error) {
      this.#fellBehind(error);
    }
  }

  /** A full disk of the kernel's, for example. */
  #fellBehind(error: unknown): void {
    const ports = this.#ports;
    ports.log("the kernel could not be told what became true", { error: String(error) });
    this.#behindUntil = ports.now() + TELL_AGAIN_MS;
    ports.wakeBy(this.#behindUntil);
  }

  #catchUpAgain(): Promise<void> {
    return (this.#caughtUp = this.#caughtUp.then(() => this.#catchUp()));
  }

  /** What the kernel has not heard, of this life or an earlier one. */
  async #catchUp(): Promise<void> {
    const { kernel, sql } = this.#ports;
    this.#working++;
    this.#held ??= [];
    this.#behindUntil = Infinity;
    try {
      const until = this.#process.events.lastSeq;
      await sql.durable();
      for (let heard = await kernel.heardUpTo(); heard < until && !this.#isClosed;) {
        const kept = this.#process.events.after(heard, NOT_HEARD_PAGE) ?? [];
        const events = kept.filter(({ seq }) => seq <= until);
        if (events.length === 0) break;
        kernel.emit(events);
        heard = events.at(-1)!.seq;
      }
    } catch (error) {
      this.#held = null;
      if (!this.#isClosed) this.#fellBehind(error);
    }
    const held = this.#held ?? [];
    this.#held = null;
    for (const told of held) this.#tell(told);
    this.#working--;
  }
}
