import { expect, test } from "vitest";
import { yieldToEventLoop } from "../../lib/yield.ts";
import type { AnswerPiece, ProcessEvent } from "../../protocol/signals.ts";
import { fakeStore } from "../../../test/support/fake-store.ts";
import { Shares } from "../fairness/shares.ts";
import { ProcessSignals } from "./process-signals.ts";

const PROCESS = { pid: "p1", uid: 1 };
const RUN = { pid: "p1", runId: "r1", conversationId: "default", timestamp: 0 };
const piece = (seq: number, delta: string): AnswerPiece => ({
  ...RUN,
  modelCall: 1,
  seq,
  event: { type: "text_delta", contentIndex: 0, delta },
});
const output = (seq: number, text: string): ProcessEvent => ({
  seq,
  signal: "proc.run.output",
  payload: { ...RUN, queuedCount: 0, text, thinking: [] },
});

function world(followers: readonly string[]) {
  const log: string[] = [];
  const sent: Record<string, unknown>[] = [];
  const shares = new Shares({
    now: () => 0,
    yield: async () => {
      log.push("yield");
      await yieldToEventLoop();
    },
    pause: yieldToEventLoop,
    onError: (error) => log.push(String(error)),
  });
  const sockets = {
    send: (connectionId: string, text: string) => {
      log.push(connectionId);
      sent.push((JSON.parse(text) as { payload: Record<string, unknown> }).payload);
    },
  };
  const nouns = { now: 0, followers: { listByProcess: () => followers, routeOf: () => undefined }, connections: { idsOfUser: () => [] } };
  const relaxed = () => {
    throw new Error("nothing is to be written");
  };
  const signals = new ProcessSignals(fakeStore(nouns, { ports: { sockets }, relaxed }), shares);
  const waitForSent = async (count: number) => {
    while (sent.length < count) await yieldToEventLoop();
  };
  return { signals, shares, log, sent, waitForSent };
}

test("pieces that wait for the owner's share are merged, with the first number", async () => {
  const { signals, shares, sent, waitForSent } = world(["c1"]);
  signals.stream(PROCESS, piece(1, "a"));
  shares.charge(1, 1_000);
  for (const [at, delta] of ["b", "c", "d"].entries()) signals.stream(PROCESS, piece(at + 2, delta));
  expect(sent).toEqual([piece(1, "a")]);
  await waitForSent(2);
  expect(sent).toEqual([piece(1, "a"), { ...piece(4, "bcd"), firstSeq: 2 }]);
});

test("an event is sent after the pieces that wait", () => {
  const { signals, shares, sent } = world(["c1"]);
  shares.charge(1, 1_000);
  signals.stream(PROCESS, piece(1, "a"));
  signals.send(PROCESS, output(7, "a"));
  expect(sent).toEqual([piece(1, "a"), output(7, "a").payload]);
});

test("pieces are sent one by one while a connection starts to follow", async () => {
  const { signals, shares, sent } = world(["c1"]);
  shares.charge(1, 1_000);
  await signals.withSinglePieces(PROCESS, async () => {
    signals.stream(PROCESS, piece(1, "a"));
    signals.stream(PROCESS, piece(2, "b"));
  });
  expect(sent).toEqual([piece(1, "a"), piece(2, "b")]);
});

test("a long signal goes to a few followers at a time, and later signals stay behind it", async () => {
  const followers = Array.from({ length: 200 }, (_, at) => `c${at}`);
  const { signals, log, sent, waitForSent } = world(followers);
  signals.send(PROCESS, output(1, "x".repeat(128 * 1024)));
  signals.send(PROCESS, output(2, "end"));
  await waitForSent(400);
  expect(sent.findIndex(({ text }) => text === "end")).toBe(200);
  const long = log.slice(0, log.lastIndexOf("c199")).join(" ").split("yield").slice(0, -1);
  for (const names of long) expect(names.split(" ").filter(Boolean).length).toBeLessThan(50);
  expect(long.length).toBeGreaterThan(4);
});
