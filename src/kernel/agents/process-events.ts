// Receives the events of processes: updates the list of processes, counts what owners use and which model calls fail, withdraws the
// questions and removes the routes of finished runs, and sends each event to its recipients. Events that were received before are ignored.

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
import type { Payload, ProcessEvent } from "../../protocol/signals.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import type { Ipc } from "./ipc.ts";
import type { ProcessSignals } from "./process-signals.ts";
import type { Store } from "../store.ts";

type RunFinished = Payload<typeof RUN_FINISHED>;

export class ProcessEvents {
  readonly #store: Store;
  readonly #signals: ProcessSignals;
  readonly #ipc: Ipc;

  constructor(store: Store, signals: ProcessSignals, ipc: Ipc) {
    this.#store = store;
    this.#signals = signals;
    this.#ipc = ipc;
  }

  /** `isReceivingWork`: a message is being sent to the process at this moment, so it must not be marked idle. */
  record(pid: string, events: readonly ProcessEvent[], isReceivingWork: boolean): void {
    const process = this.#store.reads.processes.get(pid);
    if (process === undefined) return;
    for (const event of events) {
      const isNew = this.#store.relaxed((nouns) => this.#recordEvent(nouns, process, event, isReceivingWork));
      if (!isNew) continue;
      this.#signals.send(process, event);
      if (event.signal === RUN_FINISHED) this.#answerIpc(pid, event.payload);
      // The route is needed until the last signal of its run.
      if (event.signal === CHAT_COMPLETE) this.#store.relaxed(({ followers }) => followers.removeRoute(pid, event.payload.runId));
    }
  }

  #answerIpc(pid: string, { runId, status, text, error, usage }: RunFinished): void {
    this.#ipc.onRunFinished(pid, runId, { status, text, error, usage });
  }

  #recordEvent(nouns: WriteContext, { pid, uid }: ProcessRow, event: ProcessEvent, isReceivingWork: boolean): boolean {
    const { processes, spending, modelFailures, emit, after, now } = nouns;
    const { queuedCount } = event.payload;
    if (!processes.recordEvent(pid, event.seq, { ...processStateAfter(event), queuedCount }, now)) return false;
    if (LIST_SIGNALS.has(event.signal)) after(() => emit.announceChanges(uid, ["processes"]));
    switch (event.signal) {
      case RUN_STARTED:
        processes.markBusy(pid);
        break;
      case RUN_OUTPUT:
        modelFailures.clear(uid);
        break;
      case TOOL_FINISHED:
        spending.add(uid, { toolCalls: 1 }, now);
        break;
      case PROC_CHANGED:
        if (event.payload.usage !== undefined) spending.add(uid, { modelCalls: 1, usage: event.payload.usage }, now);
        break;
      case RUN_FINISHED:
        this.#recordRunEnd(nouns, { pid, uid }, event.payload, isReceivingWork);
        break;
      default:
    }
    return true;
  }

  #recordRunEnd(nouns: WriteContext, { pid, uid }: Pick<ProcessRow, "pid" | "uid">, end: RunFinished, isReceivingWork: boolean): void {
    const { processes, approvals, spending, modelFailures, emit, after, now } = nouns;
    if (approvals.withdraw(pid, end.runId, now)) after(() => emit.announceChanges(uid, ["approvals"]));
    if (end.wallMs > 0) spending.add(uid, { wallMs: end.wallMs }, now);
    if (isIdle(end) && !isReceivingWork) processes.markIdle(pid);
    if (MODEL_FAILED.has(end.reason)) modelFailures.recordFailure(uid, String(end.error), now);
    else if (end.status === "ok") modelFailures.clear(uid);
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

type ProcessStateChange = Partial<Pick<ProcessRow, "state" | "activeRunId" | "activeConversationId">>;

function processStateAfter({ signal, payload }: ProcessEvent): ProcessStateChange {
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

function makeActiveRunState({ runId, conversationId }: { runId: string; conversationId: string }): ProcessStateChange {
  return { activeRunId: runId, activeConversationId: conversationId };
}
