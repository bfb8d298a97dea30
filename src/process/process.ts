// A process: accepts messages and answers what is asked of it (actor.ts lists the calls). loop/runner.ts does the work: everything
// that is accepted here is a row before that starts.

import { fail } from "../lib/sys-error.ts";
import { PROC_CHANGED } from "../protocol/signal-names.ts";
import type { RunSettings } from "../protocol/process-settings.ts";
import type { ContextState, LiveAnswer, MessageUsage, Spent, StartedBy } from "../protocol/proc-records.ts";
import { ConversationCalls } from "./conversation/conversation-calls.ts";
import { Queue } from "./conversation/queue.ts";
import { type ProcessPorts, STOPPED } from "./kernel-port.ts";
import { currentContext } from "./loop/measure.ts";
import { Runner } from "./loop/runner.ts";
import { PersonalScripts } from "./personal-scripts.ts";
import { DEFAULT_CONVERSATION } from "./rows/conversations.ts";
import type { MessageContent } from "./rows/history.ts";
import { type Run, type RunReason, WAITING_MAX } from "./rows/runs.ts";
import { type Delivery, State } from "./rows/state.ts";

/** An answer is followed by one result per tool call it made; the search for the last answer ends after this many messages. */
const LOOK_BACK_MAX = 100;
/** Runs that nobody started: what a schedule does, and what the process was told of because it asked for that. */
const UNATTENDED: readonly RunReason[] = ["schedule.event", "ipc.reply", "signal.watch"];

export type SendArgs = {
  conversationId?: string | undefined;
  message: Extract<MessageContent, { role: "user" | "system" }>;
  runId?: string | undefined;
  reason: RunReason;
  /** For the run of this message only. */
  settings?: RunSettings | undefined;
  /** Recorded with a conversation in which nothing was said before. */
  startedBy?: StartedBy | undefined;
};

export type SendResult = { status: "started"; runId: string; queued?: true };
/** `pauseQueue`: messages queued in the same conversation stay on hold until the queue is resumed. */
export type AbortArgs = { runId?: string | undefined; pauseQueue?: boolean | undefined };
export type AbortResult = {
  aborted: boolean;
  runId: string | null;
  continuedQueuedRunId: string | null;
  interruptedToolCalls?: number;
  pausedCount?: number;
};

export class Process {
  readonly #ports: ProcessPorts;
  readonly #state: State;
  readonly conversation: ConversationCalls;
  /** Messages that wait for their run. */
  readonly queue: Queue;
  /** Scripts that people run in this process. */
  readonly scripts: PersonalScripts;
  readonly #runner: Runner;
  readonly #closing = new AbortController();

  constructor(pid: string, ports: ProcessPorts, delivery: Delivery) {
    this.#ports = ports;
    this.#state = new State(pid, ports, delivery);
    this.queue = new Queue(this.#state);
    this.scripts = new PersonalScripts(ports);
    this.#runner = new Runner(this.#state);
    this.conversation = new ConversationCalls(this.#state, {
      stop: () => this.#runner.stop(STOPPED),
      scheduleWork: () => this.#runner.schedule(),
      signal: () => this.#closing.signal,
    });
  }

  /** Stops all work at once. The next instance continues from the stored rows. */
  close(): void {
    this.#state.isClosed = true;
    this.#closing.abort(null);
    this.scripts.close();
    this.#runner.close();
  }

  /** Continues where the process stopped. */
  onWake(): void {
    this.#runner.schedule();
  }

