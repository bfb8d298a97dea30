import { expect, test } from "vitest";
import { Lines } from "./lines.ts";

function makeLines() {
  let wants = 0;
  const lines = new Lines(() => wants++);
  return { lines, wants: () => wants };
}

test("input is returned line by line, in order, with newlines", async () => {
  const { lines, wants } = makeLines();
  void lines.feed("one\ntwo\nthr");
  expect(await lines.next()).toBe("one\n");
  expect(await lines.next()).toBe("two\n");
  expect(wants()).toBe(0);
  const third = lines.next();
  expect(wants()).toBe(1);
  void lines.feed("e");
  // There is still no whole line, so the callback runs again.
  expect(wants()).toBe(2);
  void lines.feed("e\n");
  expect(await third).toBe("three\n");
});

test("after Ctrl-D the rest is returned first, and then always null", async () => {
  const { lines } = makeLines();
  void lines.feed("a\nrest\u0004ignored\n");
  expect(await lines.next()).toBe("a\n");
  expect(await lines.next()).toBe("rest");
  expect(await lines.next()).toBeNull();
  void lines.feed("late\n");
  expect(await lines.next()).toBeNull();
});

test("Ctrl-D resolves a pending read", async () => {
  const { lines } = makeLines();
  const pending = lines.next();
  void lines.feed("\u0004");
  expect(await pending).toBeNull();
});

test("an empty line counts as a line", async () => {
  const { lines } = makeLines();
  void lines.feed("\n\n\u0004");
  expect(await lines.next()).toBe("\n");
  expect(await lines.next()).toBe("\n");
  expect(await lines.next()).toBeNull();
});

test("unread input is buffered up to a limit", async () => {
  const { lines } = makeLines();
  for (let at = 0; at < 40; at++) void lines.feed("x".repeat(64 * 1024));
  void lines.feed("\u0004");
  expect((await lines.next())?.length).toBe(1024 * 1024);
});

test("feed resolves when there is room for more", async () => {
  const { lines } = makeLines();
  let hasRoom = false;
  const room = lines.feed(`${"x".repeat(80 * 1024)}\nrest\n`).then(() => (hasRoom = true));
  await Promise.resolve();
  expect(hasRoom).toBe(false);
  await lines.next();
  expect(await room).toBe(true);
});

test("nextFew returns whole lines and keeps the rest", async () => {
  const { lines } = makeLines();
  void lines.feed("one\ntwo\nthr");
  expect(await lines.nextLines()).toEqual(["one\n", "two\n"]);
  const rest = lines.nextLines();
  void lines.feed("ee\nfour\u0004");
  expect(await rest).toEqual(["three\n"]);
  expect(await lines.nextLines()).toEqual(["four"]);
  expect(await lines.nextLines()).toBeNull();
});
