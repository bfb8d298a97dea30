// What a process is doing (activity.ts): a state is an immutable value.

import { describe, expect, test } from "vitest";
import type { AnswerEvent } from "../protocol/proc-records.ts";
import {
  type Activity,
  type ActivityEvent,
  type StreamedAnswer,
  answerText,
  findScriptOf,
  IDLE,
  reduce,
  setLiveAnswer,
} from "./activity.ts";

const COMMON = { pid: "p", runId: "r", conversationId: "c", queuedCount: 0, timestamp: 0 };

let seq = 0;

describe("each piece makes a new answer and leaves the previous one unchanged", () => {
  const events: AnswerEvent[] = [
    { type: "thinking_start", contentIndex: 0 },
    { type: "thinking_delta", contentIndex: 0, delta: "hm" },
    { type: "text_start", contentIndex: 1 },
    { type: "text_delta", contentIndex: 1, delta: "one " },
    { type: "text_delta", contentIndex: 1, delta: "two" },
    { type: "toolcall_start", contentIndex: 2, id: "c", name: "Read" },
    { type: "toolcall_delta", contentIndex: 2, delta: '{"path":' },
    { type: "toolcall_delta", contentIndex: 2, delta: '"x"}' },
  ];

  test("from the start", () => {
    const all = answers(IDLE, events);
    expect(new Set(all).size).toBe(events.length);
    expect(all.at(-1)!.blocks).toEqual([
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "one two" },
      { type: "toolCall", id: "c", name: "Read", arguments: null, raw: '{"path":"x"}' },
    ]);
    // A block that a piece does not change is shared and not copied.
    expect(all.at(-1)!.blocks[1]).toBe(all.at(-2)!.blocks[1]);
  });

  test("from the middle, after a disconnect", () => {
    const live = { runId: "r", conversationId: "c", modelCall: 1, seq: 7, blocks: [{ type: "text" as const, text: "one " }] };
    seq = 7;
    const answer = next(setLiveAnswer(IDLE, live), { type: "text_delta", contentIndex: 0, delta: "two" }).answer!;
    expect(answer.blocks).toEqual([{ type: "text", text: "one two" }]);
    expect(live.blocks).toEqual([{ type: "text", text: "one " }]);
  });

  test("when an attempt was void", () => {
    const all = answers(IDLE, [...events, { type: "retrying", attempt: 2, waitMs: 0, why: "" }, { type: "text_start", contentIndex: 0 }]);
    expect(all.at(-2)).toMatchObject({ blocks: [], isRetrying: true });
    expect(all.at(-1)).toMatchObject({ blocks: [{ type: "text", text: "" }], isRetrying: false });
  });

  test("when the gateway restarted and calls the model again", () => {
    const half = reduceAll(IDLE, events);
    seq = 0;
    const restarted = next(half, { type: "text_start", contentIndex: 0 });
    expect(restarted.answer).toMatchObject({ seq: 1, blocks: [{ type: "text", text: "" }] });
  });
});

test("a piece that the answer has already, or of an answer whose start is missing, changes nothing", () => {
  const [start, delta] = [
    { type: "text_start", contentIndex: 0 },
    { type: "text_delta", contentIndex: 0, delta: "again" },
  ] as const;
  const partial = reduceAll(IDLE, [start]);
  expect(reduce(partial, { ...piece(delta, 1) })).toBe(partial);
  expect(reduce(IDLE, piece(delta, 5))).toBe(IDLE);
});

test("nothing is added after a missing piece, and merged pieces leave no gap", () => {
  const delta = (text: string) => ({ type: "text_delta", contentIndex: 0, delta: text }) as const;
  const partial = reduceAll(IDLE, [{ type: "text_start", contentIndex: 0 }, delta("a")]);
  const joined = reduce(partial, piece(delta("bc"), 4, 3));
  expect(joined.answer).toMatchObject({ seq: 4, hasGap: false, blocks: [{ text: "abc" }] });
  const gap = reduce(joined, piece(delta("e"), 6));
  expect(gap.answer).toMatchObject({ seq: 6, hasGap: true, blocks: [{ text: "abc" }] });
  expect(reduce(gap, piece(delta("f"), 7)).answer).toMatchObject({ hasGap: true, blocks: [{ text: "abc" }] });
});

test("an answer is over when it is a message or its run has ended, and later pieces are ignored", () => {
  const message: ActivityEvent = { signal: "proc.changed", payload: { ...COMMON, changes: ["messages"], role: "assistant", messageId: 2 } };
  const ends: ActivityEvent[] = [message, output("a"), finishEvent()];
  for (const end of ends) {
    const after = reduce(reduceAll(IDLE, [{ type: "text_start", contentIndex: 0 }]), end);
    expect(after.answer).toBeNull();
    expect(reduce(after, piece({ type: "text_delta", contentIndex: 0, delta: "late" }, 2))).toBe(after);
    expect(setLiveAnswer(after, { runId: "r", conversationId: "c", modelCall: 1, seq: 1, blocks: [] }).answer).toBeNull();
  }
});

