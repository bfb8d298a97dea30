// Follows a process over a connection on which answers and signals arrive in any order that a gateway may send them.

import { expect, it } from "vitest";
import type { AnswerPiece, ReceivedSignal, SignalListener } from "./client.ts";
import { follow } from "./follow.ts";

/** A client whose calls the test answers. */
function fakeClient() {
  const calls: { answer(value: object): void }[] = [];
  const listeners = new Set<SignalListener>();
  const client: Parameters<typeof follow>[0] = {
    call: () => new Promise((resolve) => calls.push({ answer: (value) => resolve(value) })) as never,
    onSignal: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onReconnect: () => () => {},
  };
  const sendAll: SignalListener = (sent) => {
    for (const listener of listeners) listener(sent);
  };
  const send: Send = (what) => sendAll(typeof what === "number" ? event(what) : { signal: "proc.run.stream", payload: what });
  return { client, calls, send };
}

const piece = (seq: number, modelCall = 1): AnswerPiece => ({
  pid: "p",
  runId: "r",
  conversationId: "default",
  modelCall,
  seq,
  event: { type: "text_delta", contentIndex: 0, delta: "x" },
  timestamp: 0,
});

const event = (seq: number): ReceivedSignal => ({
  signal: "proc.changed",
  payload: { pid: "p", queuedCount: 0, timestamp: 0, changes: ["usage"] },
  seq,
});

/** Sends a piece, or the event with that number. */
type Send = (what: AnswerPiece | number) => void;

async function runFollow(during: (send: Send) => void, answer: object) {
  const { client, calls, send } = fakeClient();
  const received: string[] = [];
  const subscription = follow(client, {
    pid: "p",
    onEvent: ({ seq }) => received.push(`event ${seq}`),
    onPiece: ({ seq, modelCall }) => received.push(`piece ${modelCall}.${seq}`),
  });
  during(send);
  calls[0]!.answer({ ok: true, pid: "p", isWhole: true, events: [], live: null, ...answer });
  await subscription.begun;
  return { received, send };
}

it("drops pieces of an answer that was a message before the client started to follow", async () => {
  const { received, send } = await runFollow(
    (send) => {
      send(piece(1));
      send(piece(2));
      send(5);
      send(piece(1, 2));
    },
    { seq: 5 },
  );
  send(6);
  expect(received).toEqual(["piece 2.1", "event 6"]);
});

it("delivers the pieces after those in the live answer, and the events after its number", async () => {
  const live = { runId: "r", conversationId: "default", modelCall: 1, seq: 2, blocks: [] };
  const { received, send } = await runFollow(
    (send) => {
      send(4);
      send(piece(2));
      send(piece(3));
      send(6);
    },
    { seq: 5, live },
  );
  send(piece(4));
  expect(received).toEqual(["piece 1.3", "event 6", "piece 1.4"]);
});
