// Takes in what processes tell: keeps the list of processes current, counts what their owners use and which models fail, lets go of questions and
// routes of runs that are over, and passes everything on to those who want to hear it. What was heard before is not heard again.

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

type Finished = Payload<typeof RUN_FINISHED>;

export class ProcessEvents {
  readonly #store: Store;
  readonly #signals: ProcessSignals;
  readonly #ipc: Ipc;

  constructor(store: Store, signals: ProcessSignals, ipc: Ipc) {
    this.#store = store;
    this.#signals = signals;
    this.#ipc = ipc;
  }

  /** `isGiven`: it is just being given something to do. */
  heard(pid: string, events: readonly ProcessEvent[], isGiven: boolean): void {
    const process = this.#store.reads.processes.get(pid);
    if (process === undefined) return;
    for (const event of events) {
      const isNew = this.#store.relaxed((nouns) => this.#keep(nouns, process, event, isGiven));
      if (!isNew) continue;
      this.#signals.send(process, event);
      if (event.signal === RUN_FINISHED) this.#ended(pid, event.payload);
      // The route is needed until the last word about its run.
      if (event.signal === CHAT_COMPLETE) this.#store.relaxed(({ followers }) => followers.runEnded(pid, event.payload.runId));
    }
  }

  #ended(pid: string, { runId, status, text, error, usage }: Finished): void {
    this.#ipc.finished(pid, runId, { status, text, error, usage });
  }

  #keep(nouns: WriteContext, { pid, uid }: ProcessRow, event: ProcessEvent, isGiven: boolean): boolean {
    const { processes, spending, modelFailures, emit, after, now } = nouns;
    const { queuedCount } = event.payload;
    if (!processes.heard(pid, event.seq, { ...stateAfter(event), queuedCount }, now)) return false;
    if (LISTED.has(event.signal)) after(() => emit.changed(uid, ["processes"]));
    switch (event.signal) {
      case RUN_STARTED:
        processes.begun(pid);
        break;
      case RUN_OUTPUT:
        modelFailures.answered(uid);
        break;
      case TOOL_FINISHED:
        spending.add(uid, { toolCalls: 1 }, now);
        break;
      case PROC_CHANGED:
        if (event.payload.usage !== undefined) spending.add(uid, { modelCalls: 1, usage: event.payload.usage }, now);
        break;
      case RUN_FINISHED:
        this.#keepEnd(nouns, { pid, uid }, event.payload, isGiven);
        break;
      default:
    }
    return true;
  }

  #keepEnd(nouns: WriteContext, { pid, uid }: Pick<ProcessRow, "pid" | "uid">, end: Finished, isGiven: boolean): void {
    const { processes, approvals, spending, modelFailures, emit, after, now } = nouns;
    if (approvals.withdraw(pid, end.runId, now)) after(() => emit.changed(uid, ["approvals"]));
    if (end.wallMs > 0) spending.add(uid, { wallMs: end.wallMs }, now);
    if (isAtRest(end) && !isGiven) processes.rested(pid);
    if (MODEL_FAILED.has(end.reason)) modelFailures.failed(uid, String(end.error), now);
    else if (end.status === "ok") modelFailures.answered(uid);
  }
}

/** Nothing is worked on, and nothing waits but what somebody has put on hold. */
function isAtRest({ queuedCount, pausedCount = 0, activeRunId }: Finished): boolean {
  return queuedCount === pausedCount && activeRunId === undefined;
}

/** Why a run ended where its model did not answer. */
const MODEL_FAILED: ReadonlySet<string> = new Set(["generation.error", "generation.empty"]);

/** What changes how a list of processes looks. */
const LISTED: ReadonlySet<string> = new Set([RUN_STARTED, HIL_REQUESTED, RUN_FINISHED]);

type State = Partial<Pick<ProcessRow, "state" | "activeRunId" | "activeConversationId">>;

function stateAfter({ signal, payload }: ProcessEvent): State {
  switch (signal) {
    case RUN_STARTED:
    case RUN_OUTPUT:
    case TOOL_FINISHED:
      return { state: "running", ...workOf(payload) };
    case TOOL_STARTED:
      return { state: "waiting_tool", ...workOf(payload) };
    case HIL_REQUESTED:
      return { state: "waiting_hil", ...workOf(payload) };
    case RUN_FINISHED:
      if (payload.activeRunId !== undefined) return {};
      return { state: isAtRest(payload) ? "idle" : "queued", activeRunId: null, activeConversationId: null };
    default:
      return {};
  }
}

function workOf({ runId, conversationId }: { runId: string; conversationId: string }): State {
  return { activeRunId: runId, activeConversationId: conversationId };
}
