import { expect, test } from "vitest";
import { LineEditor } from "./line-editor.ts";

function typed(editor: LineEditor, ...keys: (string | { name: string; ctrl?: boolean; meta?: boolean; text?: string })[]): string {
  for (const key of keys) {
    if (typeof key === "string") for (const text of key) editor.press({ text });
    else editor.press(key);
  }
  return `${editor.before}|${editor.text.slice(editor.before.length)}`;
}

test("keys move and change what is typed", () => {
  expect(typed(new LineEditor(), "ac", { name: "left" }, "b", { name: "end" }, "d")).toBe("abcd|");
  expect(typed(new LineEditor(), "one two", { name: "w", ctrl: true }, "2", { name: "a", ctrl: true }, ">")).toBe(">|one 2");
  expect(typed(new LineEditor(), "one two", { name: "b", meta: true }, { name: "k", ctrl: true })).toBe("one |");
  expect(typed(new LineEditor(), "ab", { name: "home" }, { name: "delete" }, { name: "right" }, { name: "backspace" })).toBe("|");
});

test("what a person sees as one character is one", () => {
  expect(typed(new LineEditor(), "a👩‍👩‍👧é", { name: "backspace" }, { name: "backspace" })).toBe("a|");
});

test("a line end that is pasted sends nothing, and controls are not typed", () => {
  const editor = new LineEditor();
  typed(editor, { name: "paste-start" }, "a", { name: "return", text: "\r" }, "b", { name: "up", text: "\u001b[A" }, { name: "paste-end" });
  expect(editor.text).toBe("a\nb[A");
  expect(editor.press({ name: "return", text: "\r" })).toBe("submit");
  expect(editor.press({ name: "return", text: "\r", meta: true })).toBe("edited");
  expect(editor.press({ name: "escape", text: "\u001b" })).toBe("ignored");
});

test("earlier lines come back, and what was being typed is not lost", () => {
  const editor = new LineEditor(["older"]);
  typed(editor, "new");
  expect(editor.take()).toBe("new");
  expect(typed(editor, "dra", { name: "up" })).toBe("new|");
  expect(typed(editor, { name: "up" }, { name: "up" })).toBe("older|");
  expect(typed(editor, { name: "down" }, { name: "down" }, "ft")).toBe("draft|");
});
