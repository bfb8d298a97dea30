// Every situation a process can find itself in, after any crash, and what it does then.

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Action, type CallState, type LastSaid, next, type OverflowReason, type RunView, type View } from "./next.ts";

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
const at = (run: Partial<RunView> | null, waiting: string[] = []): View => ({
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
  it.each<[string, View, Action]>([
    ["nothing waits", at(null), { do: "rest" }],
    ["something waits", at(null, ["a", "b"]), { do: "begin", runId: "a" }],
  ])("%s", (_, view, action) => expect(next(view)).toEqual(action));
});

describe("with a run", () => {
  it.each<[string, Partial<RunView>, Action]>([
    ["nothing was said", { said: "nothing" }, { do: "generate", runId: "r" }],
    ["somebody has spoken", { said: "user" }, { do: "generate", runId: "r" }],
    ["the runtime has spoken", { said: "system" }, { do: "generate", runId: "r" }],
    ["the model was asked when the gateway died", { said: "user", behind: ["b"] }, { do: "generate", runId: "r" }],
    ["the model has answered", { said: "answer", behind: ["b"] }, END],
    ["its lease is over", { leaseUntil: NOW }, { do: "end", runId: "r", status: "error", reason: "lease.expired" }],
    ["results are there", { said: "results" }, { do: "generate", runId: "r" }],
    [
      "results are there and somebody has spoken meanwhile",
      { said: "results", behind: ["b", "d"] },
      { do: "join", runId: "r", runIds: ["b", "d"] },
    ],
    ["the budget is spent", { budget: "spent" }, { do: "askForBudget", runId: "r" }],
    ["more budget was asked for", { budget: "asked" }, wait("budget")],
    ["it was asked for, and nothing else matters", { budget: "asked", overflow: "unmeasured" }, wait("budget")],
    ["nobody knows how large it is", { overflow: "unmeasured" }, { do: "measure", runId: "r" }],
    ["the budget is looked at before the room", { budget: "spent", overflow: "compact" }, { do: "askForBudget", runId: "r" }],
    ["the model has answered, and it is not measured again", { said: "answer", overflow: "unmeasured" }, END],
    [
      "somebody has spoken meanwhile, which is measured with the rest",
      { said: "results", behind: ["b"], overflow: "unmeasured" },
      { do: "join", runId: "r", runIds: ["b"] },
    ],
    ["nothing is left to be shortened", { overflow: "empty" }, stop("context.auto_compact.empty")],
    ["it could not be shortened", { overflow: "failed" }, stop("context.auto_compact.failed")],
    ["the history is too long, and may be shortened", { overflow: "compact" }, { do: "compact", runId: "r" }],
    ["the history is too long", { overflow: "fail" }, stop("context.policy.fail")],
  ])("%s", (_, run, action) => expect(next(at(run))).toEqual(action));
});

describe("with calls", () => {
  it.each<[string, ReturnType<typeof calls>, Action]>([
    ["the first", calls("wanted", "wanted"), send(0)],
    ["one after the other here", calls("sent", "wanted"), wait("calls")],
    ["side by side on devices", calls("sent@", "wanted@", "wanted"), send(1)],
    ["then here", calls("sent@", "sent@", "wanted"), send(2)],
    ["a person decides before what comes after", calls("done", "asked", "wanted"), wait("person")],
    ["a device works while a person decides", calls("sent@", "asked"), wait("person")],
    ["some are not done", calls("done", "sent@"), wait("calls")],
    ["all are done", calls("done", "done"), { do: "collect", runId: "r" }],
  ])("%s", (_, wanted, action) => expect(next(at({ said: "wish", calls: wanted }))).toEqual(action));
});

it("always knows what to do, asks the model only when nothing is open, and ends only what is over", () => {
  const said = fc.constantFrom<LastSaid>("nothing", "user", "system", "results", "answer", "wish");
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
      const action = next({ now: NOW, run: one, waiting: [] });
      if (action.do === "generate") expect([one.said, one.budget, one.overflow].join()).toMatch(/^(?!wish|answer)\w+,within,none$/);
      if (action.do === "collect") expect(one.calls.every((call) => call.state === "done")).toBe(true);
      if (action.do === "send") expect(one.calls.find(({ callId }) => callId === action.callId)?.state).toBe("wanted");
      if (action.do === "join") expect(one.said).toBe("results");
      if (action.do === "end" && action.status === "ok") expect(one.said).toBe("answer");
    }),
  );
});
