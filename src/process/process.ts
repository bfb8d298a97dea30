// A process: takes what is said to it, works on one thing at a time, and writes every step down before it goes on. What it
// does next follows from what is written (next.ts, state.ts); memory holds only what may be lost with it: the model's answer
// as it comes, how full the context was, and the wish to stop.

import { orAborted } from "../lib/or-aborted.ts";
import { fail, SysError } from "../lib/sys-error.ts";
import { namesDevice } from "../lib/target.ts";
import type { ModelEvent } from "../ports/models.ts";
import type { ContextState, LiveAnswer, MessageUsage, Spent } from "../protocol/proc-records.ts";
import { overspentText } from "./loop/budget.ts";
import { answered } from "./loop/record-answer.ts";
import { compactForRun } from "./conversation/compaction.ts";
import { ConversationCalls } from "./conversation/conversation-calls.ts";
import { DEFAULT_CONVERSATION } from "./rows/conversations.ts";
import { EarlyAnswers } from "./loop/early-answers.ts";
import { withoutCompaction } from "../agent/estimate.ts";
import type { Said } from "./rows/history.ts";
import { type Preparation, type ProcessPorts, STOPPED } from "./kernel-port.ts";
import { PartialAnswer, wireEvent } from "./loop/live-answer.ts";
import { contextNow, measure, type Measured, spentNow, viewOf } from "./loop/measure.ts";
import { Pictures } from "./loop/pictures.ts";
import { Queue } from "./conversation/queue.ts";
import { type Action, type LastSaid, next, type RunView } from "./loop/next.ts";
import { type Run, type RunReason, WAITING_MAX } from "./rows/runs.ts";
import { LEASE_MS, PERSON_LEASE_MS, State, type Tell, textOf } from "./rows/state.ts";
import { ToolRunner } from "./loop/tool-runner.ts";
import { RecentMessages } from "./loop/recent-messages.ts";
import { generate, historyTokensMax, request } from "./loop/generate.ts";
import { HIL_REQUESTED, PROC_CHANGED, RUN_RETRYING } from "../protocol/signal-names.ts";

/** When nothing can be written, such as on a full disk, it is tried again then. */
const STORAGE_RETRY_MS = 10_000;
/** A model's answer is followed by as many results as it made calls. */
const LOOKED_BACK = 100;

export type SendArgs = {
  conversationId?: string | undefined;
  said: Extract<Said, { role: "user" | "system" }>;
  runId?: string | undefined;
  reason: RunReason;
};

