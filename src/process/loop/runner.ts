// Works on the runs of a process, one step at a time: asks next.ts what to do, does it, and asks again. Every step is stored before
// the next one starts, so another instance can continue. Memory holds only what may be lost: what the kernel prepared for the run,
// how full the context is, and the partial answer of the model.

import { preflightWithoutCompaction } from "../../agent/estimate.ts";
import { rejectOnAbort } from "../../lib/or-aborted.ts";
import { SysError } from "../../lib/sys-error.ts";
import { namesDevice } from "../../lib/target.ts";
import type { ModelEvent } from "../../ports/models.ts";
import type { LiveAnswer } from "../../protocol/proc-records.ts";
import { HIL_REQUESTED, PROC_CHANGED, RUN_RETRYING } from "../../protocol/signal-names.ts";
import { compactForRun } from "../conversation/compaction.ts";
import { type Preparation, type ProcessPorts, STOPPED } from "../kernel-port.ts";
import { DEFAULT_CONVERSATION } from "../rows/conversations.ts";
import type { MessageContent } from "../rows/history.ts";
import type { Run } from "../rows/runs.ts";
import { LEASE_MS, PERSON_LEASE_MS, type State, type Tell, textOfBlocks } from "../rows/state.ts";
import { overspentText } from "./budget.ts";
import { EarlyAnswers } from "./early-answers.ts";
import { generate, historyTokensMax, buildRequest } from "./generate.ts";
import { PartialAnswer, toWireEvent } from "./live-answer.ts";
import { measureRun, type Measurement, measureSpent, toOverflowView } from "./measure.ts";
import { type Action, type LastMessageKind, nextAction, type RunView } from "./next.ts";
import { Pictures } from "./pictures.ts";
import { RecentMessages } from "./recent-messages.ts";
import { recordAnswer } from "./record-answer.ts";
import { ToolRunner } from "./tool-runner.ts";

/** Delay before a retry when nothing can be stored, for example because the disk is full. */
const STORAGE_RETRY_MS = 10_000;

export class Runner {
  readonly tools: ToolRunner;
  readonly #state: State;
  readonly #ports: ProcessPorts;
  readonly #pictures: Pictures;
  readonly #recent = new RecentMessages();
  readonly #earlyBudgets = new EarlyAnswers<boolean>();
  /** What the active run needs from the kernel, looked up once. */
  #prepared: { runId: string; preparation: Preparation } | null = null;
  #measured: Measurement | null = null;
  #live: PartialAnswer | null = null;
  #stopping = new AbortController();
  #isWorking = false;
  #isWorkRequested = false;

  constructor(state: State) {
    this.#state = state;
    this.#ports = state.ports;
    this.#pictures = new Pictures(state.ports.kernel);
    this.tools = new ToolRunner(state, () => this.schedule());
    state.readPartialAnswer = (runId) => this.#partialMessage(runId);
  }

  /** Starts to work, or looks for the next step again after the present one. */
  schedule(): void {
    this.#isWorkRequested = true;
    if (this.#isWorking || this.#state.isClosed) return;
    this.#isWorking = true;
    void this.#runUntilIdle().finally(() => {
      this.#isWorking = false;
      if (this.#isWorkRequested) this.schedule();
    });
  }

  /** `why` is STOPPED if everything under way is to end too, wherever it runs. */
  stop(why: typeof STOPPED | null): void {
    this.#stopping.abort(why);
    this.#stopping = new AbortController();
    this.#live = null;
  }

  /** Stops all work; this instance does no more. */
  close(): void {
    this.stop(null);
    this.#recent.forget();
  }

  /** A person has answered whether the run may use its budget once more. */
  handleBudgetDecision(requestId: string, isAllowed: boolean): void {
    const { runs, usage } = this.#state;
    const isApplied = this.#state.change((tell) => {
      const run = runs.findActive();
      if (run?.budgetRequest?.requestId !== requestId) return false;
      if (!isAllowed) {
        this.#endWithError(
          run,
          "budget.denied",
          "The budget is used up, and nobody approved more. Raise the limit, or send a new message.",
          tell,
        );
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
    this.schedule();
  }

  /** The answer that is being streamed. */
  get liveAnswer(): LiveAnswer | null {
    return this.#live?.toLiveAnswer() ?? null;
  }

