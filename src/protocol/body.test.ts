// Whatever comes from a socket is a chunk, a note, or nothing.

import * as fc from "fast-check";
import { expect, it } from "vitest";
import { BODY_CHUNK_BYTES, type BodyNote, bodyFrame, bodySignal, parseBodyFrame, parseBodyNote } from "./body.ts";

it("a chunk comes out as it went in", () => {
  fc.assert(
    fc.property(fc.nat(0xffff_ffff), fc.uint8Array({ minLength: 1, maxLength: 100 }), (id, chunk) => {
      const frame = bodyFrame(id, chunk);
      expect([...frame.subarray(0, 4)]).toEqual([id & 255, (id >>> 8) & 255, (id >>> 16) & 255, id >>> 24]);
      expect(parseBodyFrame(frame)).toEqual({ id, chunk });
    }),
  );
});

it("what is too short or too long is no chunk", () => {
  for (const length of [0, 3, 4, BODY_CHUNK_BYTES + 5]) expect(parseBodyFrame(new Uint8Array(length))).toBeNull();
  expect(parseBodyFrame(new Uint8Array(BODY_CHUNK_BYTES + 4))?.chunk.length).toBe(BODY_CHUNK_BYTES);
});

it("a note comes out as it went in, and anything else is none", () => {
  const notes: BodyNote[] = [
    { kind: "begin", size: 7, version: "v", mode: 0o644 },
    { kind: "more", from: 0, until: 9 },
    { kind: "end", sha256: "ab" },
    { kind: "busy" },
    { kind: "stop", why: "enough" },
  ];
  for (const note of notes) {
    const { payload } = JSON.parse(bodySignal(5, note)) as { payload: Record<string, unknown> };
    expect(parseBodyNote(payload)).toEqual({ id: 5, note });
    expect(parseBodyNote({ ...payload, id: 2 ** 32 })).toBeNull();
    expect(parseBodyNote({ ...payload, id: "5" })).toBeNull();
    for (const name of Object.keys(note).filter((key) => key !== "kind"))
      for (const wrong of [null, -1, 0.5, {}, "x".repeat(1_001)]) expect(parseBodyNote({ ...payload, [name]: wrong })).toBeNull();
  }
  fc.assert(fc.property(fc.jsonValue(), (value) => parseBodyNote(value) === null || typeof value === "object"));
});
