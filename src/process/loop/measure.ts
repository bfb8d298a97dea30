// Measures how much a run has used and how full its conversation is before every model call, and what follows from that.

import { findOverspent } from "./budget.ts";
import { computeContextState, estimateTokens, type Preflight, preflight, estimateContextAfterChange } from "../../agent/estimate.ts";
import type { OwnerAccount, Preparation } from "../kernel-port.ts";
import type { OverflowView } from "./next.ts";
import { type Run, activeMs } from "../rows/runs.ts";
import type { State, Tell } from "../rows/state.ts";
import type { GenerateRequest } from "./generate.ts";
import type { ContextState, Overspent, Spent } from "../../protocol/proc-records.ts";
import { PROC_CHANGED } from "../../protocol/signal-names.ts";

export type Measurement = {
  runId: string;
  /** The measurement is valid until another message is added. */
  lastMessageId: number | null;
  preparation: Preparation;
  request: GenerateRequest;
  context: ContextState;
  over: readonly Overspent[];
  overflow: OverflowView;
  /** For people, if the run has to stop. */
  why: string | null;
};

/** `request` is what would be sent, up to the last message at that time. */
export function measureRun(
  state: State,
  run: Run,
  preparation: Preparation,
  request: GenerateRequest,
  owner: OwnerAccount,
  lastMessageId: number | null,
): Measurement {
  const { runId, conversationId } = run;
  const { choice, contextWindow } = preparation;
  const known = {
    conversationId,
    runId,
    ...measureExtent(state, conversationId),
    provider: choice.provider,
    model: choice.model,
    contextWindowTokens: contextWindow,
    maxOutputTokens: choice.maxOutputTokens,
    estimatedInputTokens: request.estimatedTokens,
    updatedAt: state.ports.now(),
  };
  const context = computeContextState(known, null);
  const check = preflight(state.conversations.policy(conversationId), context, run.compactions);
  // If the model is called now, its answer soon brings a better figure, so this one is not stored.
  if (check.do !== "go") state.change((tell) => storeContext(state, context, tell));
  return {
    runId,
    lastMessageId,
    preparation,
    request,
    context,
    over: findRunOverspent(state, run, preparation, owner),
    ...toOverflowView(check),
  };
}

export function toOverflowView(check: Preflight): Pick<Measurement, "overflow" | "why"> {
  if (check.do === "go") return { overflow: "none", why: null };
  if (check.do === "compact") return { overflow: "compact", why: null };
  const { reason, why } = check;
  return { overflow: reason === "context.policy.fail" ? "fail" : reason === "context.auto_compact.empty" ? "empty" : "failed", why };
}

/** Stores the newest state of the context and reports it to followers. */
export function storeContext(state: State, context: ContextState, tell: Tell): void {
  const { conversationId, runId } = context;
  state.conversations.setMeasuredContext(conversationId, context);
  // With its run, so that only followers of that run receive it.
  tell(PROC_CHANGED, { changes: ["context"], conversationId, ...(runId === undefined ? {} : { runId }), context });
}

/** The present state: adds the estimated size of messages since the last measurement, and reads nothing older. */
export function currentContext(state: State, conversationId: string): ContextState | null {
  const context = state.conversations.measuredContext(conversationId);
  const { messageCount, lastMessageId } = measureExtent(state, conversationId);
  if (context === null || context.lastMessageId === lastMessageId) return context;
  const measured = context.lastMessageId == null ? undefined : state.history.get(context.lastMessageId);
  const { first, next } = state.history.bounds(conversationId);
  const since = [...state.history.range(conversationId, measured === undefined ? first : measured.place + 1, next)];
  const more = since.reduce((tokens, message) => tokens + estimateTokens(message), 0);
  return estimateContextAfterChange(context, more, { messageCount, lastMessageId, updatedAt: state.ports.now() });
}

export function measureExtent(state: State, conversationId: string): { messageCount: number; lastMessageId: number | null } {
  const { first, next } = state.history.bounds(conversationId);
  return { messageCount: next - first, lastMessageId: state.history.findLast(conversationId)?.id ?? null };
}

/** What a run and its process have used by now, including the time of this run. */
export function measureSpent(state: State, run: Run): { run: Spent; process: Spent } {
  const wallMs = activeMs(run, state.ports.now());
  const ofProcess = state.usage.ofProcess();
  return { run: { ...state.usage.ofRun(run.runId), wallMs }, process: { ...ofProcess, wallMs: ofProcess.wallMs + wallMs } };
}

function findRunOverspent(state: State, run: Run, { budget }: Preparation, owner: OwnerAccount): Overspent[] {
  const spent = measureSpent(state, run);
  return findOverspent(
    budget,
    { total: spent.run, since: state.usage.usedAtExtension({ runId: run.runId }) },
    { total: spent.process, since: state.usage.usedAtExtension("process") },
    owner,
  );
}
