// What a process does next, from what it has written down and nothing else. Pure, so that every situation a crash may
// leave behind can be put into a table and looked at. One step at a time: process.ts does it, writes that down, and asks again.

export type CallState =
  /** The model wants it. */
  | "wanted"
  /** A person was asked. */
  | "asked"
  /** It was sent to be carried out, maybe by an earlier life of this process. */
  | "sent"
  | "done";

export type CallView = { callId: string; state: CallState; isOnDevice: boolean };

/** The last thing that was said in the run's conversation. */
export type LastSaid = "nothing" | "user" | "system" | "results" | "answer" | "wish";

export type RunView = {
  runId: string;
  conversationId: string;
  leaseUntil: number;
  said: LastSaid;
  /** Of the last message, in the model's order. */
  calls: readonly CallView[];
  /** Waits in the same conversation, oldest first. */
  behind: readonly string[];
  budget: "within" | "asked" | "spent";
  /** What the history's size and its policy come to; it is measured anew whenever something was said. */
  overflow: OverflowView;
};

export type OverflowView =
  | "unmeasured"
  /** It fits, or its policy is to go on with what fits. */
  | "none"
  | "compact"
  /** It may not be shortened. */
  | "fail"
  /** It is full, and nothing is left that could be shortened. */
  | "empty"
  /** Shortening it did not work, or not enough. */
  | "failed";

export type View = { now: number; run: RunView | null; waiting: readonly { runId: string }[] };

export type Action =
  | { do: "rest" }
  | { do: "begin"; runId: string }
  /** Sends one of the model's calls, or asks whether it may be. */
  | { do: "send"; runId: string; callId: string }
  /** Waits for answers; whoever brings one asks again. */
  | { do: "wait"; runId: string; for: "calls" | "person" | "budget" }
  /** All calls have ended: their results become messages. */
  | { do: "collect"; runId: string }
  /** What came meanwhile in the same conversation is said now, and answered together. */
  | { do: "join"; runId: string; runIds: readonly string[] }
  /** How much of its budget is used, and how full its context is. */
  | { do: "measure"; runId: string }
  | { do: "compact"; runId: string }
  | { do: "askForBudget"; runId: string }
  | { do: "generate"; runId: string }
  | { do: "end"; runId: string; status: "ok" | "error"; reason: "turn.complete" | "lease.expired" | OverflowReason };

export type OverflowReason = "context.policy.fail" | "context.auto_compact.empty" | "context.auto_compact.failed";

const OVERFLOWS: Record<"fail" | "empty" | "failed", OverflowReason> = {
  fail: "context.policy.fail",
  empty: "context.auto_compact.empty",
  failed: "context.auto_compact.failed",
};

export function next({ now, run, waiting }: View): Action {
  if (run === null) return waiting[0] === undefined ? { do: "rest" } : { do: "begin", runId: waiting[0].runId };
  const { runId } = run;
  if (now >= run.leaseUntil) return { do: "end", runId, status: "error", reason: "lease.expired" };
  if (run.said === "wish") return calls(run);
  if (run.said === "answer") return { do: "end", runId, status: "ok", reason: "turn.complete" };
  // Between results and the next word of the model, so that nothing said comes between a call and its result.
  if (run.said === "results" && run.behind.length > 0) return { do: "join", runId, runIds: run.behind };
  if (run.budget === "asked") return { do: "wait", runId, for: "budget" };
  if (run.overflow === "unmeasured") return { do: "measure", runId };
  if (run.budget === "spent") return { do: "askForBudget", runId };
  if (run.overflow === "compact") return { do: "compact", runId };
  if (run.overflow !== "none") return { do: "end", runId, status: "error", reason: OVERFLOWS[run.overflow] };
  return { do: "generate", runId };
}

/** In the model's order: what runs here is waited for, what runs on devices may run side by side. */
function calls({ runId, calls: wanted }: RunView): Action {
  for (const { callId, state, isOnDevice } of wanted) {
    if (state === "wanted") return { do: "send", runId, callId };
    if (state === "asked") return { do: "wait", runId, for: "person" };
    if (state === "sent" && !isOnDevice) return { do: "wait", runId, for: "calls" };
  }
  return wanted.every(({ state }) => state === "done") ? { do: "collect", runId } : { do: "wait", runId, for: "calls" };
}
