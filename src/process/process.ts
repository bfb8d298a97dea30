// A process: accepts messages, works on one run at a time, and stores every step before it takes the next one. The stored rows
// decide what it does next (next.ts, state.ts). Memory holds only what may be lost: the partial answer of the model, how full the
// context was, and a request to stop.

import { orAborted } from "../lib/or-aborted.ts";
import { fail, SysError } from "../lib/sys-error.ts";
import { namesDevice } from "../lib/target.ts";
import type { ModelEvent } from "../ports/models.ts";
import type { ContextState, LiveAnswer, MessageUsage, Spent } from "../protocol/proc-records.ts";
import { overspentText } from "./loop/budget.ts";
import { recordAnswer } from "./loop/record-answer.ts";
import { compactForRun } from "./conversation/compaction.ts";
import { ConversationCalls } from "./conversation/conversation-calls.ts";
import { DEFAULT_CONVERSATION } from "./rows/conversations.ts";
import { EarlyAnswers } from "./loop/early-answers.ts";
import { withoutCompaction } from "../agent/estimate.ts";
import type { MessageContent } from "./rows/history.ts";
import { type Preparation, type ProcessPorts, STOPPED } from "./kernel-port.ts";
import { PartialAnswer, wireEvent } from "./loop/live-answer.ts";
import { contextNow, measure, type Measurement, measureSpent, toOverflowView } from "./loop/measure.ts";
import { Pictures } from "./loop/pictures.ts";
import { Queue } from "./conversation/queue.ts";
import { type Action, type LastMessageKind, next, type RunView } from "./loop/next.ts";
import { type Run, type RunReason, WAITING_MAX } from "./rows/runs.ts";
import { LEASE_MS, PERSON_LEASE_MS, State, type Tell, textOf } from "./rows/state.ts";
import { ToolRunner } from "./loop/tool-runner.ts";
import { RecentMessages } from "./loop/recent-messages.ts";
import { generate, historyTokensMax, request } from "./loop/generate.ts";
import { HIL_REQUESTED, PROC_CHANGED, RUN_RETRYING } from "../protocol/signal-names.ts";

/** Delay before a retry when nothing can be stored, for example because the disk is full. */
const STORAGE_RETRY_MS = 10_000;
/** An answer is followed by one result per tool call it made; the search for the last answer ends after this many messages. */
const LOOK_BACK_MAX = 100;

