// How much a run has used and how full its conversation is, looked at before every model call, and what follows from that.

import { overspent } from "./budget.ts";
import { contextState, estimateTokens, type Preflight, preflight, resized } from "../../agent/estimate.ts";
import type { OwnerAccount, Preparation } from "../kernel-port.ts";
import type { OverflowView } from "./next.ts";
import { type Run, workedMs } from "../rows/runs.ts";
import type { State, Tell } from "../rows/state.ts";
import type { Request } from "./generate.ts";
import type { ContextState, Overspent, Spent } from "../../protocol/proc-records.ts";
import { PROC_CHANGED } from "../../protocol/signal-names.ts";

export type Measured = {
  runId: string;
  /** It holds until something more is said. */
  lastMessageId: number | null;
  preparation: Preparation;
  request: Request;
  context: ContextState;
  over: readonly Overspent[];
  overflow: OverflowView;
  /** For people, where the run has to stop. */
  why: string | null;
};

/** `asked` is what the model would be told, up to the last message there was then. */
export function measure(
  state: State,
  run: Run,
  preparation: Preparation,
  asked: Request,
  owner: OwnerAccount,
  lastMessageId: number | null,
): Measured {
  const { runId, conversationId } = run;
  const { choice, contextWindow } = preparation;
  const known = {
    conversationId,
    runId,
    ...extent(state, conversationId),
    provider: choice.provider,
    model: choice.model,
    contextWindowTokens: contextWindow,
    maxOutputTokens: choice.maxOutputTokens,
    estimatedInputTokens: asked.estimatedTokens,
    updatedAt: state.ports.now(),
  };
  const context = contextState(known, null);
  const found = preflight(state.conversations.policy(conversationId), context, run.compactions);
  // Where the model is asked, its answer brings a better figure in a moment, and nobody waits for the disk twice.
  if (found.do !== "go") state.change((tell) => keepContext(state, context, tell));
  return { runId, lastMessageId, preparation, request: asked, context, over: usedUp(state, run, preparation, owner), ...viewOf(found) };
}

export function viewOf(found: Preflight): Pick<Measured, "overflow" | "why"> {
  if (found.do === "go") return { overflow: "none", why: null };
  if (found.do === "compact") return { overflow: "compact", why: null };
  const { reason, why } = found;
  return { overflow: reason === "context.policy.fail" ? "fail" : reason === "context.auto_compact.empty" ? "empty" : "failed", why };
}

/** `conversations` keep the newest, and followers are told. */
export function keepContext(state: State, context: ContextState, tell: Tell): void {
  const { conversationId, runId } = context;
  state.conversations.setContext(conversationId, context);
  // With the run it comes from, so that it is told to whoever hears of that run and to nobody else.
  tell(PROC_CHANGED, { changes: ["context"], conversationId, ...(runId === undefined ? {} : { runId }), context });
}

/** As it is now: what was said since it was last looked at is added by its length, and nothing older is read. */
export function contextNow(state: State, conversationId: string): ContextState | null {
  const context = state.conversations.context(conversationId);
  const { messageCount, lastMessageId } = extent(state, conversationId);
  if (context === null || context.lastMessageId === lastMessageId) return context;
  const seen = context.lastMessageId == null ? undefined : state.history.get(context.lastMessageId);
  const { first, next } = state.history.bounds(conversationId);
  const since = [...state.history.range(conversationId, seen === undefined ? first : seen.place + 1, next)];
  const more = since.reduce((tokens, message) => tokens + estimateTokens(message), 0);
  return resized(context, more, { messageCount, lastMessageId, updatedAt: state.ports.now() });
}

export function extent(state: State, conversationId: string): { messageCount: number; lastMessageId: number | null } {
  const { first, next } = state.history.bounds(conversationId);
  return { messageCount: next - first, lastMessageId: state.history.last(conversationId)?.id ?? null };
}

/** What a run and its process have used by now, the time of this run included. */
export function spentNow(state: State, run: Run): { run: Spent; process: Spent } {
  const wallMs = workedMs(run, state.ports.now());
  const ofProcess = state.usage.ofProcess();
  return { run: { ...state.usage.ofRun(run.runId), wallMs }, process: { ...ofProcess, wallMs: ofProcess.wallMs + wallMs } };
}

function usedUp(state: State, run: Run, { budget }: Preparation, owner: OwnerAccount): Overspent[] {
  const spent = spentNow(state, run);
  return overspent(
    budget,
    { total: spent.run, since: state.usage.extendedAt({ runId: run.runId }) },
    { total: spent.process, since: state.usage.extendedAt("process") },
    owner,
  );
}
