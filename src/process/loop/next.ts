// Decides what a process does next, from its rows alone. Pure, so that every situation a crash may leave behind can be tested as
// a table. One step at a time: runner.ts performs it, stores the outcome, and asks again.

export type CallState =
  /** The model requested it. */
  | "wanted"
  /** A person was asked. */
  | "asked"
  /** It was sent to the kernel, maybe by an earlier instance of this process. */
  | "sent"
  | "done";

export type CallView = { callId: string; state: CallState; isOnDevice: boolean };

/** The last message in the run's conversation. */
export type LastMessageKind = "nothing" | "user" | "system" | "results" | "answer" | "wish";

export type RunView = {
  runId: string;
  conversationId: string;
  leaseUntil: number;
  said: LastMessageKind;
  /** Of the last message, in the model's order. */
  calls: readonly CallView[];
  /** Queued runs of the same conversation, oldest first. */
  behind: readonly string[];
  budget: "within" | "asked" | "spent";
  /** What follows from the history's size and its policy; measured again after every new message. */
  overflow: OverflowView;
};

export type OverflowView =
  | "unmeasured"
  /** It fits, or the policy is to continue with what fits. */
  | "none"
  | "compact"
  /** It may not be compacted. */
  | "fail"
  /** It is full, and nothing is left to compact. */
  | "empty"
  /** Compaction failed or did not make enough room. */
  | "failed";

export type ProcessView = { now: number; run: RunView | null; waiting: readonly { runId: string }[] };

export type Action =
  | { do: "rest" }
  | { do: "begin"; runId: string }
  /** Sends one of the model's calls; the kernel may ask a person first. */
  | { do: "send"; runId: string; callId: string }
  /** Waits for answers; the delivery of one calls `nextAction` again. */
  | { do: "wait"; runId: string; for: "calls" | "person" | "budget" }
  /** All calls have ended: their results become messages. */
  | { do: "collect"; runId: string }
  /** Adds queued messages of the same conversation, which are answered together with the run. */
  | { do: "join"; runId: string; runIds: readonly string[] }
  /** Measures how much of the budget is used and how full the context is. */
  | { do: "measure"; runId: string }
  | { do: "compact"; runId: string }
  | { do: "askForBudget"; runId: string }
  | { do: "generate"; runId: string }
  | { do: "end"; runId: string; status: "ok" | "error"; reason: "turn.complete" | "lease.expired" | OverflowReason };

export type OverflowReason = "context.policy.fail" | "context.auto_compact.empty" | "context.auto_compact.failed";

const OVERFLOW_REASONS: Record<"fail" | "empty" | "failed", OverflowReason> = {
  fail: "context.policy.fail",
  empty: "context.auto_compact.empty",
  failed: "context.auto_compact.failed",
};

export function nextAction({ now, run, waiting }: ProcessView): Action {
  if (run === null) return waiting[0] === undefined ? { do: "rest" } : { do: "begin", runId: waiting[0].runId };
  const { runId } = run;
  if (now >= run.leaseUntil) return { do: "end", runId, status: "error", reason: "lease.expired" };
  if (run.said === "wish") return nextForCalls(run);
  if (run.said === "answer") return { do: "end", runId, status: "ok", reason: "turn.complete" };
  // Only after results, so that no message comes between a call and its result.
  if (run.said === "results" && run.behind.length > 0) return { do: "join", runId, runIds: run.behind };
  if (run.budget === "asked") return { do: "wait", runId, for: "budget" };
  if (run.overflow === "unmeasured") return { do: "measure", runId };
  if (run.budget === "spent") return { do: "askForBudget", runId };
  if (run.overflow === "compact") return { do: "compact", runId };
  if (run.overflow !== "none") return { do: "end", runId, status: "error", reason: OVERFLOW_REASONS[run.overflow] };
  return { do: "generate", runId };
}

/** In the model's order. Calls on the gateway run one after the other; calls on devices may run in parallel. */
function nextForCalls({ runId, calls }: RunView): Action {
  for (const { callId, state, isOnDevice } of calls) {
    if (state === "wanted") return { do: "send", runId, callId };
    if (state === "asked") return { do: "wait", runId, for: "person" };
    if (state === "sent" && !isOnDevice) return { do: "wait", runId, for: "calls" };
  }
  return calls.every(({ state }) => state === "done") ? { do: "collect", runId } : { do: "wait", runId, for: "calls" };
}
