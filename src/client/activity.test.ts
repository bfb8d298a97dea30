// What a process is doing (activity.ts): a state is an immutable value.

import { describe, expect, test } from "vitest";
import type { AnswerEvent } from "../protocol/proc-records.ts";
import { type Activity, type ActivityEvent, type StreamedAnswer, answerText, IDLE, reduce, setLiveAnswer } from "./activity.ts";

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