export type SendResult = { status: "started"; runId: string; queued?: true };
/** `pauseQueue`: what waits in the same conversation stays there until the queue is resumed. */
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
  /** What waits to be said. */
  readonly queue: Queue;
  readonly #tools: ToolRunner;
  readonly #pictures: Pictures;
  readonly #earlyBudgets = new EarlyAnswers<boolean>();
  /** What the run that is worked on has of the system. */
  #prepared: { runId: string; preparation: Preparation } | null = null;
  #measured: Measured | null = null;
  readonly #recent = new RecentMessages();
  #live: PartialAnswer | null = null;
  #stopping = new AbortController();
  readonly #closing = new AbortController();
  #isWorking = false;
  #isAsked = false;

  constructor(pid: string, ports: ProcessPorts) {
    this.#ports = ports;
    this.#state = new State(pid, ports);
    this.queue = new Queue(this.#state);
    this.#tools = new ToolRunner(this.#state, () => this.#goOn());
    this.#pictures = new Pictures(ports.kernel);
    const signal = () => this.#closing.signal;
    this.#state.partial = (runId) => this.#partial(runId);
    this.conversation = new ConversationCalls(this.#state, { stop: () => this.#stop(STOPPED), goOn: () => this.#goOn(), signal });
  }

  /** From now on it does nothing, wherever it was: the next life goes on from what is written. */
  close(): void {
    this.#state.isClosed = true;
    this.#closing.abort(null);
    this.#stop(null);
  }

  /** Goes on where it stopped. */
  woke(): void {
    this.#goOn();
  }

  /** The same runId again is the same message. */
  send({ conversationId = DEFAULT_CONVERSATION, said, runId = this.#ports.uuid(), reason }: SendArgs): SendResult {
    const { runs, conversations, held } = this.#state;
    const result = this.#state.change((tell): SendResult => {
      const now = this.#ports.now();
      const known = runs.get(runId);
      if (known !== undefined) return { status: "started", runId, ...(known.state === "waiting" ? { queued: true } : {}) };
      conversations.forSaying(conversationId, now);
      if (runs.waitingCount() >= WAITING_MAX) fail(429, `Too many messages are waiting: at most ${WAITING_MAX}. Wait, or abort the run`);
      const isIdle = runs.active() === undefined && this.runnableCount === 0 && !held.has(conversationId);
      runs.accept({ runId, conversationId, reason, message: said }, now);
      if (isIdle) {
        this.#state.begin(runId, reason, tell);
        return { status: "started", runId };
      }
      tell(PROC_CHANGED, { changes: ["queue"], conversationId, enqueuedRunId: runId });
      return { status: "started", runId, queued: true };
    });
    this.#goOn();
    return result;
  }

  /** Whatever the model or a tool is doing: for this process it is over now. */
  abort({ runId: named, pauseQueue = false }: AbortArgs = {}): AbortResult {
    const { runs } = this.#state;
    // What is answered together with another run is stopped with that.
    const runId = named === undefined ? undefined : (runs.get(named)?.joinedTo ?? named);
    const result = this.#state.change((tell): AbortResult => {
      const run = runs.active();
      if (run === undefined || (runId !== undefined && run.runId !== runId)) {
        const waiting = runId === undefined ? undefined : runs.get(runId);
        if (waiting?.state !== "waiting") return { aborted: false, runId: run?.runId ?? null, continuedQueuedRunId: null };
        this.#state.ended(waiting, { status: "aborted", reason: "user", text: null }, tell);
        return { aborted: true, runId: waiting.runId, continuedQueuedRunId: null };
      }
      const open = this.#state.calls.open(run.runId).length;
      const pausedCount = pauseQueue ? runs.hold(run.conversationId) : 0;
      this.#state.end(run, { status: "aborted", reason: "user", text: null }, tell);
      if (pausedCount > 0) tell(PROC_CHANGED, { changes: ["queue"], conversationId: run.conversationId });
      return {
        aborted: true,
        runId: run.runId,
        continuedQueuedRunId: this.#state.waiting()[0]?.runId ?? null,
        ...(open === 0 ? {} : { interruptedToolCalls: open }),
        ...(pausedCount === 0 ? {} : { pausedCount }),
      };
    });
    if (result.aborted && runs.active() === undefined) this.#stop(STOPPED);
    this.#goOn();
    return result;
  }

  /** What waits on hold has its turn again. */
  resumeQueue(conversationId?: string): { resumed: number } {
    const resumed = this.queue.resume(conversationId);
    this.#goOn();
    return { resumed };
  }

  /** A call it asked for is carried out from now on. */
  began(callId: string): void {
    this.#tools.began(callId);
  }

  /** A person has answered whether a call may run. */
  decided(requestId: string): void {
    this.#tools.decided(requestId);
  }

  /** A person has answered whether the run may use as much again. */
  budgetDecided(requestId: string, isAllowed: boolean): void {
    const { runs, usage } = this.#state;
    const isHeard = this.#state.change((tell) => {
      const run = runs.active();
      if (run?.budgetRequest?.requestId !== requestId) return false;
      if (!isAllowed) {
        this.#endWith(run, "budget.denied", "The budget is used up, and more was not given. Raise the limit, or send a new message.", tell);
        return true;
      }
      const spent = spentNow(this.#state, run);
      const { scopes } = run.budgetRequest;
      if (scopes.includes("run")) usage.extended({ runId: run.runId }, spent.run);
      if (scopes.includes("process")) usage.extended("process", spent.process);
      runs.askedForBudget(run.runId, null);
      runs.resume(run.runId, this.#ports.now() + LEASE_MS, this.#ports.now());
      return true;
    });
    if (!isHeard) return this.#earlyBudgets.add(requestId, isAllowed);
    this.#measured = null;
    this.#goOn();
  }

  /** The answer that is just coming. Who has this shows it, and then the pieces with a higher number. */
  live(): LiveAnswer | null {
    return this.#live?.answer() ?? null;
  }

  /** Of a run, or of all there were. */
  spent(runId?: string): Spent {
    return runId === undefined ? this.#state.usage.ofProcess() : this.#state.usage.ofRun(runId);
  }

  usageOf(messageIds: readonly number[]): { messageId: number; usage: MessageUsage[] }[] {
    return messageIds.map((messageId) => ({ messageId, usage: this.#state.usage.ofMessage(messageId) }));
  }

  /** How full a conversation is, null where no model was asked in it yet; and what the last answer took, what was cached included. */
  context(conversationId: string): { context: ContextState | null; lastAnswer: MessageUsage | null } {
    const lastAnswer = (): MessageUsage | null => {
      let looked = 0;
      for (const { id, role } of this.history.backwards(conversationId)) {
        if (role === "assistant") return this.#state.usage.ofMessage(id).at(-1) ?? null;
        if (++looked === LOOKED_BACK) return null;
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

  /** For a person, with nothing else under way. */
  get isWaiting(): boolean {
    const run = this.activeRun;
    return run !== undefined && run.pausedAt !== null && this.#state.calls.open(run.runId).every(({ state }) => state === "asked");
  }

  get waitingCount(): number {
    return this.#state.runs.waitingCount();
  }

  /** Those that will begin without anybody doing something. */
  get runnableCount(): number {
    return this.#state.runs.waitingCount() - this.#state.runs.onHoldCount();
  }

  #goOn(): void {
    this.#isAsked = true;
    if (this.#isWorking || this.#state.isClosed) return;
    this.#isWorking = true;
    void this.#work().finally(() => {
      this.#isWorking = false;
      if (this.#isAsked) this.#goOn();
    });
  }

  async #work(): Promise<void> {
    do {
      this.#isAsked = false;
      const action = next(this.#view());
      if (action.do === "rest" || action.do === "wait") {
        this.#ports.wakeAt(this.#state.runs.active()?.leaseUntil ?? null);
        continue;
      }
      const { signal } = this.#stopping;
      try {
        // Whatever it waits for: once it is stopped, the next one has its turn.
        await orAborted(this.#perform(action), signal);
      } catch (error) {
        if (!signal.aborted && !this.#broken(action.runId, error)) return;
      }
      this.#isAsked = true;
    } while (this.#isAsked && !this.#state.isClosed);
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
        // Whatever it was waiting for too long.
        if (action.reason === "lease.expired") this.#stop(STOPPED);
        return;
    }
  }

  async #measure(runId: string): Promise<void> {
    const run = this.#state.runs.active();
    if (run?.runId !== runId) return;
    const preparation = await this.#prepare(run);
    const read = this.#recent.read(this.#state.history, run.conversationId, historyTokensMax(preparation));
    const asked = request(await this.#pictures.loaded(read.rows), read, preparation);
    const owner = await this.#ports.kernel.ofOwner();
    if (this.#state.isClosed || this.#state.runs.active()?.runId !== runId) return;
    this.#measured = measure(this.#state, run, preparation, asked, owner, read.rows.at(-1)?.id ?? null);
  }

  async #prepare(run: Run): Promise<Preparation> {
    if (this.#prepared?.runId !== run.runId)
      this.#prepared = { runId: run.runId, preparation: await this.#ports.kernel.prepare(run.conversationId) };
    return this.#prepared.preparation;
  }

  /** The question is asked before it is written down that it was: asked again after a crash, it is the same question. */
  async #askForBudget(runId: string): Promise<void> {
    const { over } = this.#measured!;
    const conversationId = this.#state.runs.get(runId)?.conversationId ?? DEFAULT_CONVERSATION;
    const question = await this.#ports.kernel.askForBudget({ runId, conversationId, over, why: overspentText(over) });
    if (this.#state.isClosed) return;
    this.#state.change((tell) => {
      const run = this.#state.runs.active();
      if (run?.runId !== runId) return;
      const { requestId } = question;
      this.#state.runs.askedForBudget(runId, { requestId, scopes: over.map(({ scope }) => scope) });
      this.#state.runs.pause(runId, this.#ports.now() + PERSON_LEASE_MS, this.#ports.now());
      tell(PROC_CHANGED, { changes: ["budget"], conversationId, runId, requestId, over: [...over], why: overspentText(over) });
      tell(HIL_REQUESTED, question);
    });
    const isAllowed = this.#earlyBudgets.get(question.requestId);
    if (isAllowed !== undefined) this.budgetDecided(question.requestId, isAllowed);
  }

  async #compact(runId: string): Promise<void> {
    const run = this.#state.runs.active();
    const measured = this.#measured;
    if (run?.runId !== runId || measured === null) return;
    const { keepLast } = this.#state.conversations.policy(run.conversationId);
    const done = await compactForRun(this.#state, run, measured.preparation, keepLast, this.#stopping.signal);
    if (done === "compacted" || done === "gone") this.#measured = null;
    else if (done === "empty") this.#measured = { ...measured, ...viewOf(withoutCompaction(measured.context)) };
    else this.#measured = { ...measured, overflow: "failed", why: `Compacting did not make room. ${done.failed}` };
  }

  async #generate(runId: string): Promise<void> {
    const run = this.#state.runs.active();
    const measured = this.#measured;
    if (run?.runId !== runId || measured === null) return;
    const { conversationId } = run;
    const modelCall = this.#state.usage.ofRun(runId).modelCalls + 1;
    const live = new PartialAnswer({ runId, conversationId, modelCall });
    this.#live = live;
    const heard = (event: ModelEvent) => {
      const seq = live.heard(event);
      const { pid } = this.#state;
      this.#state.stream({ pid, runId, conversationId, modelCall, seq, event: wireEvent(event), timestamp: this.#ports.now() });
      if (event.type === "retrying" && !this.#state.isClosed) this.#retrying(run, event);
    };
    const { preparation, request } = measured;
    const { signal } = this.#stopping;
    const { pid, ports } = this.#state;
    const generated = await generate({ models: ports.models, preparation, messages: request.messages, pid, signal, heard });
    if (this.#state.isClosed) return;
    this.#state.change((tell) => answered(this.#state, runId, generated, measured, tell));
    // Only now: whoever looks between the last piece and the message would miss it.
    if (this.#live === live) this.#live = null;
  }

  #retrying({ runId, conversationId }: Run, { attempt, waitMs, why }: Extract<ModelEvent, { type: "retrying" }>): void {
    this.#state.change((tell) => {
      if (this.#state.runs.active()?.runId !== runId) return;
      this.#state.runs.prolong(runId, this.#ports.now() + waitMs + LEASE_MS);
      tell(RUN_RETRYING, { runId, conversationId, attempt, waitMs, why });
    });
  }

  /** The run cannot go on: the conversation says why, and what can be done. */
  #endWith(run: Run, reason: string, why: string, tell: Tell): void {
    const { runId, conversationId } = run;
    this.#state.interrupt(run, tell);
    this.#state.say(conversationId, runId, { role: "system", text: `The run was ended: ${why}` }, tell);
    this.#state.end(run, { status: "error", reason, text: null, error: why }, tell);
  }

  #lastText({ conversationId }: Run): string | null {
    const last = this.history.last(conversationId);
    return last?.role === "assistant" ? textOf(last.blocks) : null;
  }

  /** `why` is STOPPED where what is under way is to end, wherever it runs. */
  #stop(why: typeof STOPPED | null): void {
    this.#stopping.abort(why);
    this.#stopping = new AbortController();
    this.#live = null;
  }

  /** Calls that were still being written are left out: nobody wants them any more. */
  #partial(runId: string): Extract<Said, { role: "assistant" }> | null {
    const answer = this.#live?.answer();
    if (answer?.runId !== runId) return null;
    const blocks = answer.blocks.filter((block) => block.type !== "toolCall");
    const hasWords = blocks.some((block) => (block.type === "text" ? block.text : block.thinking).trim() !== "");
    const { provider, model } = this.#measured?.preparation.choice ?? {};
    return hasWords ? { role: "assistant", blocks, ...(provider && { model: `${provider}/${model}` }), stopped: true } : null;
  }

  /** Our own mistake: the run ends with it, visibly, and the next one has its turn. False where not even that could be kept. */
  #broken(runId: string, error: unknown): boolean {
    if (this.#state.isClosed) return false;
    const { pid } = this.#state;
    const isRefusal = error instanceof SysError;
    if (!isRefusal)
      this.#ports.log("a run broke", { pid, runId, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    try {
      this.#state.change((tell) => {
        const run = this.#state.runs.active();
        if (run?.runId !== runId) return;
        // What the kernel refuses is no mistake of ours, such as where the owner was locked: it says why.
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
    return { now: this.#ports.now(), run: run === undefined ? null : this.#runView(run), waiting: this.#state.waiting() };
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
      behind: this.#state.waiting().flatMap((one) => (one.conversationId === conversationId ? one.runId : [])),
      budget: budgetRequest !== null ? "asked" : (measured?.over.length ?? 0) > 0 ? "spent" : "within",
      overflow: measured?.overflow ?? "unmeasured",
    };
  }
}

function lastSaid(last: Said | undefined, hasCalls: boolean): LastSaid {
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
