// What a run is said to be doing, and for how long.

import { expect, test } from "vitest";
import { IDLE, reduce } from "../../client/activity.ts";
import { PROC_CHANGED, RUN_FINISHED, RUN_STARTED, RUN_STREAM, TOOL_FINISHED, TOOL_STARTED } from "../../protocol/signal-names.ts";
import { RunPhase } from "./run-phase.ts";

const run = { pid: "p", runId: "r", conversationId: "default", timestamp: 0, queuedCount: 0 };
const piece = {
  pid: "p",
  runId: "r",
  conversationId: "default",
  timestamp: 0,
  modelCall: 1,
  seq: 1,
  event: { type: "thinking_start", contentIndex: 0 } as const,
};
const call = { ...run, callId: "c", name: "Shell", syscall: "shell.exec", args: { target: "laptop", input: "npm test\nexit" } };

test("the phases of a run follow its events, each with its own seconds", () => {
  const phase = new RunPhase();
  let activity = IDLE;
  const describe = (now: number) => phase.describe(activity, "default", now);
  expect(describe(0)).toBe("");
  activity = reduce(activity, { signal: RUN_STARTED, payload: { ...run, reason: "proc.send" } });
  expect(describe(0)).toBe("waiting for the model, 0 s");
  phase.model = "qwen3";
  expect(describe(1_000)).toBe("waiting for qwen3, 0 s");
  expect(phase.isSilent(1_500)).toBe(false);
  expect(describe(7_900)).toBe("waiting for qwen3, 6 s");
  expect(phase.isSilent(7_900)).toBe(true);
  activity = reduce(activity, { signal: RUN_STREAM, payload: piece });
  expect(describe(8_000)).toBe("thinking, 0 s");
  activity = reduce(activity, { signal: PROC_CHANGED, payload: { ...run, changes: ["messages"], role: "assistant" } });
  activity = reduce(activity, { signal: TOOL_STARTED, payload: call });
  expect(describe(9_000)).toBe("running `npm test ...` on laptop, 0 s");
  expect(describe(84_000)).toBe("running `npm test ...` on laptop, 1 min 15 s");
  activity = reduce(activity, { signal: TOOL_FINISHED, payload: { ...call, ok: true, output: "" } });
  expect(describe(85_000)).toBe("waiting for qwen3, 0 s");
  expect(phase.describe(activity, "other", 85_000)).toBe("");
  activity = reduce(activity, { signal: RUN_FINISHED, payload: { ...run, status: "ok", reason: "stop", text: "", wallMs: 86_000 } });
  expect(describe(86_000)).toBe("");
});
