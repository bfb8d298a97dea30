// Data from a socket is parsed as a chunk, a note, or null.

import * as fc from "fast-check";
import { expect, it } from "vitest";
import { BODY_CHUNK_BYTES, type BodyNote, encodeBodyFrame, encodeBodySignal, newChunk, parseBodyFrame, parseBodyNote } from "./body.ts";

it("a chunk survives encoding and parsing", () => {
  fc.assert(
    fc.property(fc.nat(0xffff_ffff), fc.uint8Array({ minLength: 1, maxLength: 100 }), (id, chunk) => {
      const frame = encodeBodyFrame(id, chunk);
      expect([...frame.subarray(0, 4)]).toEqual([id & 255, (id >>> 8) & 255, (id >>> 16) & 255, id >>> 24]);
      expect(parseBodyFrame(frame)).toEqual({ id, chunk });
    }),
  );
});

it("a frame that is too short or too long is no chunk", () => {
  for (const length of [0, 3, 4, BODY_CHUNK_BYTES + 5]) expect(parseBodyFrame(new Uint8Array(length))).toBeNull();
  expect(parseBodyFrame(new Uint8Array(BODY_CHUNK_BYTES + 4))?.chunk.length).toBe(BODY_CHUNK_BYTES);
});

it("a note survives encoding and parsing, and anything else is null", () => {
  const notes: BodyNote[] = [
    { kind: "begin", size: 7, version: "v", mode: 0o644 },
    { kind: "more", from: 0, until: 9 },
    { kind: "end", sha256: "ab" },
    { kind: "busy" },
    { kind: "stop", why: "enough" },
  ];
  for (const note of notes) {
    const { payload } = JSON.parse(encodeBodySignal(5, note)) as { payload: Record<string, unknown> };
    expect(parseBodyNote(payload)).toEqual({ id: 5, note });
    expect(parseBodyNote({ ...payload, id: 2 ** 32 })).toBeNull();
    expect(parseBodyNote({ ...payload, id: "5" })).toBeNull();
    for (const name of Object.keys(note).filter((key) => key !== "kind"))
      for (const wrong of [null, -1, 0.5, {}, "x".repeat(1_001)]) expect(parseBodyNote({ ...payload, [name]: wrong })).toBeNull();
  }
  fc.assert(fc.property(fc.jsonValue(), (value) => parseBodyNote(value) === null || typeof value === "object"));
});

it("a received chunk is forwarded in the same memory under another number", () => {
  const received = encodeBodyFrame(7, Uint8Array.of(1, 2, 3));
  const { id, chunk } = parseBodyFrame(received)!;
  expect([id, ...chunk]).toEqual([7, 1, 2, 3]);
  const forwarded = encodeBodyFrame(0xffff_ffff, chunk);
  expect(forwarded.buffer).toBe(received.buffer);
  expect(parseBodyFrame(forwarded)).toEqual({ id: 0xffff_ffff, chunk: Uint8Array.of(1, 2, 3) });
});

it("only the frame's own part of a larger buffer is written", () => {
  const memory = new Uint8Array(32).fill(9);
  memory.set(encodeBodyFrame(7, Uint8Array.of(1, 2)), 10);
  encodeBodyFrame(0x01020304, parseBodyFrame(memory.subarray(10, 16))!.chunk);
  expect([...memory]).toEqual([...Array<number>(10).fill(9), 4, 3, 2, 1, 1, 2, ...Array<number>(16).fill(9)]);
});

it("a chunk that is sent twice or in part is copied", () => {
  const chunk = newChunk(3);
  chunk.set([1, 2, 3]);
  const [first, second, part] = [encodeBodyFrame(1, chunk), encodeBodyFrame(2, chunk), encodeBodyFrame(3, chunk.subarray(0, 2))];
  expect([first, second, part].map((frame) => [parseBodyFrame(frame)!.id, ...parseBodyFrame(frame)!.chunk])).toEqual([
    [1, 1, 2, 3],
    [2, 1, 2, 3],
    [3, 1, 2],
  ]);
});
