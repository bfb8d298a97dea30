// The window over a conversation's history (web/src/state/window.ts), over a history that changes under it.

import { beforeEach, expect, test } from "vitest";
import { HistoryWindow, PAGE } from "../../web/src/state/window.ts";

let history: { id: number }[];
let reads: number;
let window: HistoryWindow;

beforeEach(() => {
  reads = 0;
  history = numbered(1, 500);
  window = new HistoryWindow(async (offset, limit) => {
    reads += 1;
    // As the gateway does: a negative offset counts from the newest.
    const from = offset < 0 ? Math.max(0, history.length + offset) : offset;
    const messages = history.slice(from, from + limit).map(({ id }) => ({ id, role: "user" as const, content: "", timestamp: id }));
    return { messages, messageCount: history.length };
  });
});

function numbered(from: number, to: number): { id: number }[] {
  return Array.from({ length: to - from + 1 }, (_, at) => ({ id: from + at }));
}

function ids(): number[] {
  return window.peek()!.messages.map(({ id }) => id);
}

test("opens at the newest, grows to both ends and holds nothing twice", async () => {
  await window.readAnew();
  expect([window.peek()!.from, ids()[0], ids().at(-1)]).toEqual([500 - PAGE, 501 - PAGE, 500]);
  await window.readOlder();
  expect(ids()).toEqual(numbered(501 - 2 * PAGE, 500).map(({ id }) => id));
  history.push(...numbered(501, 503));
  await window.catchUp();
  expect(ids().slice(-4)).toEqual([500, 501, 502, 503]);
  expect(new Set(ids()).size).toBe(ids().length);
});

test("fetches all that came, however much, and once for however many ask", async () => {
  await window.readAnew();
  history.push(...numbered(501, 800));
  reads = 0;
  await Promise.all([window.catchUp(), window.catchUp(), window.catchUp()]);
  expect(ids().at(-1)).toBe(800);
  expect(ids()).toEqual(numbered(501 - PAGE, 800).map(({ id }) => id));
  expect(reads).toBe(Math.ceil(300 / PAGE));
});

test("a read that is asked for while one is under way sees what happened meanwhile", async () => {
  await window.readAnew();
  const first = window.catchUp();
  await Promise.resolve();
  history.push(...numbered(501, 501));
  await Promise.all([first, window.catchUp()]);
  expect(ids().at(-1)).toBe(501);
});

test("is read anew where the history was shortened or emptied", async () => {
  await window.readAnew();
  const { life } = window.peek()!;
  history = [{ id: 1 }, ...numbered(450, 501)];
  await window.catchUp();
  expect(ids()).toEqual(history.map(({ id }) => id));
  expect(window.peek()!.life).not.toBe(life);
  history = [];
  await window.catchUp();
  expect([ids(), window.peek()!.total]).toEqual([[], 0]);
  history = numbered(600, 601);
  await window.catchUp();
  expect(ids()).toEqual([600, 601]);
});

test("lies anywhere, keeps lying there while more is said, and reaches the newest again", async () => {
  await window.readAnew();
  await window.readAround(100);
  expect(ids()).toContain(101);
  expect(ids().length).toBe(PAGE);
  history.push(...numbered(501, 501));
  await window.catchUp();
  expect([ids().includes(501), window.peek()!.total]).toEqual([false, 501]);
  await window.readNewer();
  expect(ids().length).toBe(2 * PAGE);
  await window.readAnew();
  expect(ids().at(-1)).toBe(501);
});

test("a read that failed leaves what is there, and the next one goes on", async () => {
  await window.readAnew();
  const before = ids();
  const whole = history;
  history = null as never;
  await expect(window.catchUp()).rejects.toThrow();
  expect(ids()).toEqual(before);
  history = [...whole, { id: 501 }];
  await window.catchUp();
  expect(ids().at(-1)).toBe(501);
});
