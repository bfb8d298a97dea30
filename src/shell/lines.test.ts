import { expect, test } from "vitest";
import { Lines } from "./lines.ts";

function typed() {
  let wants = 0;
  const lines = new Lines(() => wants++);
  return { lines, wants: () => wants };
}

test("hands on line by line, in order, with their ends", async () => {
  const { lines, wants } = typed();
  void lines.feed("one\ntwo\nthr");
  expect(await lines.next()).toBe("one\n");
  expect(await lines.next()).toBe("two\n");
  expect(wants()).toBe(0);
  const third = lines.next();
  expect(wants()).toBe(1);
  void lines.feed("e");
  // Still no line: whoever types is told again.
  expect(wants()).toBe(2);
  void lines.feed("e\n");
  expect(await third).toBe("three\n");
});

test("Ctrl-D ends the input: first what is left, then nothing, for ever", async () => {
  const { lines } = typed();
  void lines.feed("a\nrest\u0004ignored\n");
  expect(await lines.next()).toBe("a\n");
  expect(await lines.next()).toBe("rest");
  expect(await lines.next()).toBeNull();
  void lines.feed("late\n");
  expect(await lines.next()).toBeNull();
});

test("Ctrl-D answers whoever waits", async () => {
  const { lines } = typed();
  const waiting = lines.next();
  void lines.feed("\u0004");
  expect(await waiting).toBeNull();
});

test("an empty line is a line", async () => {
  const { lines } = typed();
  void lines.feed("\n\n\u0004");
  expect(await lines.next()).toBe("\n");
  expect(await lines.next()).toBe("\n");
  expect(await lines.next()).toBeNull();
});

test("what nobody reads is kept up to a limit", async () => {
  const { lines } = typed();
  for (let at = 0; at < 40; at++) void lines.feed("x".repeat(64 * 1024));
  void lines.feed("\u0004");
  expect((await lines.next())?.length).toBe(1024 * 1024);
});

test("whoever types is told when there is room for more", async () => {
  const { lines } = typed();
  let hasRoom = false;
  const room = lines.feed(`${"x".repeat(80 * 1024)}\nrest\n`).then(() => (hasRoom = true));
  await Promise.resolve();
  expect(hasRoom).toBe(false);
  await lines.next();
  expect(await room).toBe(true);
});

test("several at once are whole lines, and the rest stays", async () => {
  const { lines } = typed();
  void lines.feed("one\ntwo\nthr");
  expect(await lines.nextFew()).toEqual(["one\n", "two\n"]);
  const rest = lines.nextFew();
  void lines.feed("ee\nfour\u0004");
  expect(await rest).toEqual(["three\n"]);
  expect(await lines.nextFew()).toEqual(["four"]);
  expect(await lines.nextFew()).toBeNull();
});
