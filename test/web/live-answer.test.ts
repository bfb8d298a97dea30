// The answer that is just coming (web/src/state/live-answer.ts): whoever holds one holds a value that nobody changes.

import { describe, expect, test } from "vitest";
import type { StreamPiece } from "../../src/client/client.ts";
import { begun, type Coming, heard } from "../../web/src/state/live-answer.ts";

let seq = 0;

describe("each piece makes another answer and leaves the one before as it was", () => {
  const events: StreamPiece["event"][] = [
    { type: "thinking_start", contentIndex: 0 },
    { type: "thinking_delta", contentIndex: 0, delta: "hm" },
    { type: "text_start", contentIndex: 1 },
    { type: "text_delta", contentIndex: 1, delta: "one " },
    { type: "text_delta", contentIndex: 1, delta: "two" },
    { type: "toolcall_start", contentIndex: 2, id: "c", name: "Read" },
    { type: "toolcall_delta", contentIndex: 2, delta: '{"path":' },
    { type: "toolcall_delta", contentIndex: 2, delta: '"x"}' },
  ];

  test("from its beginning", () => {
    const all = answers(null, events);
    expect(new Set(all).size).toBe(events.length);
    expect(all.at(-1)!.blocks).toEqual([
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "one two" },
      { type: "toolCall", id: "c", name: "Read", arguments: null, raw: '{"path":"x"}' },
    ]);
    // What a piece did not touch is the same as before: nothing is copied for it.
    expect(all.at(-1)!.blocks[1]).toBe(all.at(-2)!.blocks[1]);
  });

  test("from its middle, after a cut", () => {
    const live = { runId: "r", conversationId: "c", modelCall: 1, seq: ++seq, blocks: [{ type: "text", text: "one " }] };
    const all = answers(frozen(begun(live)), [{ type: "text_delta", contentIndex: 0, delta: "two" }]);
    expect(all.at(-1)!.blocks).toEqual([{ type: "text", text: "one two" }]);
    expect(live.blocks).toEqual([{ type: "text", text: "one " }]);
  });

  test("when a try was void", () => {
    const all = answers(null, [...events, { type: "retrying" }, { type: "text_start", contentIndex: 0 }]);
    expect(all.at(-2)).toMatchObject({ blocks: [], isRetrying: true });
    expect(all.at(-1)).toMatchObject({ blocks: [{ type: "text", text: "" }], isRetrying: false });
  });
});

test("what came already, and the end of what nobody heard the beginning of, are no news", () => {
  const [answer] = answers(null, [{ type: "text_start", contentIndex: 0 }]);
  const delta = { type: "text_delta", contentIndex: 0, delta: "again" };
  expect(heard(answer!, { ...piece(delta), seq: answer!.seq })).toBe(answer);
  expect(heard(answer!, { ...piece(delta), modelCall: 2 })).toBe(answer);
  expect(heard(null, piece(delta))).toBeNull();
});

/** Every answer on the way. Where one is changed, this throws. */
function answers(from: Coming | null, events: readonly StreamPiece["event"][]): Coming[] {
  let last = from;
  return events.map((event) => (last = frozen(heard(last, piece(event))!)));
}

function piece(event: StreamPiece["event"]): StreamPiece {
  return { runId: "r", conversationId: "c", modelCall: 1, seq: ++seq, event };
}

function frozen(answer: Coming): Coming {
  for (const block of answer.blocks) Object.freeze(block);
  Object.freeze(answer.blocks);
  return Object.freeze(answer);
}