  async #runUntilIdle(): Promise<void> {
    do {
      this.#isWorkRequested = false;
      const action = nextAction(this.#buildProcessView());
      if (action.do === "rest" || action.do === "wait") {
        this.#ports.wakeAt(this.#state.runs.findActive()?.leaseUntil ?? null);
        continue;
      }
      const { signal } = this.#stopping;
      try {
        // A stop ends the wait, whatever the step waits for, so that the next run can start.
        await rejectOnAbort(this.#perform(action), signal);
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
        return this.#state.change((tell) => this.#state.beginRun(runId, "queue.promote", tell));
      case "send":
        return this.tools.send(action.callId, this.#stopping.signal);
      case "collect":
        return this.#state.change((tell) => this.#state.collectResults(runId, tell));
      case "join":
        return this.#state.change((tell) => this.#state.joinRuns(runId, action.runIds, tell));
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
          const run = this.#state.runs.findActive();
          if (run?.runId !== runId) return;
          const { status, reason } = action;
          if (status === "ok") this.#state.endActiveRun(run, { status, reason, text: this.#lastAnswerText(run) }, tell);
          else this.#endWithError(run, reason, this.#measured?.why ?? "This run made no progress for too long.", tell);
        });
        // Also stops whatever the run waited for.
        if (action.reason === "lease.expired") this.stop(STOPPED);
        return;
    }
  }

  async #measure(runId: string): Promise<void> {
    const run = this.#state.runs.findActive();
    if (run?.runId !== runId) return;
    const preparation = await this.#prepare(run);
    const read = this.#recent.read(this.#state.history, run.conversationId, historyTokensMax(preparation));
    const modelRequest = buildRequest(await this.#pictures.load(read.rows), read, preparation);
    const owner = await this.#ports.kernel.readOwnerAccount();
    if (this.#state.isClosed || this.#state.runs.findActive()?.runId !== runId) return;
    this.#measured = measureRun(this.#state, run, preparation, modelRequest, owner, read.rows.at(-1)?.id ?? null);
  }

  async #prepare(run: Run): Promise<Preparation> {
    if (this.#prepared?.runId !== run.runId)
      this.#prepared = { runId: run.runId, preparation: await this.#ports.kernel.prepare(run.conversationId, run.settings ?? undefined) };
    return this.#prepared.preparation;
  }

  /** The kernel stores the question before this process records it. Asked again after a crash, the kernel returns the same question. */
  async #askForBudget(runId: string): Promise<void> {
    const { over } = this.#measured!;
    const conversationId = this.#state.runs.get(runId)?.conversationId ?? DEFAULT_CONVERSATION;
    const question = await this.#ports.kernel.askForBudget({ runId, conversationId, over, why: overspentText(over) });
    if (this.#state.isClosed) return;
    this.#state.change((tell) => {
      const run = this.#state.runs.findActive();
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
    const run = this.#state.runs.findActive();
    const measured = this.#measured;
    if (run?.runId !== runId || measured === null) return;
    const { keepLast } = this.#state.conversations.policy(run.conversationId);
    const outcome = await compactForRun(this.#state, run, measured.preparation, keepLast, this.#stopping.signal);
    if (outcome === "compacted" || outcome === "gone") this.#measured = null;
    else if (outcome === "empty") this.#measured = { ...measured, ...toOverflowView(preflightWithoutCompaction(measured.context)) };
    else this.#measured = { ...measured, overflow: "failed", why: `Compaction failed. ${outcome.failed}` };
  }

  async #generate(runId: string): Promise<void> {
    const run = this.#state.runs.findActive();
    const measured = this.#measured;
    if (run?.runId !== runId || measured === null) return;
    const { conversationId } = run;
    const modelCall = this.#state.usage.ofRun(runId).modelCalls + 1;
    const live = new PartialAnswer({ runId, conversationId, modelCall });
    this.#live = live;
    const onEvent = (event: ModelEvent) => {
      const seq = live.add(event);
      const { pid } = this.#state;
      this.#state.stream({ pid, runId, conversationId, modelCall, seq, event: toWireEvent(event), timestamp: this.#ports.now() });
      if (event.type === "retrying" && !this.#state.isClosed) this.#announceRetry(run, event);
    };
    const { preparation, request } = measured;
    const { signal } = this.#stopping;
    const { pid, ports } = this.#state;
    const generated = await generate({ models: ports.models, preparation, messages: request.messages, pid, signal, onEvent });
    if (this.#state.isClosed) return;
    this.#state.change((tell) => recordAnswer(this.#state, runId, generated, measured, tell));
    // Only after the message is stored: a reader between the last piece and the message would see neither.
    if (this.#live === live) this.#live = null;
  }

  #announceRetry({ runId, conversationId }: Run, { attempt, waitMs, why }: Extract<ModelEvent, { type: "retrying" }>): void {
    this.#state.change((tell) => {
      if (this.#state.runs.findActive()?.runId !== runId) return;
      this.#state.runs.extendLease(runId, this.#ports.now() + waitMs + LEASE_MS);
      tell(RUN_RETRYING, { runId, conversationId, attempt, waitMs, why });
    });
  }

  /** Ends a run that cannot continue. The conversation says why, and what can be done. */
  #endWithError(run: Run, reason: string, why: string, tell: Tell): void {
    const { runId, conversationId } = run;
    this.#state.endOpenCalls(run, tell);
    this.#state.appendMessage(conversationId, runId, { role: "system", text: `The run was ended: ${why}` }, tell);
    this.#state.endActiveRun(run, { status: "error", reason, text: null, error: why }, tell);
  }

  #lastAnswerText({ conversationId }: Run): string | null {
    const last = this.#state.history.findLast(conversationId);
    return last?.role === "assistant" ? textOfBlocks(last.blocks) : null;
  }

  /** The partial answer as a message. Leaves out tool calls, because nobody needs them any more. */
  #partialMessage(runId: string): Extract<MessageContent, { role: "assistant" }> | null {
    const answer = this.#live?.toLiveAnswer();
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
      this.#ports.log("a run failed", { pid, runId, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    try {
      this.#state.change((tell) => {
        const run = this.#state.runs.findActive();
        if (run?.runId !== runId) return;
        // A refusal by the kernel is not a bug, for example when the owner is locked: its message says why.
        if (isRefusal) return this.#endWithError(run, "refused", error.message, tell);
        const why = "An internal error occurred in the gateway: see its log";
        this.#state.endActiveRun(run, { status: "error", reason: "internal", text: null, error: why }, tell);
      });
      this.stop(STOPPED);
      return true;
    } catch {
      this.#ports.wakeAt(this.#ports.now() + STORAGE_RETRY_MS);
      return false;
    }
  }

  #buildProcessView() {
    const run = this.#state.runs.findActive();
    if (run === undefined) this.#prepared = this.#measured = null;
    return { now: this.#ports.now(), run: run === undefined ? null : this.#buildRunView(run), waiting: this.#state.listStartable() };
  }

  /** Messages with settings of their own get a run of their own, and those after them wait for it. */
  #listJoinable(conversationId: string): string[] {
    const behind = this.#state.listStartable().filter((one) => one.conversationId === conversationId);
    const first = behind.findIndex(({ settings }) => settings !== null);
    return (first < 0 ? behind : behind.slice(0, first)).map(({ runId }) => runId);
  }

  #buildRunView({ runId, conversationId, leaseUntil, budgetRequest }: Run): RunView {
    const last = this.#state.history.findLast(conversationId);
    const calls = last?.role === "assistant" ? this.#state.calls.listForMessage(runId, last.id) : [];
    const isMeasured = this.#measured?.runId === runId && this.#measured.lastMessageId === (last?.id ?? null);
    const measured = isMeasured ? this.#measured : null;
    return {
      runId,
      conversationId,
      leaseUntil,
      said: lastMessageKind(last, calls.length > 0),
      calls: calls.map(({ callId, state, args }) => ({ callId, state, isOnDevice: namesDevice(args ?? {}) })),
      behind: this.#listJoinable(conversationId),
      budget: budgetRequest !== null ? "asked" : (measured?.over.length ?? 0) > 0 ? "spent" : "within",
      overflow: measured?.overflow ?? "unmeasured",
    };
  }
}

function lastMessageKind(last: MessageContent | undefined, hasCalls: boolean): LastMessageKind {
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
