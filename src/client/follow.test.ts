// Following a process over a line on which answers and signals come in any order a gateway may send them.

import { expect, it } from "vitest";
import type { SignalListener } from "./client.ts";
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
  const send: SignalListener = (signal, payload, seq) => {
    for (const listener of listeners) listener(signal, payload, seq);
  };
  return { client, asked, send };
}

const piece = (seq: number, modelCall = 1) => ({
  pid: "p",
  runId: "r",
  conversationId: "default",
  modelCall,
  seq,
  event: { type: "text_delta", delta: "x" },
});

async function followed(during: (send: SignalListener) => void, answer: object) {
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
      send("proc.run.stream", piece(1));
      send("proc.run.stream", piece(2));
      send("proc.changed", { pid: "p" }, 5);
      send("proc.run.stream", piece(1, 2));
    },
    { seq: 5 },
  );
  send("proc.changed", { pid: "p" }, 6);
  expect(heard).toEqual(["piece 2.1", "event 6"]);
});

it("tells the pieces after those that are in the answer so far, and the events after its number", async () => {
  const live = { runId: "r", conversationId: "default", modelCall: 1, seq: 2, blocks: [] };
  const { heard, send } = await followed(
    (send) => {
      send("proc.changed", { pid: "p" }, 4);
      send("proc.run.stream", piece(2));
      send("proc.run.stream", piece(3));
      send("proc.changed", { pid: "p" }, 6);
    },
    { seq: 5, live },
  );
  send("proc.run.stream", piece(4));
  expect(heard).toEqual(["piece 1.3", "event 6", "piece 1.4"]);
});
