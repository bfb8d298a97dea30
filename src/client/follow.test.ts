// Following a process over a line on which answers and signals come in any order a gateway may send them.

import { expect, it } from "vitest";
import type { AnswerPiece, SentSignal, SignalListener } from "./client.ts";
import { follow } from "./follow.ts";

/** A line whose answers a test gives. */
function line() {
  const asked: { answer(value: object): void }[] = [];
  const listeners = new Set<SignalListener>();
  const client: Parameters<typeof follow>[0] = {
    call: () => new Promise((resolve) => asked.push({ answer: (value) => resolve(value) })) as never,
    onSignal: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onBack: () => () => {},
  };
  const sendAll: SignalListener = (sent) => {
    for (const listener of listeners) listener(sent);
  };
  const send: Send = (what) => sendAll(typeof what === "number" ? event(what) : { signal: "proc.run.stream", payload: what });
  return { client, asked, send };
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

const event = (seq: number): SentSignal => ({
  signal: "proc.changed",
  payload: { pid: "p", queuedCount: 0, timestamp: 0, changes: ["usage"] },
  seq,
});

/** A piece, or the event of that number. */
type Send = (what: AnswerPiece | number) => void;

async function followed(during: (send: Send) => void, answer: object) {
  const { client, asked, send } = line();
  const heard: string[] = [];
  const following = follow(client, {
    pid: "p",
    onEvent: ({ seq }) => heard.push(`event ${seq}`),
    onPiece: ({ seq, modelCall }) => heard.push(`piece ${modelCall}.${seq}`),
  });
  during(send);
  asked[0]!.answer({ ok: true, pid: "p", isWhole: true, events: [], live: null, ...answer });
  await following.begun;
  return { heard, send };
}

it("does not tell pieces of an answer that was a message before one began to follow", async () => {
  const { heard, send } = await followed(
    (send) => {
      send(piece(1));
      send(piece(2));
      send(5);
      send(piece(1, 2));
    },
    { seq: 5 },
  );
  send(6);
  expect(heard).toEqual(["piece 2.1", "event 6"]);
});

it("tells the pieces after those that are in the answer so far, and the events after its number", async () => {
  const live = { runId: "r", conversationId: "default", modelCall: 1, seq: 2, blocks: [] };
  const { heard, send } = await followed(
    (send) => {
      send(4);
      send(piece(2));
      send(piece(3));
      send(6);
    },
    { seq: 5, live },
  );
  send(piece(4));
  expect(heard).toEqual(["piece 1.3", "event 6", "piece 1.4"]);
});
