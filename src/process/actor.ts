// The entrance to a process: its pid and the names of its calls. The kernel has authorized the caller. Arguments and results are
// values that can be copied; a result is returned when the change it reports is durable.

import { fail } from "../lib/sys-error.ts";
import type { SummaryMaterial } from "./conversation/checkpoint.ts";
import type { CompactArgs } from "./conversation/compaction.ts";
import type { ForkArgs } from "./conversation/fork.ts";
import { type HistoryArgs, conversationIdOrDefault, type PageArgs } from "./conversation/conversation-calls.ts";
import type { ContextPolicy } from "../protocol/proc-records.ts";
import type { ProcessPorts } from "./kernel-port.ts";
import type { RunScriptArgs } from "./personal-scripts.ts";
import { type AbortArgs, Process, type SendArgs } from "./process.ts";
import type { ResetAllArgs } from "./conversation/reset.ts";
import type { SearchArgs } from "./conversation/search.ts";
import { EventDelivery } from "./event-delivery.ts";

/** Events per answer; a follower that missed more must read the history again. */
const EVENTS_PAGE = 500;

type ConversationArgs = { conversationId?: string | undefined };
type NoArgs = Record<string, never>;

export const processCalls = {
  /** Wakes the process and resends the events that the kernel has lost. */
  wake: (process: Process, _: NoArgs) => {
    process.onWake();
    return null;
  },

  send: (process: Process, args: SendArgs) => process.send(args),

  /** The kernel has changed settings of the process, or of one conversation: tells followers. */
  announceSettings: (process: Process, { conversationId }: ConversationArgs) => {
    process.announceSettings(conversationId);
    return null;
  },

  /** Whether a schedule may use the process for this run, which it may have received before. */
  checkForSchedule: (process: Process, { runId }: { runId: string }) => process.checkForSchedule(runId),

  abort: (process: Process, args: AbortArgs) => process.abort(args),

  /** The kernel has started to run a call of this process. */
  markCallStarted: (process: Process, { callId }: { callId: string }) => {
    process.markCallStarted(callId);
    return null;
  },

  /** A person has answered the question. The process sends the call again, and the kernel finds the answer. */
  handleDecision: (process: Process, { requestId }: { requestId: string }) => {
    process.handleDecision(requestId);
    return null;
  },

  handleBudgetDecision: (process: Process, { requestId, isAllowed }: { requestId: string; isAllowed: boolean }) => {
    process.handleBudgetDecision(requestId, isAllowed);
    return null;
  },

  /** Runs a script for a person, whose calls come back to the kernel. */
  runScript: (process: Process, args: RunScriptArgs) => process.scripts.run(args),
  stopScript: (process: Process, { scriptId }: { scriptId: string }) => {
    process.scripts.stop(scriptId);
    return null;
  },

  /** Queued messages, oldest first. */
  queue: (process: Process, { conversationId }: ConversationArgs) => process.queue.list(conversationId),
  resumeQueue: (process: Process, { conversationId }: ConversationArgs) => process.resumeQueue(conversationId),
  editQueued: (process: Process, { runId, text }: { runId: string; text: string }) => process.queue.edit(runId, text),
  withdrawQueued: (process: Process, { runId }: { runId: string }) => process.queue.withdraw(runId),

  history: (process: Process, args: HistoryArgs) => process.conversation.history(args, null),
  search: (process: Process, args: SearchArgs) => process.conversation.search(args),

  openConversation: (process: Process, args: ConversationArgs & { title?: string | undefined }) => process.conversation.open(args),
  listConversations: (process: Process, args: { includeClosed?: boolean | undefined }) => process.conversation.list(args),
  getConversation: (process: Process, args: ConversationArgs) => process.conversation.get(args),
  closeConversation: (process: Process, args: ConversationArgs) => process.conversation.close(args),
  resetConversation: (process: Process, args: ConversationArgs & { archive?: boolean | undefined }) => process.conversation.reset(args),
  updateConversation: (process: Process, args: ConversationArgs & { title?: string | undefined; isPinned?: boolean | undefined }) =>
    process.conversation.update(args),
  rewindConversation: (process: Process, args: ConversationArgs & { beforeMessageId: number }) => process.conversation.rewind(args),
  /** A deletion in three steps. The kernel lists the archives of other conversations after the first, and deletes files after the second. */
  endConversation: (process: Process, args: { conversationId: string; archives: readonly string[] }) =>
    process.conversation.endAndListFiles(args),
  listUnreferenced: (process: Process, args: { paths: readonly string[]; archives: readonly string[] }) =>
    process.conversation.listUnreferenced(args),
  deleteConversation: (process: Process, args: { conversationId: string; receivedSeq: number }) => process.conversation.delete(args),
  contextPolicy: (process: Process, args: ConversationArgs) => process.conversation.policy(args),
  setContextPolicy: (
    process: Process,
    args: ConversationArgs & {
      overflow?: ContextPolicy["overflow"] | undefined;
      compactAtPressure?: number | undefined;
      keepLast?: number | undefined;
    },
  ) => process.conversation.setPolicy(args),
  compact: (process: Process, args: ConversationArgs & Omit<CompactArgs, "conversationId">) => process.conversation.compact(args),
  fork: (process: Process, args: ConversationArgs & Omit<ForkArgs, "conversationId">) => process.conversation.fork(args),
  segments: (process: Process, args: ConversationArgs) => process.conversation.listSegments(args),
  readSegment: (process: Process, args: ConversationArgs & PageArgs & { segmentId: string }) => process.conversation.readSegment(args),

  /** Empties all conversations. */
  reset: (process: Process, args: ResetAllArgs) => process.conversation.resetAll(args),
  /** The summary of its workspace, rewritten by the model; null if the old one stays. May take minutes. */
  renewSummary: (process: Process, args: SummaryMaterial) => process.conversation.renewSummary(args),

  /**
   * The events after a number, and the answer that is being streamed. `isWhole` is false if some of these events are pruned or
   * the list is too long: such a follower reads the history again and continues from `seq`.
   */
  follow: (process: Process, { after }: { after: number | null }) => {
    const seq = process.events.lastSeq;
    const kept = after === null ? [] : process.events.listCompleteAfter(after, EVENTS_PAGE);
    const isWhole =
      kept !== null && (kept.length === 0 || kept.at(-1)!.seq === seq) && (after === null || kept.length > 0 || after === seq);
    return { seq, isWhole, events: isWhole ? kept : [], live: process.liveAnswer() };
  },

  /** Usage of one run or of all runs, and of the active run. */
  usage: (process: Process, { runId }: { runId?: string | undefined }) => {
    const { activeRun } = process;
    if (activeRun === undefined) return { spent: process.readSpent(runId), activeRun: null };
    const { runId: activeRunId, pausedAt } = activeRun;
    const paused = pausedAt === null ? {} : { pausedAt };
    return { spent: process.readSpent(runId), activeRun: { runId: activeRunId, spent: process.readSpent(activeRunId), ...paused } };
  },

  /** For clients that show the cost of each message of a page. */
  messageUsage: (process: Process, { messageIds }: { messageIds: readonly number[] }) => process.usageOf(messageIds),

  context: (process: Process, { conversationId }: ConversationArgs) => process.context(conversationIdOrDefault(conversationId)),

  /** Progress of the process, for lists. `undelivered` is what could not be delivered to the kernel before it made this call. */
  state: (process: Process, _: NoArgs, { undelivered }: EventDelivery) => ({
    activeRunId: process.activeRun?.runId ?? null,
    conversationId: process.activeRun?.conversationId ?? null,
    queuedCount: process.queuedRunCount,
    runnableCount: process.runnableCount,
    seq: process.events.lastSeq,
    undelivered,
  }),
} satisfies Record<string, (process: Process, args: never, delivery: EventDelivery) => unknown>;

