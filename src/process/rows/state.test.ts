// A change that fails leaves nothing behind: neither in the rows nor in what is cached of them.

import { expect, test } from "vitest";
import { MemorySql } from "../../../test/support/memory-ports.ts";
import { PROC_CHANGED } from "../../protocol/signal-names.ts";
import type { ProcessPorts } from "../kernel-port.ts";
import { State } from "./state.ts";

const CONVERSATION = "default";

test("a change that throws undoes what is cached of runs, messages, usage and events", () => {
  const ports = { sql: new MemorySql(), now: () => 1_000 } as unknown as ProcessPorts;
  const state = new State("p1", ports, { emit() {}, stream() {} });
  const say = (text: string) => state.appendMessage(CONVERSATION, null, { role: "user", text }, () => {});
  const read = () => ({
    waiting: state.runs.listWaiting().map(({ runId }) => runId),
    active: state.runs.findActive()?.runId,
    bounds: state.history.bounds(CONVERSATION),
    last: state.history.findLast(CONVERSATION)?.id,
    toolCalls: state.usage.ofProcess().toolCalls,
    seq: state.events.lastSeq,
  });
  state.change((tell) => {
    say("kept");
    tell(PROC_CHANGED, { changes: ["messages"], conversationId: CONVERSATION });
  });
  const before = read();
  const fail = () =>
    state.change((tell) => {
      state.runs.add({ runId: "r1", conversationId: CONVERSATION, reason: "proc.send", message: null, settings: null }, 1_000);
      state.beginRun("r1", "proc.send", tell);
      state.usage.addToolCalls("r1", 1);
      say("undone");
      expect(read()).toEqual({ waiting: [], active: "r1", bounds: { first: 0, next: 2 }, last: 2, toolCalls: 1, seq: 2 });
      throw new Error("on purpose");
    });
  expect(fail).toThrow("on purpose");
  expect(read()).toEqual(before);
  // The ids and numbers of what was undone are free again.
  state.change(() => say("next"));
  expect(read()).toEqual({ ...before, bounds: { first: 0, next: 2 }, last: 2 });
});
