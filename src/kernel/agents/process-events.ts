// Receives the events of processes: updates the list of processes, counts what owners use and which model calls fail, withdraws the
// questions and removes the routes of finished runs, ends the runs of schedules, matches watches, and sends each event to its recipients.
// Events that were received before are ignored.

import type { WriteContext } from "../context.ts";
import {
  CHAT_COMPLETE,
  HIL_REQUESTED,
  PROC_CHANGED,
  RUN_FINISHED,
  RUN_OUTPUT,
  RUN_STARTED,
  TOOL_FINISHED,
  TOOL_STARTED,
} from "../../protocol/signal-names.ts";
import { NOTHING_SPENT, sumSpent } from "../../ports/usage.ts";
import type { Spent } from "../../protocol/proc-records.ts";
import type { Payload, ProcessEvent } from "../../protocol/signals.ts";
import type { ProcessChange, ProcessRow } from "../nouns/processes.ts";
import type { Ipc } from "./ipc.ts";
import { announceClosedQuestions } from "./question-notices.ts";
import type { ProcessSignals } from "./process-signals.ts";
import { isScheduled, onProcessIdle, recordProcessRunEnd, recordRefusedCall } from "../schedules/outcome.ts";
import type { Store } from "../store.ts";
import type { Watches } from "../watches/watches.ts";

type RunFinished = Payload<typeof RUN_FINISHED>;

export class ProcessEvents {
  readonly #store: Store;
  readonly #signals: ProcessSignals;
  readonly #ipc: Ipc;
  readonly #watches: Watches;

  constructor(store: Store, signals: ProcessSignals, ipc: Ipc, watches: Watches) {
    this.#store = store;
    this.#signals = signals;
    this.#ipc = ipc;
    this.#watches = watches;
  }

  /** `isReceivingWork`: a message is being sent to the process at this moment, so it must not be marked idle. */
  record(pid: string, events: readonly ProcessEvent[], isReceivingWork: boolean): void {
    const process = this.#store.reads.processes.get(pid);
    const fresh = process === undefined ? [] : events.filter(({ seq }) => seq > process.heardSeq);
    if (process === undefined || fresh.length === 0) return;
    // What ends a schedule's run notifies its owner, and what was announced must not be lost.
    const lane = fresh.some((event) => event.signal === RUN_FINISHED && isScheduled(event.payload.runId)) ? "write" : "relaxed";
    this.#store[lane]((nouns) => this.#recordAll(nouns, process, fresh, isReceivingWork));
    const ended: string[] = [];
    for (const event of fresh) {
      this.#signals.send(process, event);
      if (event.signal === RUN_FINISHED) this.#answerIpc(pid, event.payload);
      if (event.signal === CHAT_COMPLETE) ended.push(event.payload.runId);
    }
    // The route is needed until the last signal of its run.
    if (ended.length > 0) this.#store.relaxed(({ followers }) => ended.forEach((runId) => followers.removeRoute(pid, runId)));
  }

  #answerIpc(pid: string, { runId, status, text, error, usage }: RunFinished): void {
    this.#ipc.onRunFinished(pid, runId, { status, text, error, usage });
  }

  /** The row of the process and the spending of its owner are written once for all of them. */
  #recordAll(nouns: WriteContext, process: ProcessRow, events: readonly ProcessEvent[], isReceivingWork: boolean): void {
    const { pid, uid } = process;
    const { processes, spending, modelFailures, emit, after, now } = nouns;
    let change: ProcessChange = {};
    let spent: Spent | null = null;
    const spend = (more: Partial<Spent>) => (spent = sumSpent(spent ?? NOTHING_SPENT, more));
    for (const event of events) {
      change = { ...change, ...stateChangeOf(event), queuedCount: event.payload.queuedCount };
      switch (event.signal) {
        case RUN_STARTED:
          processes.markBusy(pid);
          break;
        case RUN_OUTPUT:
          modelFailures.clear(uid);
          break;
        case TOOL_FINISHED:
          spend({ toolCalls: 1 });
          if (event.payload.outcome === "denied") recordRefusedCall(nouns, pid, event.payload.runId);
          break;
        case PROC_CHANGED:
          if (event.payload.usage !== undefined) spend({ modelCalls: 1, usage: event.payload.usage });
          break;
        case RUN_FINISHED:
          if (event.payload.wallMs > 0) spend({ wallMs: event.payload.wallMs });
          this.#recordRunEnd(nouns, { pid, uid }, event.payload, isReceivingWork);
          break;
        default:
      }
      this.#watches.onEvent(nouns, process, event);
    }
    processes.recordEvents(pid, events.at(-1)!.seq, change, now);
    if (spent !== null) spending.add(uid, spent, now);
    if (events.some(({ signal }) => LIST_SIGNALS.has(signal))) after(() => emit.announceChanges(uid, ["processes"]));
  }

  #recordRunEnd(nouns: WriteContext, { pid, uid }: Pick<ProcessRow, "pid" | "uid">, end: RunFinished, isReceivingWork: boolean): void {
    const { processes, approvals, modelFailures, now } = nouns;
    announceClosedQuestions(nouns, uid, approvals.withdraw(pid, end.runId, now));
    // Only that of this run: other messages may be on hold, or were sent since, if the event was delivered late.
    nouns.processOrigins.removeMessage(pid, end.runId);
    if (isIdle(end) && !isReceivingWork) processes.markIdle(pid);
    if (MODEL_FAILED.has(end.reason)) modelFailures.recordFailure(uid, String(end.error), now);
    else if (end.status === "ok") modelFailures.clear(uid);
    recordProcessRunEnd(nouns, pid, end);
    if (processes.get(pid)?.isBusy === false) onProcessIdle(nouns, pid);
  }
}

/** No run is active, and all queued messages are on hold. */
function isIdle({ queuedCount, pausedCount = 0, activeRunId }: RunFinished): boolean {
  return queuedCount === pausedCount && activeRunId === undefined;
}

/** The reasons of runs that ended because the model gave no answer. */
const MODEL_FAILED: ReadonlySet<string> = new Set(["generation.error", "generation.empty"]);

/** Signals that change what a list of processes shows. */
const LIST_SIGNALS: ReadonlySet<string> = new Set([RUN_STARTED, HIL_REQUESTED, RUN_FINISHED]);

function stateChangeOf({ signal, payload }: ProcessEvent): ProcessChange {
  switch (signal) {
    case RUN_STARTED:
    case RUN_OUTPUT:
    case TOOL_FINISHED:
      return { state: "running", ...makeActiveRunState(payload) };
    case TOOL_STARTED:
      return { state: "waiting_tool", ...makeActiveRunState(payload) };
    case HIL_REQUESTED:
      return { state: "waiting_hil", ...makeActiveRunState(payload) };
    case RUN_FINISHED:
      if (payload.activeRunId !== undefined) return {};
      return { state: isIdle(payload) ? "idle" : "queued", activeRunId: null, activeConversationId: null };
    default:
      return {};
  }
}

function makeActiveRunState({ runId, conversationId }: { runId: string; conversationId: string }): ProcessChange {
  return { activeRunId: runId, activeConversationId: conversationId };
}