export type ProcessCall = keyof typeof processCalls;
export type ProcessArgs<N extends ProcessCall> = Parameters<(typeof processCalls)[N]>[1];
export type ProcessResult<N extends ProcessCall> = Awaited<ReturnType<(typeof processCalls)[N]>>;

export class ProcessActor {
  readonly #process: Process;
  readonly #ports: ProcessPorts;
  readonly #delivery: EventDelivery;
  #openCalls = 0;
  /** When the process itself needs a wake. */
  #dueAt: number | null = null;
  /** When the heartbeat of a working process is due. */
  #heartbeatAt: number | null = null;
  /** The wake last requested from the host; undefined before the first request and once that wake has happened. */
  #requestedWakeAt: number | null | undefined;
  #isClosed = false;

  constructor(pid: string, ports: ProcessPorts) {
    this.#ports = ports;
    const delivery = new EventDelivery(
      ports,
      () => this.#process.events,
      () => this.#planWake(),
    );
    this.#delivery = delivery;
    const wakeAt = (ms: number | null) => {
      this.#dueAt = ms;
      this.#planWake();
    };
    this.#process = new Process(pid, { ...ports, wakeAt }, delivery);
    void delivery.catchUp();
    this.#process.onWake();
  }

  async call(name: string, args: object): Promise<unknown> {
    const call = Object.hasOwn(processCalls, name) ? processCalls[name as ProcessCall] : undefined;
    if (call === undefined) fail(404, `A process has no call ${name}`);
    this.#openCalls++;
    try {
      if (name === "wake") await this.#delivery.catchUp();
      else this.#delivery.onKernelCall();
      const result = (call as (process: Process, args: object, delivery: EventDelivery) => unknown)(this.#process, args, this.#delivery);
      // In the same turn of the event loop as the change: if this instance is lost, a wake starts another one for the remaining work.
      this.#planWake();
      const value = await result;
      await this.#ports.sql.waitUntilDurable();
      return value;
    } finally {
      this.#openCalls--;
      this.#planWake();
    }
  }

  /** Whether nothing is under way, so that the host may close the process until the next call. */
  get isIdle(): boolean {
    const { isCatchingUp, dueAt } = this.#delivery;
    return this.#openCalls === 0 && !isCatchingUp && dueAt === null && !this.#hasRuns;
  }

  onWake(): void {
    const now = this.#ports.now();
    this.#heartbeatAt = null;
    this.#requestedWakeAt = undefined;
    if ((this.#dueAt ?? Infinity) <= now) this.#dueAt = null;
    this.#delivery.onWake(now);
    this.#process.onWake();
    this.#planWake();
  }

  close(): void {
    this.#isClosed = true;
    this.#delivery.close();
    this.#process.close();
  }

  /** Resolves when the kernel has received everything that was true at the last wake, or delivery has failed. */
  waitForDelivery(): Promise<void> {
    return this.#delivery.caughtUp;
  }

  get #hasRuns(): boolean {
    return this.#process.activeRun !== undefined || this.#process.runnableCount > 0;
  }

  /** Whether something is under way that would be lost with the memory of this instance. Waiting for a person is not. */
  get #isAtWork(): boolean {
    return this.#delivery.isDelivering || (this.#hasRuns && !this.#process.isWaitingForPerson);
  }

  /** Requests one wake, for the earliest due time, or none if nothing is due. */
  #planWake(): void {
    if (this.#isClosed) return;
    const { heartbeatMs } = this.#ports;
    const now = this.#ports.now();
    if (heartbeatMs === undefined || !this.#isAtWork) this.#heartbeatAt = null;
    else if (this.#heartbeatAt === null || this.#heartbeatAt <= now) this.#heartbeatAt = now + heartbeatMs;
    const due = [this.#dueAt, this.#delivery.dueAt, this.#heartbeatAt].filter((at) => at !== null);
    // Until it is known which events an earlier instance left undelivered, the wake which that instance requested stays.
    if (this.#delivery.isCatchingUp && this.#heartbeatAt === null) return;
    const earliest = due.length === 0 ? null : Math.min(...due);
    if (earliest === this.#requestedWakeAt) return;
    this.#requestedWakeAt = earliest;
    this.#ports.wakeAt(earliest);
  }
}
