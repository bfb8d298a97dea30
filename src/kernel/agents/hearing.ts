// Takes in what processes tell: keeps the list of processes current, counts what their owners use and which models fail, lets go of questions and
// routes of runs that are over, and passes everything on to those who want to hear it. What was heard before is not heard again.

import type { ModelUsage } from "../../ports/models.ts";
import type { ReadContext, WriteContext } from "../context.ts";
import type { ProcessEvent } from "../../process/events.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import type { Ipc } from "./ipc.ts";
import type { ProcessSignals } from "./signals.ts";

type Means = {
  reads: ReadContext;
  relaxed: <T>(body: (nouns: WriteContext) => T) => T;
  signals: ProcessSignals;
  ipc: Ipc;
};

type Payload = Record<string, unknown>;

export class Hearing {
  readonly #means: Means;

  constructor(means: Means) {
    this.#means = means;
  }

  /** `isGiven`: it is just being given something to do. */
  heard(pid: string, events: readonly ProcessEvent[], isGiven: boolean): void {
    const process = this.#means.reads.processes.get(pid);
    if (process === undefined) return;
    for (const event of events) {
      const isNew = this.#means.relaxed((nouns) => this.#keep(nouns, process, event, isGiven));
      if (!isNew) continue;
      this.#means.signals.send(process, event.signal, event.payload, event.seq);
      if (event.signal === "proc.run.finished") this.#ended(pid, event.payload);
      // The route is needed until the last word about its run.
      if (event.signal === "chat.complete") this.#means.relaxed(({ followers }) => followers.runEnded(pid, String(event.payload.runId)));
    }
  }

  #ended(pid: string, payload: Payload): void {
    const { runId, status, text, error, usage } = payload as {
      runId: string;
      status: string;
      text: string | null;
      error?: string;
      usage?: unknown;
    };
    this.#means.ipc.finished(pid, runId, { status, text, error, usage });
  }

  #keep(nouns: WriteContext, { pid, uid }: ProcessRow, { seq, signal, payload }: ProcessEvent, isGiven: boolean): boolean {
    const { processes, approvals, spending, modelFailures, emit, after, now } = nouns;
    const queuedCount = typeof payload.queuedCount === "number" ? { queuedCount: payload.queuedCount } : {};
    if (!processes.heard(pid, seq, { ...stateAfter(signal, payload), ...queuedCount }, now)) return false;
    const { runId } = payload;
    if (LISTED.has(signal)) after(() => emit.changed(uid, ["processes"]));
    if (signal === "proc.run.finished") {
      if (approvals.withdraw(pid, String(runId), now)) after(() => emit.changed(uid, ["approvals"]));
      if (typeof payload.wallMs === "number" && payload.wallMs > 0) spending.add(uid, { wallMs: payload.wallMs }, now);
      if (isAtRest(payload) && !isGiven) processes.rested(pid);
      if (MODEL_FAILED.has(String(payload.reason))) modelFailures.failed(uid, String(payload.error), now);
      else if (payload.status === "ok") modelFailures.answered(uid);
    } else if (signal === "proc.run.started") processes.begun(pid);
    else if (signal === "proc.run.output") modelFailures.answered(uid);
    else if (signal === "proc.run.tool.finished") spending.add(uid, { toolCalls: 1 }, now);
    else if (signal === "proc.changed" && isUsage(payload)) spending.add(uid, { modelCalls: 1, usage: payload.usage as ModelUsage }, now);
    return true;
  }
}

/** Nothing is worked on, and nothing waits but what somebody has put on hold. */
function isAtRest({ queuedCount, pausedCount = 0, activeRunId }: Payload): boolean {
  return queuedCount === pausedCount && activeRunId === undefined;
}

function isUsage({ changes, usage }: Payload): boolean {
  return Array.isArray(changes) && changes.includes("usage") && typeof usage === "object";
}

/** Why a run ended where its model did not answer. */
const MODEL_FAILED: ReadonlySet<string> = new Set(["generation.error", "generation.empty"]);

/** What changes how a list of processes looks. */
const LISTED: ReadonlySet<string> = new Set(["proc.run.started", "proc.run.hil.requested", "proc.run.finished"]);

type State = Partial<Pick<ProcessRow, "state" | "activeRunId" | "activeConversationId">>;

function stateAfter(signal: string, payload: Payload): State {
  const working = { activeRunId: String(payload.runId), activeConversationId: String(payload.conversationId) };
  switch (signal) {
    case "proc.run.started":
    case "proc.run.output":
    case "proc.run.tool.finished":
      return { state: "running", ...working };
    case "proc.run.tool.started":
      return { state: "waiting_tool", ...working };
    case "proc.run.hil.requested":
      return { state: "waiting_hil", ...working };
    case "proc.run.finished":
      if (payload.activeRunId !== undefined) return {};
      return { state: isAtRest(payload) ? "idle" : "queued", activeRunId: null, activeConversationId: null };
    default:
      return {};
  }
}