export type SendArgs = {
  conversationId?: string | undefined;
  said: Extract<MessageContent, { role: "user" | "system" }>;
  runId?: string | undefined;
  reason: RunReason;
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
  readonly #tools: ToolRunner;
  readonly #pictures: Pictures;
  readonly #earlyBudgets = new EarlyAnswers<boolean>();
  /** What the active run needs from the kernel, looked up once. */
  #prepared: { runId: string; preparation: Preparation } | null = null;
  #measured: Measurement | null = null;
  readonly #recent = new RecentMessages();
  #live: PartialAnswer | null = null;
  #stopping = new AbortController();
  readonly #closing = new AbortController();
  #isWorking = false;
  #isWorkRequested = false;

  constructor(pid: string, ports: ProcessPorts) {
    this.#ports = ports;
    this.#state = new State(pid, ports);
    this.queue = new Queue(this.#state);
    this.#tools = new ToolRunner(this.#state, () => this.#scheduleWork());
    this.#pictures = new Pictures(ports.kernel);
    const signal = () => this.#closing.signal;
    this.#state.partial = (runId) => this.#partialMessage(runId);
    this.conversation = new ConversationCalls(this.#state, {
      stop: () => this.#stop(STOPPED),
      scheduleWork: () => this.#scheduleWork(),
      signal,
    });
  }

  /** Stops all work at once. The next instance continues from the stored rows. */
  close(): void {
    this.#state.isClosed = true;
    this.#closing.abort(null);
    this.#stop(null);
  }

  /** Continues where the process stopped. */
  onWake(): void {
    this.#scheduleWork();
  }

  /** Idempotent: a repeated runId is the same message. */
  send({ conversationId = DEFAULT_CONVERSATION, said, runId = this.#ports.uuid(), reason }: SendArgs): SendResult {
    const { runs, conversations, held } = this.#state;
    const result = this.#state.change((tell): SendResult => {
      const now = this.#ports.now();
      const known = runs.get(runId);
      if (known !== undefined) return { status: "started", runId, ...(known.state === "waiting" ? { queued: true } : {}) };
      conversations.openForMessage(conversationId, now);
      if (runs.countWaiting() >= WAITING_MAX) fail(429, `Too many messages are waiting: at most ${WAITING_MAX}. Wait, or abort the run`);
      const isIdle = runs.active() === undefined && this.runnableCount === 0 && !held.has(conversationId);
      runs.accept({ runId, conversationId, reason, message: said }, now);
      if (isIdle) {
        this.#state.begin(runId, reason, tell);
        return { status: "started", runId };
      }
      tell(PROC_CHANGED, { changes: ["queue"], conversationId, enqueuedRunId: runId });
      return { status: "started", runId, queued: true };
    });
    this.#scheduleWork();
    return result;
  }

  /** Ends the run at once, whatever the model or a tool is doing. */
  abort({ runId: named, pauseQueue = false }: AbortArgs = {}): AbortResult {
    const { runs } = this.#state;
    // A run that is answered together with another one is stopped through that one.
    const runId = named === undefined ? undefined : (runs.get(named)?.joinedTo ?? named);
    const result = this.#state.change((tell): AbortResult => {
      const run = runs.active();
      if (run === undefined || (runId !== undefined && run.runId !== runId)) {
        const waiting = runId === undefined ? undefined : runs.get(runId);
        if (waiting?.state !== "waiting") return { aborted: false, runId: run?.runId ?? null, continuedQueuedRunId: null };
        this.#state.endRun(waiting, { status: "aborted", reason: "user", text: null }, tell);
        return { aborted: true, runId: waiting.runId, continuedQueuedRunId: null };
      }
      const open = this.#state.calls.open(run.runId).length;
      const pausedCount = pauseQueue ? runs.hold(run.conversationId) : 0;
      this.#state.end(run, { status: "aborted", reason: "user", text: null }, tell);
      if (pausedCount > 0) tell(PROC_CHANGED, { changes: ["queue"], conversationId: run.conversationId });
      return {
        aborted: true,
        runId: run.runId,
        continuedQueuedRunId: this.#state.listStartable()[0]?.runId ?? null,
        ...(open === 0 ? {} : { interruptedToolCalls: open }),
        ...(pausedCount === 0 ? {} : { pausedCount }),
      };
    });
    if (result.aborted && runs.active() === undefined) this.#stop(STOPPED);
    this.#scheduleWork();
    return result;
  }

  /** Releases queued messages that are on hold. */
  resumeQueue(conversationId?: string): { resumed: number } {
    const resumed = this.queue.resume(conversationId);
    this.#scheduleWork();
    return { resumed };
  }

  /** The kernel has started to run a call of this process. */
  markCallStarted(callId: string): void {
    this.#tools.markStarted(callId);
  }

  /** A person has answered a question about a call. */
  handleDecision(requestId: string): void {
    this.#tools.handleDecision(requestId);
  }

  /** A person has answered whether the run may use its budget once more. */
  handleBudgetDecision(requestId: string, isAllowed: boolean): void {
    const { runs, usage } = this.#state;
    const isApplied = this.#state.change((tell) => {
      const run = runs.active();
      if (run?.budgetRequest?.requestId !== requestId) return false;
      if (!isAllowed) {
        this.#endWith(run, "budget.denied", "The budget is used up, and more was not given. Raise the limit, or send a new message.", tell);
        return true;
      }
      const spent = measureSpent(this.#state, run);
      const { scopes } = run.budgetRequest;
      if (scopes.includes("run")) usage.extendBudget({ runId: run.runId }, spent.run);
      if (scopes.includes("process")) usage.extendBudget("process", spent.process);
      runs.setBudgetRequest(run.runId, null);
      runs.resume(run.runId, this.#ports.now() + LEASE_MS, this.#ports.now());
      return true;
    });
    if (!isApplied) return this.#earlyBudgets.add(requestId, isAllowed);
    this.#measured = null;
    this.#scheduleWork();
  }

  /** The answer that is being streamed. A client shows it and then applies the pieces with a higher number. */
  liveAnswer(): LiveAnswer | null {
    return this.#live?.answer() ?? null;
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
      for (const { id, role } of this.history.backwards(conversationId)) {
        if (role === "assistant") return this.#state.usage.ofMessage(id).at(-1) ?? null;
        if (++count === LOOK_BACK_MAX) return null;
      }
      return null;
    };
    return { context: contextNow(this.#state, conversationId), lastAnswer: lastAnswer() };
  }

  get history() {
    return this.#state.history;
  }

  get events() {
    return this.#state.events;
  }

  get activeRun(): Run | undefined {
    return this.#state.runs.active();
  }

  /** Whether the active run waits for a person and nothing else is under way. */
  get isWaiting(): boolean {
    const run = this.activeRun;
    return run !== undefined && run.pausedAt !== null && this.#state.calls.open(run.runId).every(({ state }) => state === "asked");
  }

  get waitingCount(): number {
    return this.#state.runs.countWaiting();
  }

  /** Queued runs that start without anybody's action. */
  get runnableCount(): number {
    return this.#state.runs.countWaiting() - this.#state.runs.onHoldCount();
  }

  #scheduleWork(): void {
    this.#isWorkRequested = true;
    if (this.#isWorking || this.#state.isClosed) return;
    this.#isWorking = true;
    void this.#work().finally(() => {
      this.#isWorking = false;
      if (this.#isWorkRequested) this.#scheduleWork();
    });
  }

  async #work(): Promise<void> {
    do {
      this.#isWorkRequested = false;
      const action = next(this.#view());
      if (action.do === "rest" || action.do === "wait") {
        this.#ports.wakeAt(this.#state.runs.active()?.leaseUntil ?? null);
        continue;
      }
      const { signal } = this.#stopping;
      try {
        // A stop ends the wait, whatever the step waits for, so that the next run can start.
        await orAborted(this.#perform(action), signal);
      } catch (error) {
        if (!signal.aborted && !this.#endBrokenRun(action.runId, error)) return;
      }
      this.#isWorkRequested = true;
    } while (this.#isWorkRequested && !this.#state.isClosed);
  }

  async #perform(action: Exclude<Action, { do: "rest" | "wait" }>): Promise<void> {
    const { runId } = action;
    switch (action.do) {
      case "begin":
        return this.#state.change((tell) => this.#state.begin(runId, "queue.promote", tell));
      case "send":
        return this.#tools.send(action.callId, this.#stopping.signal);
      case "collect":
        return this.#state.change((tell) => this.#state.collect(runId, tell));
      case "join":
        return this.#state.change((tell) => this.#state.join(runId, action.runIds, tell));
      case "measure":
        return this.#measure(runId);
      case "askForBudget":
        return this.#askForBudget(runId);
      case "compact":
        return this.#compact(runId);
      case "generate":
        return this.#generate(runId);
      case "end":
        this.#state.change((tell) => {
          const run = this.#state.runs.active();
          if (run?.runId !== runId) return;
          const { status, reason } = action;
          if (status === "ok") this.#state.end(run, { status, reason, text: this.#lastText(run) }, tell);
          else this.#endWith(run, reason, this.#measured?.why ?? "Nothing was heard of this run for too long.", tell);
        });
        // Also stops whatever the run waited for.
        if (action.reason === "lease.expired") this.#stop(STOPPED);
        return;
    }
  }

  async #measure(runId: string): Promise<void> {
    const run = this.#state.runs.active();
    if (run?.runId !== runId) return;
    const preparation = await this.#prepare(run);
    const read = this.#recent.read(this.#state.history, run.conversationId, historyTokensMax(preparation));
    const modelRequest = request(await this.#pictures.load(read.rows), read, preparation);
    const owner = await this.#ports.kernel.ofOwner();
    if (this.#state.isClosed || this.#state.runs.active()?.runId !== runId) return;
    this.#measured = measure(this.#state, run, preparation, modelRequest, owner, read.rows.at(-1)?.id ?? null);
  }

  async #prepare(run: Run): Promise<Preparation> {
    if (this.#prepared?.runId !== run.runId)
      this.#prepared = { runId: run.runId, preparation: await this.#ports.kernel.prepare(run.conversationId) };
    return this.#prepared.preparation;
  }

  /** The kernel stores the question before this process records it. Asked again after a crash, the kernel returns the same question. */
  async #askForBudget(runId: string): Promise<void> {
    const { over } = this.#measured!;
    const conversationId = this.#state.runs.get(runId)?.conversationId ?? DEFAULT_CONVERSATION;
    const question = await this.#ports.kernel.askForBudget({ runId, conversationId, over, why: overspentText(over) });
    if (this.#state.isClosed) return;
    this.#state.change((tell) => {
      const run = this.#state.runs.active();
      if (run?.runId !== runId) return;
      const { requestId } = question;
      this.#state.runs.setBudgetRequest(runId, { requestId, scopes: over.map(({ scope }) => scope) });
      this.#state.runs.pause(runId, this.#ports.now() + PERSON_LEASE_MS, this.#ports.now());
      tell(PROC_CHANGED, { changes: ["budget"], conversationId, runId, requestId, over: [...over], why: overspentText(over) });
      tell(HIL_REQUESTED, question);
    });
    const isAllowed = this.#earlyBudgets.get(question.requestId);
    if (isAllowed !== undefined) this.handleBudgetDecision(question.requestId, isAllowed);
  }

  async #compact(runId: string): Promise<void> {
    const run = this.#state.runs.active();
    const measured = this.#measured;
    if (run?.runId !== runId || measured === null) return;
    const { keepLast } = this.#state.conversations.policy(run.conversationId);
    const outcome = await compactForRun(this.#state, run, measured.preparation, keepLast, this.#stopping.signal);
    if (outcome === "compacted" || outcome === "gone") this.#measured = null;
    else if (outcome === "empty") this.#measured = { ...measured, ...toOverflowView(withoutCompaction(measured.context)) };
    else this.#measured = { ...measured, overflow: "failed", why: `Compacting did not make room. ${outcome.failed}` };
  }

  async #generate(runId: string): Promise<void> {
    const run = this.#state.runs.active();
    const measured = this.#measured;
    if (run?.runId !== runId || measured === null) return;
    const { conversationId } = run;
    const modelCall = this.#state.usage.ofRun(runId).modelCalls + 1;
    const live = new PartialAnswer({ runId, conversationId, modelCall });
    this.#live = live;
    const onEvent = (event: ModelEvent) => {
      const seq = live.add(event);
      const { pid } = this.#state;
      this.#state.stream({ pid, runId, conversationId, modelCall, seq, event: wireEvent(event), timestamp: this.#ports.now() });
      if (event.type === "retrying" && !this.#state.isClosed) this.#announceRetry(run, event);
    };
    const { preparation, request } = measured;
    const { signal } = this.#stopping;
    const { pid, ports } = this.#state;
    const generated = await generate({ models: ports.models, preparation, messages: request.messages, pid, signal, onEvent: onEvent });
    if (this.#state.isClosed) return;
    this.#state.change((tell) => recordAnswer(this.#state, runId, generated, measured, tell));
    // Only after the message is stored: a reader between the last piece and the message would see neither.
    if (this.#live === live) this.#live = null;
  }

  #announceRetry({ runId, conversationId }: Run, { attempt, waitMs, why }: Extract<ModelEvent, { type: "retrying" }>): void {
    this.#state.change((tell) => {
      if (this.#state.runs.active()?.runId !== runId) return;
      this.#state.runs.extendLease(runId, this.#ports.now() + waitMs + LEASE_MS);
      tell(RUN_RETRYING, { runId, conversationId, attempt, waitMs, why });
    });
  }

  /** Ends a run that cannot continue. The conversation says why, and what can be done. */
  #endWith(run: Run, reason: string, why: string, tell: Tell): void {
    const { runId, conversationId } = run;
    this.#state.interrupt(run, tell);
    this.#state.appendMessage(conversationId, runId, { role: "system", text: `The run was ended: ${why}` }, tell);
    this.#state.end(run, { status: "error", reason, text: null, error: why }, tell);
  }

  #lastText({ conversationId }: Run): string | null {
    const last = this.history.last(conversationId);
    return last?.role === "assistant" ? textOf(last.blocks) : null;
  }

  /** `why` is STOPPED if everything under way is to end too, wherever it runs. */
  #stop(why: typeof STOPPED | null): void {
    this.#stopping.abort(why);
    this.#stopping = new AbortController();
    this.#live = null;
  }

  /** The partial answer as a message. Leaves out tool calls, because nobody needs them any more. */
  #partialMessage(runId: string): Extract<MessageContent, { role: "assistant" }> | null {
    const answer = this.#live?.answer();
    if (answer?.runId !== runId) return null;
    const blocks = answer.blocks.filter((block) => block.type !== "toolCall");
    const hasWords = blocks.some((block) => (block.type === "text" ? block.text : block.thinking).trim() !== "");
    const { provider, model } = this.#measured?.preparation.choice ?? {};
    return hasWords ? { role: "assistant", blocks, ...(provider && { model: `${provider}/${model}` }), stopped: true } : null;
  }

  /**
   * Ends a run that failed through a bug of ours or a refusal, so that the next one can start. False if not even that could be
   * stored.
   */
  #endBrokenRun(runId: string, error: unknown): boolean {
    if (this.#state.isClosed) return false;
    const { pid } = this.#state;
    const isRefusal = error instanceof SysError;
    if (!isRefusal)
      this.#ports.log("a run broke", { pid, runId, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    try {
      this.#state.change((tell) => {
        const run = this.#state.runs.active();
        if (run?.runId !== runId) return;
        // A refusal by the kernel is not a bug, for example when the owner is locked: its message says why.
        if (isRefusal) return this.#endWith(run, "refused", error.message, tell);
        const why = "Something went wrong in the gateway itself";
        this.#state.end(run, { status: "error", reason: "internal", text: null, error: why }, tell);
      });
      return true;
    } catch {
      this.#ports.wakeAt(this.#ports.now() + STORAGE_RETRY_MS);
      return false;
    }
  }

  #view() {
    const run = this.#state.runs.active();
    if (run === undefined) {
      this.#prepared = this.#measured = null;
      this.#recent.forget();
    }
    return { now: this.#ports.now(), run: run === undefined ? null : this.#runView(run), waiting: this.#state.listStartable() };
  }

  #runView({ runId, conversationId, leaseUntil, budgetRequest }: Run): RunView {
    const last = this.history.last(conversationId);
    const calls = last?.role === "assistant" ? this.#state.calls.of(runId, last.id) : [];
    const isMeasured = this.#measured?.runId === runId && this.#measured.lastMessageId === (last?.id ?? null);
    const measured = isMeasured ? this.#measured : null;
    return {
      runId,
      conversationId,
      leaseUntil,
      said: lastSaid(last, calls.length > 0),
      calls: calls.map(({ callId, state, args }) => ({ callId, state, isOnDevice: namesDevice(args ?? {}) })),
      behind: this.#state.listStartable().flatMap((one) => (one.conversationId === conversationId ? one.runId : [])),
      budget: budgetRequest !== null ? "asked" : (measured?.over.length ?? 0) > 0 ? "spent" : "within",
      overflow: measured?.overflow ?? "unmeasured",
    };
  }
}

function lastSaid(last: MessageContent | undefined, hasCalls: boolean): LastMessageKind {
  if (last === undefined) return "nothing";
  switch (last.role) {
    case "assistant":
      return hasCalls ? "wish" : "answer";
    case "toolResult":
      return "results";
    default:
      return last.role;
  }
}
