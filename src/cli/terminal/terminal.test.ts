import { expect, test } from "vitest";
import { jsonText, escapeControls } from "./terminal.ts";

test("control and direction characters are escaped", () => {
  expect(escapeControls("\u001b[2Jhi\u0007\u009b31m\u007f")).toBe("\\x1b[2Jhi\\x07\\x9b31m\\x7f");
  expect(escapeControls("abc\u202etxt.exe\u2066\u2028")).toBe("abc\\u{202e}txt.exe\\u{2066}\\u{2028}");
  expect(escapeControls("a\nb", "\n")).toBe("a\nb");
  expect(escapeControls("a\nb")).toBe("a\\x0ab");
  expect(escapeControls("\ud800x")).toBe("\\u{d800}x");
  expect(escapeControls("Zoë 漢字 👩‍💻")).toBe("Zoë 漢字 👩‍💻");
});

test("JSON output keeps its value and contains no control characters", () => {
  const value = { "\u009bkey": "\u001b]0;title\u0007\u202e\u{e0001}", list: [1, null, "ok"] };
  const text = jsonText(value);
  expect(JSON.parse(text)).toEqual(value);
  expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(jsonText(undefined)).toBe("null");
});
