// Bodies on sockets: which end receives what, and what happens to a sender that exceeds its window.

import { beforeEach, expect, it } from "vitest";
import type { Ports } from "../../ports/ports.ts";
import { BODY_CHUNK_BYTES, BODY_WINDOW_BYTES, type BodyEnd, type BodyNote, encodeBodyFrame } from "../../protocol/body.ts";
import { Bodies, BODIES_PER_SOCKET } from "./bodies.ts";

let sent: unknown[];
let dropped: string[];
let received: { chunks: number; notes: BodyNote[] };
let bodies: Bodies;
const end: BodyEnd = { acceptChunk: (bytes) => (received.chunks += bytes.length), acceptNote: (note) => received.notes.push(note) };
const join = (socketId: string, id: number) => bodies.connect(socketId, id, end, () => {});

beforeEach(() => {
  [sent, dropped, received] = [[], [], { chunks: 0, notes: [] }];
  const ports = {
    sockets: {
      send: (to: string, text: string) => sent.push([to, JSON.parse(text)]),
      sendBytes: (to: string, bytes: Uint8Array) => sent.push([to, bytes.length]),
    },
    meter: { countDropped: (what: string) => dropped.push(what) },
  };
  bodies = new Bodies(ports as unknown as Ports);
});

it("passes on chunks and notes of a joined body, and drops all others", () => {
  const near = join("a", 1);
  near.acceptNote({ kind: "more", from: 0, until: 100 });
  bodies.onBodyFrame("a", encodeBodyFrame(1, new Uint8Array(60)));
  bodies.handleSignal("a", { id: 1, kind: "busy" });
  expect(received).toEqual({ chunks: 60, notes: [{ kind: "busy" }] });
  bodies.onBodyFrame("a", encodeBodyFrame(2, new Uint8Array(1)));
  bodies.onBodyFrame("b", encodeBodyFrame(1, new Uint8Array(1)));
  bodies.onBodyFrame("a", new Uint8Array(3));
  bodies.handleSignal("b", { id: 1, kind: "busy" });
  bodies.handleSignal("a", { id: 1, kind: "nonsense" });
  expect(dropped).toEqual(["binary", "binary", "binary", "signal", "signal"]);
  bodies.disconnect("a", 1);
  near.acceptChunk(new Uint8Array(1));
  expect(sent).toHaveLength(1);
});

it("asks for at most one window, and stops a sender that sends more than it was asked for", () => {
  const near = join("a", 1);
  near.acceptNote({ kind: "more", from: 1_000, until: 10 * BODY_WINDOW_BYTES });
  expect(sent).toEqual([
    ["a", { type: "sig", signal: "body", payload: { id: 1, kind: "more", from: 1_000, until: 1_000 + BODY_WINDOW_BYTES } }],
  ]);
  for (let at = 0; at < BODY_WINDOW_BYTES; at += BODY_CHUNK_BYTES)
    bodies.onBodyFrame("a", encodeBodyFrame(1, new Uint8Array(BODY_CHUNK_BYTES)));
  expect(received).toEqual({ chunks: BODY_WINDOW_BYTES, notes: [] });
  bodies.onBodyFrame("a", encodeBodyFrame(1, new Uint8Array(1)));
  expect(received).toMatchObject({ chunks: BODY_WINDOW_BYTES, notes: [{ kind: "stop" }] });
  expect(dropped).toEqual(["binary"]);
});

it("stops a sender that sends before it was asked to", () => {
  join("a", 1);
  bodies.onBodyFrame("a", encodeBodyFrame(1, new Uint8Array(1)));
  expect(received).toMatchObject({ chunks: 0, notes: [{ kind: "stop" }] });
});

it("ends a body with its socket, keeps numbers unique per socket, and limits how many are open", () => {
  join("a", 1);
  expect(() => join("a", 1)).toThrow("in progress");
  bodies.onSocketClosed("a");
  expect(received.notes).toEqual([{ kind: "stop", why: "The connection was lost" }]);
  for (let count = 0; count < BODIES_PER_SOCKET; count++) join("a", bodies.newId("a"));
  expect(() => join("a", bodies.newId("a"))).toThrow("Too many");
  join("b", 1);
});
