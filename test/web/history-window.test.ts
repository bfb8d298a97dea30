// The window over a conversation's history (web/src/state/history-window.ts), while the history changes.

import { beforeEach, expect, test } from "vitest";
import { HistoryWindow, PAGE } from "../../web/src/state/history-window.ts";

let history: { id: number }[];
let reads: number;
let window: HistoryWindow;

beforeEach(() => {
  reads = 0;
  history = messageRange(1, 500);
  window = new HistoryWindow(async (offset, limit) => {
    reads += 1;
    // As on the gateway: a negative offset counts from the newest.
    const from = offset < 0 ? Math.max(0, history.length + offset) : offset;
    const messages = history.slice(from, from + limit).map(({ id }) => ({ id, role: "user" as const, content: "", timestamp: id }));
    return { messages, messageCount: history.length };
  });
});

function messageRange(from: number, to: number): { id: number }[] {
  return Array.from({ length: to - from + 1 }, (_, at) => ({ id: from + at }));
}

function ids(): number[] {
  return window.peek()!.messages.map(({ id }) => id);
}

test("opens at the newest, extends in both directions and holds nothing twice", async () => {
  await window.reload();
  expect([window.peek()!.from, ids()[0], ids().at(-1)]).toEqual([500 - PAGE, 501 - PAGE, 500]);
  await window.readOlder();
  expect(ids()).toEqual(messageRange(501 - 2 * PAGE, 500).map(({ id }) => id));
  history.push(...messageRange(501, 503));
  await window.catchUp();
  expect(ids().slice(-4)).toEqual([500, 501, 502, 503]);
  expect(new Set(ids()).size).toBe(ids().length);
});

test("fetches everything new, with one set of reads for concurrent callers", async () => {
  await window.reload();
  history.push(...messageRange(501, 800));
  reads = 0;
  await Promise.all([window.catchUp(), window.catchUp(), window.catchUp()]);
  expect(ids().at(-1)).toBe(800);
  expect(ids()).toEqual(messageRange(501 - PAGE, 800).map(({ id }) => id));
  expect(reads).toBe(Math.ceil(300 / PAGE));
});

test("a read requested during another sees changes made meanwhile", async () => {
  await window.reload();
  const first = window.catchUp();
  await Promise.resolve();
  history.push(...messageRange(501, 501));
  await Promise.all([first, window.catchUp()]);
  expect(ids().at(-1)).toBe(501);
});

test("reloads when the history was compacted or emptied", async () => {
  await window.reload();
  const { reloads } = window.peek()!;
  history = [{ id: 1 }, ...messageRange(450, 501)];
  await window.catchUp();
  expect(ids()).toEqual(history.map(({ id }) => id));
  expect(window.peek()!.reloads).not.toBe(reloads);
  history = [];
  await window.catchUp();
  expect([ids(), window.peek()!.total]).toEqual([[], 0]);
  history = messageRange(600, 601);
  await window.catchUp();
  expect(ids()).toEqual([600, 601]);
});

test("can be at any position, stays there while messages arrive, and returns to the newest", async () => {
  await window.reload();
  await window.readAround(100);
  expect(ids()).toContain(101);
  expect(ids().length).toBe(PAGE);
  history.push(...messageRange(501, 501));
  await window.catchUp();
  expect([ids().includes(501), window.peek()!.total]).toEqual([false, 501]);
  await window.readNewer();
  expect(ids().length).toBe(2 * PAGE);
  await window.reload();
  expect(ids().at(-1)).toBe(501);
});

test("a failed read keeps the content, and the next one succeeds", async () => {
  await window.reload();
  const before = ids();
  const whole = history;
  history = null as never;
  await expect(window.catchUp()).rejects.toThrow();
  expect(ids()).toEqual(before);
  history = [...whole, { id: 501 }];
  await window.catchUp();
  expect(ids().at(-1)).toBe(501);
});