test("runs and their calls are listed from their start until the run ends", () => {
  const started: ActivityEvent = { signal: "proc.run.started", payload: { ...COMMON, reason: "proc.send" } };
  const call = { ...COMMON, callId: "1", name: "Read", syscall: "fs.read" };
  const running = reduce(reduce(IDLE, started), {
    signal: "proc.run.tool.started",
    payload: { ...call, args: { path: "a" }, timestamp: 100 },
  });
  expect([...running.runs]).toEqual([["r", "c"]]);
  expect(running.calls.get("1")).toMatchObject({ args: { path: "a" }, startedAt: 100, end: null });
  const done = reduce(running, { signal: "proc.run.tool.finished", payload: { ...call, ok: false, error: "Error: no", timestamp: 130 } });
  expect(done.calls.get("1")).toMatchObject({ args: { path: "a" }, end: { ok: false, text: "Error: no", outcome: null, durationMs: 30 } });
  expect(running.calls.get("1")!.end).toBeNull();
  expect(reduce(done, finishEvent())).toMatchObject({ runs: new Map(), calls: new Map() });
});

describe("calls of a script", () => {
  const script = { ...COMMON, callId: "s", name: "CodeMode", syscall: "codemode.exec" };
  const nested = (callId: string) => ({ ...COMMON, callId, scriptCallId: "s", name: "Read", syscall: "fs.read" });
  const startScript: ActivityEvent = { signal: "proc.run.tool.started", payload: { ...script, args: { code: "" } } };
  const startNested = (callId: string, args: Record<string, unknown> = {}, timestamp = 0): ActivityEvent => ({
    signal: "proc.run.tool.started",
    payload: { ...nested(callId), args, timestamp },
  });
  const finishNested = (callId: string, end: object = { ok: true, output: "" }, timestamp = 0): ActivityEvent => ({
    signal: "proc.run.tool.finished",
    payload: { ...nested(callId), ok: true, ...end, timestamp },
  });
  const askAbout = (callId: string, timestamp = 0): ActivityEvent => ({
    signal: "proc.run.hil.requested",
    payload: {
      ...nested(callId),
      toolName: "Write",
      syscall: "fs.write",
      args: { path: "b" },
      requestId: "q",
      createdAt: 0,
      expiresAt: 1,
      target: "gsv",
      cwd: "/",
      why: "",
      title: "",
      explanation: "",
      timestamp,
    },
  });
  const all = (events: readonly ActivityEvent[]) => events.reduce(reduce, IDLE);
  const calls = (activity: Activity) => activity.scripts.get("s")?.calls ?? [];

  test("belong to the script's call, in their order, and are none of the model's", () => {
    const running = all([startScript, startNested("1", { path: "a" }), startNested("2"), finishNested("2", { durationMs: 7 })]);
    expect([...running.calls.keys()]).toEqual(["s"]);
    expect(running.scripts.get("s")).toMatchObject({ runId: "r", hasStart: true, count: 2 });
    expect(calls(running)).toMatchObject([
      { callId: "1", name: "Read", args: { path: "a" }, isAsked: false, end: null },
      { callId: "2", end: { ok: true, durationMs: 7 } },
    ]);
    expect(findScriptOf(running, "2")).toBe("s");
    expect(findScriptOf(running, "s")).toBeNull();
    const failed = reduce(running, finishNested("1", { ok: false, error: "no such file" }));
    expect(calls(failed)[0]).toMatchObject({ args: { path: "a" }, end: { ok: false, text: "no such file" } });
    expect(calls(running)[0]!.end).toBeNull();
  });

  test("wait while a person is asked, and then run or have not run", () => {
    const asked = all([startScript, startNested("1"), askAbout("2", 100)]);
    expect(calls(asked)).toMatchObject([{ isAsked: false }, { callId: "2", name: "Write", args: { path: "b" }, isAsked: true, end: null }]);
    const allowed = reduce(asked, startNested("2", { path: "b" }, 5_000));
    expect(calls(allowed)).toMatchObject([{}, { isAsked: false, startedAt: 5_000, end: null }]);
    const denied = reduce(asked, finishNested("2", { ok: false, error: "no", outcome: "denied" }, 5_000));
    expect(calls(denied)).toMatchObject([{}, { args: { path: "b" }, isAsked: false, end: { outcome: "denied", durationMs: 0 } }]);
  });

  test("are known without the start of their script, or their own", () => {
    expect(calls(all([finishNested("1")]))).toMatchObject([{ callId: "1", name: "Read", args: {}, end: { ok: true } }]);
    expect(all([finishNested("1")]).scripts.get("s")!.hasStart).toBe(false);
    expect(calls(all([finishNested("1"), startNested("1")]))).toMatchObject([{ end: { ok: true } }]);
  });

  test("end with the script, and stay when the run has ended", () => {
    const running = all([startScript, finishNested("1"), startNested("2", {}, 10)]);
    const end: ActivityEvent = { signal: "proc.run.tool.finished", payload: { ...script, ok: true, output: "{}", timestamp: 40 } };
    const stopped = [{ end: { ok: true } }, { end: { ok: false, outcome: "stopped", durationMs: 30 } }];
    const ended = reduce(reduce(running, end), finishEvent());
    expect(calls(ended)).toMatchObject(stopped);
    expect(ended.calls.size).toBe(0);
    expect(calls(reduce(running, finishEvent()))).toMatchObject([{ end: { ok: true } }, { end: { outcome: "stopped" } }]);
  });

  test("are shortened, and of many only the newest and those that run are kept", () => {
    expect(calls(all([startNested("1", { path: "a", content: "x".repeat(10_000), list: ["y".repeat(10_000)] })]))[0]!.args).toEqual({
      path: "a",
      content: `${"x".repeat(500)}…`,
      list: expect.stringMatching(/^\["y{498}…$/) as string,
    });
    const many = Array.from({ length: 300 }, (_, at) => [startNested(`${at}`), ...(at === 0 ? [] : [finishNested(`${at}`)])]).flat();
    const kept = all(many).scripts.get("s")!;
    expect(kept.count).toBe(300);
    expect(kept.calls.map(({ callId }) => callId).slice(0, 2)).toEqual(["0", "101"]);
    expect(kept.calls.at(-1)!.callId).toBe("299");
  });

  test("of scripts before the last twenty are dropped", () => {
    const events = Array.from({ length: 25 }, (_, at): ActivityEvent => {
      const payload = { ...nested("1"), callId: `${at}`, scriptCallId: `s${at}`, args: {} };
      return { signal: "proc.run.tool.started", payload };
    });
    expect([...all(events).scripts.keys()]).toEqual(Array.from({ length: 20 }, (_, at) => `s${at + 5}`));
  });
});

test("a retry is shown until the model has answered", () => {
  const retrying = reduce(IDLE, { signal: "proc.run.retrying", payload: { ...COMMON, attempt: 2, waitMs: 10, why: "overloaded" } });
  expect(retrying.retrying).toEqual({ conversationId: "c", why: "overloaded" });
  const message: ActivityEvent = { signal: "proc.changed", payload: { ...COMMON, changes: ["messages"], role: "assistant", messageId: 2 } };
  expect(reduce(retrying, message).retrying).toBeNull();
  expect(reduce(retrying, { signal: "proc.changed", payload: { ...COMMON, changes: ["usage"] } }).retrying).not.toBeNull();
});

test("the text of an answer joins its text blocks as paragraphs", () => {
  const blocks = [{ type: "thinking", thinking: "hm" }, { type: "text", text: "a" }, undefined, { type: "text", text: "b" }] as const;
  expect(answerText({ blocks })).toBe("a\n\nb");
  expect(answerText({ blocks: [...blocks, { type: "text", text: "" }] })).toBe("a\n\nb\n\n");
  expect(answerText({ blocks: [{ type: "text", text: "" }, ...blocks] })).toBe("a\n\nb");
});

/** The answer after each event. Throws if the reducer mutates one. */
function answers(from: Activity, events: readonly AnswerEvent[]): StreamedAnswer[] {
  seq = 0;
  let last = from;
  return events.map((event) => (last = next(last, event)).answer!);
}

function reduceAll(from: Activity, events: readonly AnswerEvent[]): Activity {
  seq = 0;
  return events.reduce(next, from);
}

function next(activity: Activity, event: AnswerEvent): Activity {
  const after = reduce(activity, piece(event, ++seq));
  for (const block of after.answer?.blocks ?? []) Object.freeze(block);
  Object.freeze(after.answer?.blocks);
  Object.freeze(after.answer);
  return Object.freeze(after);
}

function piece(event: AnswerEvent, number: number, firstSeq?: number): ActivityEvent {
  const { queuedCount: _, ...common } = COMMON;
  return {
    signal: "proc.run.stream",
    payload: { ...common, modelCall: 1, seq: number, ...(firstSeq === undefined ? {} : { firstSeq }), event },
  };
}

function output(text: string): ActivityEvent {
  return { signal: "proc.run.output", payload: { ...COMMON, text, thinking: [] } };
}

function finishEvent(): ActivityEvent {
  return { signal: "proc.run.finished", payload: { ...COMMON, status: "ok", reason: "completed", text: null, wallMs: 1 } };
}
