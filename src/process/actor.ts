// A process as others reach it: by its number and the names of what can be asked of it. Who asks was let in by the kernel.
// Arguments and results are values that can be copied; an answer comes when what it tells of is durable.

import { fail } from "../lib/sys-error.ts";
import type { SummaryMaterial } from "./conversation/checkpoint.ts";
import type { CompactArgs } from "./conversation/compaction.ts";
import type { ForkArgs } from "./conversation/fork.ts";
import { type HistoryArgs, idOf, type PageArgs } from "./conversation/conversation-calls.ts";
import type { ContextPolicy } from "../protocol/proc-records.ts";
import type { KernelPort, ProcessPorts } from "./kernel-port.ts";
import { type AbortArgs, Process, type SendArgs } from "./process.ts";
import type { ResetAllArgs } from "./conversation/reset.ts";
import type { SearchArgs } from "./conversation/search.ts";
import { EventDelivery } from "./event-delivery.ts";

/** So many at once; who was away for longer is told to read the history anew. */
const EVENTS_PAGE = 500;

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

  /** How far it is, for whoever keeps a list. `untold` is what the kernel could not be told before it asked this. */
  state: (process: Process, _: None, { untold }: EventDelivery) => ({
    activeRunId: process.activeRun?.runId ?? null,
    conversationId: process.activeRun?.conversationId ?? null,
    queuedCount: process.waitingCount,
    runnableCount: process.runnableCount,
    seq: process.events.lastSeq,
    untold,
  }),
} satisfies Record<string, (process: Process, args: never, telling: EventDelivery) => unknown>;

export type ProcessCall = keyof typeof processCalls;
export type ProcessArgs<N extends ProcessCall> = Parameters<(typeof processCalls)[N]>[1];
export type ProcessResult<N extends ProcessCall> = Awaited<ReturnType<(typeof processCalls)[N]>>;

export class ProcessActor {
  readonly #process: Process;
  readonly #ports: ProcessPorts;
  readonly #telling: EventDelivery;
  #working = 0;
  /** When the process itself wants to be woken. */
  #dueAt: number | null = null;
  /** When it is woken because it is at work. */
  #beatAt: number | null = null;
  /** What the host was last asked for; undefined where it has been and gone. */
  #askedAt: number | null | undefined;
  #isClosed = false;

  constructor(pid: string, ports: ProcessPorts) {
    this.#ports = ports;
    const telling = new EventDelivery(
      ports,
      () => this.#process.events,
      () => this.#plan(),
    );
    this.#telling = telling;
    const inOrder: KernelPort = {
      ...ports.kernel,
      emit: (events) => telling.emit(events),
      stream: (piece) => telling.stream(piece),
    };
    const wakeAt = (ms: number | null) => {
      this.#dueAt = ms;
      this.#plan();
    };
    this.#process = new Process(pid, { ...ports, kernel: inOrder, wakeAt });
    void telling.catchUp();
    this.#process.woke();
  }

  async call(name: string, args: object): Promise<unknown> {
    const call = Object.hasOwn(processCalls, name) ? processCalls[name as ProcessCall] : undefined;
    if (call === undefined) fail(404, `A process knows no ${name}`);
    this.#working++;
    try {
      if (name === "wake") await this.#telling.catchUp();
      else this.#telling.contacted();
      const asked = (call as (process: Process, args: object, telling: EventDelivery) => unknown)(this.#process, args, this.#telling);
      // In the turn of the change: whatever becomes of this life, another is woken for what it has not done.
      this.#plan();
      const value = await asked;
      await this.#ports.sql.durable();
      return value;
    } finally {
      this.#working--;
      this.#plan();
    }
  }

  /** Whether nothing is under way, so that it may sleep until it is asked for again. */
  get isIdle(): boolean {
    const { isCatchingUp, dueAt } = this.#telling;
    return this.#working === 0 && !isCatchingUp && dueAt === null && !this.#hasRuns;
  }

  woke(): void {
    const now = this.#ports.now();
    this.#beatAt = null;
    this.#askedAt = undefined;
    if ((this.#dueAt ?? Infinity) <= now) this.#dueAt = null;
    this.#telling.woke(now);
    this.#process.woke();
    this.#plan();
  }

  close(): void {
    this.#isClosed = true;
    this.#telling.close();
    this.#process.close();
  }

  /** Resolves when the kernel knows all that was true when it was last woken, or could not be told. */
  caughtUp(): Promise<void> {
    return this.#telling.caughtUp;
  }

  get #hasRuns(): boolean {
    return this.#process.activeRun !== undefined || this.#process.runnableCount > 0;
  }

  /** Whether something is under way that ends with this life's memory. Waiting for a person is not. */
  get #isAtWork(): boolean {
    return this.#telling.isTelling || (this.#hasRuns && !this.#process.isWaiting);
  }

  /** One wake, for the earliest of all that is due; one that has nothing to do asks for none. */
  #plan(): void {
    if (this.#isClosed) return;
    const { beatMs } = this.#ports;
    const now = this.#ports.now();
    if (beatMs === undefined || !this.#isAtWork) this.#beatAt = null;
    else if (this.#beatAt === null || this.#beatAt <= now) this.#beatAt = now + beatMs;
    const due = [this.#dueAt, this.#telling.dueAt, this.#beatAt].filter((at) => at !== null);
    // Until it is known what an earlier life has left to tell, the wake that life asked for stays.
    if (this.#telling.isCatchingUp && this.#beatAt === null) return;
    const earliest = due.length === 0 ? null : Math.min(...due);
    if (earliest === this.#askedAt) return;
    this.#askedAt = earliest;
    this.#ports.wakeAt(earliest);
  }
}
