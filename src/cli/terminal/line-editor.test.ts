import { expect, test } from "vitest";
import { LineEditor } from "./line-editor.ts";

function typeKeys(editor: LineEditor, ...keys: (string | { name: string; ctrl?: boolean; meta?: boolean; text?: string })[]): string {
  for (const key of keys) {
    if (typeof key === "string") for (const text of key) editor.press({ text });
    else editor.press(key);
  }
  return `${editor.textBeforeCursor}|${editor.text.slice(editor.textBeforeCursor.length)}`;
}

test("keys move the cursor and edit the text", () => {
  expect(typeKeys(new LineEditor(), "ac", { name: "left" }, "b", { name: "end" }, "d")).toBe("abcd|");
  expect(typeKeys(new LineEditor(), "one two", { name: "w", ctrl: true }, "2", { name: "a", ctrl: true }, ">")).toBe(">|one 2");
  expect(typeKeys(new LineEditor(), "one two", { name: "b", meta: true }, { name: "k", ctrl: true })).toBe("one |");
  expect(typeKeys(new LineEditor(), "ab", { name: "home" }, { name: "delete" }, { name: "right" }, { name: "backspace" })).toBe("|");
});

test("a grapheme cluster is one character", () => {
  expect(typeKeys(new LineEditor(), "a👩‍👩‍👧é", { name: "backspace" }, { name: "backspace" })).toBe("a|");
});

test("a pasted line break submits nothing, and control characters are dropped", () => {
  const editor = new LineEditor();
  typeKeys(
    editor,
    { name: "paste-start" },
    "a",
    { name: "return", text: "\r" },
    "b",
    { name: "up", text: "\u001b[A" },
    { name: "paste-end" },
  );
  expect(editor.text).toBe("a\nb[A");
  expect(editor.press({ name: "return", text: "\r" })).toBe("submit");
  expect(editor.press({ name: "return", text: "\r", meta: true })).toBe("edited");
  expect(editor.press({ name: "escape", text: "\u001b" })).toBe("ignored");
});

test("earlier lines can be recalled without losing the draft", () => {
  const editor = new LineEditor(["older"]);
  typeKeys(editor, "new");
  expect(editor.takeText()).toBe("new");
  expect(typeKeys(editor, "dra", { name: "up" })).toBe("new|");
  expect(typeKeys(editor, { name: "up" }, { name: "up" })).toBe("older|");
  expect(typeKeys(editor, { name: "down" }, { name: "down" }, "ft")).toBe("draft|");
});
