// Every situation a process can be in, after any crash, and what it does then.

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Action,
  type CallState,
  type LastMessageKind,
  nextAction,
  type OverflowReason,
  type RunView,
  type ProcessView,
} from "./next.ts";

const NOW = 1_000;
const RUN: RunView = {
  runId: "r",
  conversationId: "c",
  leaseUntil: NOW + 1,
  said: "user",
  calls: [],
  behind: [],
  budget: "within",
  overflow: "none",
};
const at = (run: Partial<RunView> | null, waiting: string[] = []): ProcessView => ({
  now: NOW,
  run: run === null ? null : { ...RUN, ...run },
  waiting: waiting.map((runId) => ({ runId })),
});
const calls = (...states: (CallState | `${CallState}@`)[]) =>
  states.map((state, position) => ({
    callId: `call ${position}`,
    state: state.replace("@", "") as CallState,
    isOnDevice: state.endsWith("@"),
  }));
const send = (position: number): Action => ({ do: "send", runId: "r", callId: `call ${position}` });
const wait = (what: "calls" | "person" | "budget"): Action => ({ do: "wait", runId: "r", for: what });

const stop = (reason: OverflowReason): Action => ({ do: "end", runId: "r", status: "error", reason });
const END: Action = { do: "end", runId: "r", status: "ok", reason: "turn.complete" };

describe("without a run", () => {
  it.each<[string, ProcessView, Action]>([
    ["no message is queued", at(null), { do: "rest" }],
    ["messages are queued", at(null, ["a", "b"]), { do: "begin", runId: "a" }],
  ])("%s", (_, view, action) => expect(nextAction(view)).toEqual(action));
});

describe("with a run", () => {
  it.each<[string, Partial<RunView>, Action]>([
    ["nothing was said", { said: "nothing" }, { do: "generate", runId: "r" }],
    ["the last message is a person's", { said: "user" }, { do: "generate", runId: "r" }],
    ["the last message is the runtime's", { said: "system" }, { do: "generate", runId: "r" }],
    ["the gateway crashed during a model call", { said: "user", behind: ["b"] }, { do: "generate", runId: "r" }],
    ["the model has answered", { said: "answer", behind: ["b"] }, END],
    ["its lease has expired", { leaseUntil: NOW }, { do: "end", runId: "r", status: "error", reason: "lease.expired" }],
    ["all results are stored", { said: "results" }, { do: "generate", runId: "r" }],
    [
      "all results are stored and other messages arrived meanwhile",
      { said: "results", behind: ["b", "d"] },
      { do: "join", runId: "r", runIds: ["b", "d"] },
    ],
    ["the budget is spent", { budget: "spent" }, { do: "askForBudget", runId: "r" }],
    ["the budget question is open", { budget: "asked" }, wait("budget")],
    ["the budget question comes before the measurement", { budget: "asked", overflow: "unmeasured" }, wait("budget")],
    ["the history is not measured", { overflow: "unmeasured" }, { do: "measure", runId: "r" }],
    ["the budget is checked before the room", { budget: "spent", overflow: "compact" }, { do: "askForBudget", runId: "r" }],
    ["an answered run is not measured again", { said: "answer", overflow: "unmeasured" }, END],
    [
      "messages that arrived meanwhile join before the measurement",
      { said: "results", behind: ["b"], overflow: "unmeasured" },
      { do: "join", runId: "r", runIds: ["b"] },
    ],
    ["nothing is left to compact", { overflow: "empty" }, stop("context.auto_compact.empty")],
    ["compaction has failed", { overflow: "failed" }, stop("context.auto_compact.failed")],
    ["the history is too long and may be compacted", { overflow: "compact" }, { do: "compact", runId: "r" }],
    ["the history is too long and may not be compacted", { overflow: "fail" }, stop("context.policy.fail")],
  ])("%s", (_, run, action) => expect(nextAction(at(run))).toEqual(action));
});

describe("with calls", () => {
  it.each<[string, ReturnType<typeof calls>, Action]>([
    ["the first is sent first", calls("wanted", "wanted"), send(0)],
    ["calls on the gateway run one after the other", calls("sent", "wanted"), wait("calls")],
    ["calls on devices run in parallel", calls("sent@", "wanted@", "wanted"), send(1)],
    ["a call on the gateway starts while devices work", calls("sent@", "sent@", "wanted"), send(2)],
    ["a question blocks the calls after it", calls("done", "asked", "wanted"), wait("person")],
    ["a device works while a question is open", calls("sent@", "asked"), wait("person")],
    ["some have not ended", calls("done", "sent@"), wait("calls")],
    ["all have ended", calls("done", "done"), { do: "collect", runId: "r" }],
  ])("%s", (_, wanted, action) => expect(nextAction(at({ said: "wish", calls: wanted }))).toEqual(action));
});

it("always finds an action, calls the model only when nothing is open, and ends only runs that are over", () => {
  const said = fc.constantFrom<LastMessageKind>("nothing", "user", "system", "results", "answer", "wish");
  const state = fc.constantFrom<CallState>("wanted", "asked", "sent", "done");
  const run = fc.record({
    ...Object.fromEntries(Object.entries(RUN).map(([name, value]) => [name, fc.constant(value)])),
    said,
    leaseUntil: fc.constantFrom(NOW - 1, NOW + 1),
    calls: fc.array(fc.record({ callId: fc.uuid(), state, isOnDevice: fc.boolean() }), { minLength: 1, maxLength: 4 }),
    behind: fc.array(fc.uuid(), { maxLength: 2 }),
    budget: fc.constantFrom("within", "asked", "spent"),
    overflow: fc.constantFrom("unmeasured", "none", "compact", "fail", "empty", "failed"),
  }) as unknown as fc.Arbitrary<RunView>;
  fc.assert(
    fc.property(run, (one) => {
      const action = nextAction({ now: NOW, run: one, waiting: [] });
      if (action.do === "generate") expect([one.said, one.budget, one.overflow].join()).toMatch(/^(?!wish|answer)\w+,within,none$/);
      if (action.do === "collect") expect(one.calls.every((call) => call.state === "done")).toBe(true);
      if (action.do === "send") expect(one.calls.find(({ callId }) => callId === action.callId)?.state).toBe("wanted");
      if (action.do === "join") expect(one.said).toBe("results");
      if (action.do === "end" && action.status === "ok") expect(one.said).toBe("answer");
    }),
  );
});