  /** Idempotent: a repeated runId is the same message. */
  send({ conversationId = DEFAULT_CONVERSATION, message, runId = this.#ports.uuid(), reason, settings, startedBy }: SendArgs): SendResult {
    const { runs, conversations, held } = this.#state;
    const result = this.#state.change((tell): SendResult => {
      const now = this.#ports.now();
      const known = runs.get(runId);
      if (known !== undefined) return { status: "started", runId, ...(known.state === "waiting" ? { queued: true } : {}) };
      const { messageCount } = conversations.openForMessage(conversationId, now);
      if (startedBy !== undefined && messageCount === 0) conversations.setStartedBy(conversationId, startedBy);
      if (runs.countWaiting() >= WAITING_MAX) fail(429, `Too many messages are waiting: at most ${WAITING_MAX}. Wait, or abort the run`);
      const isIdle = runs.findActive() === undefined && this.runnableCount === 0 && !held.has(conversationId);
      runs.add({ runId, conversationId, reason, message, settings: settings ?? null }, now);
      if (isIdle) {
        this.#state.beginRun(runId, reason, tell);
        return { status: "started", runId };
      }
      tell(PROC_CHANGED, { changes: ["queue"], conversationId, enqueuedRunId: runId });
      return { status: "started", runId, queued: true };
    });
    this.#runner.schedule();
    return result;
  }

  announceSettings(conversationId: string | undefined): void {
    this.#state.change((tell) =>
      tell(PROC_CHANGED, { changes: ["settings"], ...(conversationId === undefined ? {} : { conversationId }) }),
    );
  }

  /** Ends the run at once, whatever the model or a tool is doing. */
  abort({ runId: named, pauseQueue = false }: AbortArgs = {}): AbortResult {
    const { runs } = this.#state;
    // A run that is answered together with another one is stopped through that one.
    const runId = named === undefined ? undefined : (runs.get(named)?.joinedTo ?? named);
    const result = this.#state.change((tell): AbortResult => {
      const run = runs.findActive();
      if (run === undefined || (runId !== undefined && run.runId !== runId)) {
        const waiting = runId === undefined ? undefined : runs.get(runId);
        if (waiting?.state !== "waiting") return { aborted: false, runId: run?.runId ?? null, continuedQueuedRunId: null };
        this.#state.endRun(waiting, { status: "aborted", reason: "user", text: null }, tell);
        return { aborted: true, runId: waiting.runId, continuedQueuedRunId: null };
      }
      const open = this.#state.calls.listOpen(run.runId).length;
      const pausedCount = pauseQueue ? runs.holdQueued(run.conversationId) : 0;
      this.#state.endActiveRun(run, { status: "aborted", reason: "user", text: null }, tell);
      if (pausedCount > 0) tell(PROC_CHANGED, { changes: ["queue"], conversationId: run.conversationId });
      return {
        aborted: true,
        runId: run.runId,
        continuedQueuedRunId: this.#state.listStartable()[0]?.runId ?? null,
        ...(open === 0 ? {} : { interruptedToolCalls: open }),
        ...(pausedCount === 0 ? {} : { pausedCount }),
      };
    });
    if (result.aborted && runs.findActive() === undefined) this.#runner.stop(STOPPED);
    this.#runner.schedule();
    return result;
  }

  /** Releases queued messages that are on hold. */
  resumeQueue(conversationId?: string): { resumed: number } {
    const resumed = this.queue.resume(conversationId);
    this.#runner.schedule();
    return { resumed };
  }

  /** The kernel has started to run a call of this process. */
  markCallStarted(callId: string): void {
    this.#runner.tools.markStarted(callId);
  }

  /** A person has answered a question about a call. */
  handleDecision(requestId: string): void {
    this.#runner.tools.handleDecision(requestId);
  }

  /** A person has answered whether the run may use its budget once more. */
  handleBudgetDecision(requestId: string, isAllowed: boolean): void {
    this.#runner.handleBudgetDecision(requestId, isAllowed);
  }

  /** The answer that is being streamed. A client shows it and then applies the pieces with a higher number. */
  liveAnswer(): LiveAnswer | null {
    return this.#runner.liveAnswer;
  }

  /** Usage of one run, or of all runs. */
  readSpent(runId?: string): Spent {
    return runId === undefined ? this.#state.usage.ofProcess() : this.#state.usage.ofRun(runId);
  }

  usageOf(messageIds: readonly number[]): { messageId: number; usage: MessageUsage[] }[] {
    return messageIds.map((messageId) => ({ messageId, usage: this.#state.usage.ofMessage(messageId) }));
  }

  /** How full a conversation is (null if no model was called in it yet), and the usage of its last answer, cached tokens included. */
  context(conversationId: string): { context: ContextState | null; lastAnswer: MessageUsage | null } {
    const lastAnswer = (): MessageUsage | null => {
      let count = 0;
      for (const { id, role } of this.history.readBackwards(conversationId)) {
        if (role === "assistant") return this.#state.usage.ofMessage(id).at(-1) ?? null;
        if (++count === LOOK_BACK_MAX) return null;
      }
      return null;
    };
    return { context: currentContext(this.#state, conversationId), lastAnswer: lastAnswer() };
  }

  get history() {
    return this.#state.history;
  }

  get events() {
    return this.#state.events;
  }

  /** `taken`: it is at work, or a person or another process has used it, who may come back to what was said. */
  checkForSchedule(runId: string): "received" | "free" | "taken" {
    const { runs } = this.#state;
    if (runs.get(runId) !== undefined) return "received";
    return this.activeRun !== undefined || runs.countWaiting() > 0 || runs.hasOtherReason(UNATTENDED) ? "taken" : "free";
  }

  get activeRun(): Run | undefined {
    return this.#state.runs.findActive();
  }

  /** Whether the active run waits for a person and nothing else is under way. */
  get isWaitingForPerson(): boolean {
    const run = this.activeRun;
    return run !== undefined && run.pausedAt !== null && this.#state.calls.listOpen(run.runId).every(({ state }) => state === "asked");
  }

  get queuedRunCount(): number {
    return this.#state.runs.countWaiting();
  }

  /** Queued runs that start without anybody's action. */
  get runnableCount(): number {
    return this.#state.runs.countWaiting() - this.#state.runs.countOnHold();
  }
}
