// Where text is wrapped, and what stays on one line.

import { expect, test } from "vitest";
import * as fc from "fast-check";
import { displayWidth } from "./display-width.ts";
import { wrapText } from "./wrap.ts";

test("text is wrapped at spaces, and later lines are indented", () => {
  expect(wrapText("one two three four five six", 20)).toBe("one two three four\nfive six");
  expect(wrapText("  one two three four five six", 20, 2)).toBe("  one two three four\n    five six");
  expect(wrapText("short\n\nalso short", 20)).toBe("short\n\nalso short");
  expect(wrapText("too narrow to be wrapped", 10)).toBe("too narrow to be wrapped");
});

test("an address, code and a command stay on one line", () => {
  const url = "https://gsv.example.com/a/long/path/that/does/not/fit";
  expect(wrapText(`open ${url} now`, 20)).toBe(`open\n${url}\nnow`);
  expect(wrapText("No session: run gsv auth login --user NAME to get one", 30)).toBe(
    "No session: run\ngsv auth login --user NAME to\nget one",
  );
  expect(wrapText("the command `ls -l | wc` counts files", 24)).toBe("the command `ls -l | wc`\ncounts files");
  expect(wrapText('say (gsv notify send "The backup is done") now', 41)).toBe('say\n(gsv notify send "The backup is done")\nnow');
  // What is longer than a line is wrapped like any text.
  expect(wrapText("run gsv token create --device laptop --label 'my machine'", 24).split("\n").length).toBeGreaterThan(2);
});

test("scripts without spaces are wrapped between characters, but no line begins with a full stop", () => {
  expect(wrapText("我们在这里写一些中文的文字。好", 22)).toBe("我们在这里写一些中文的\n文字。好");
  expect(wrapText("一二三四五六七八九十。一", 20)).toBe("一二三四五六七八九\n十。一");
});

test("wide characters, marks, flags and sequences of emoji have their width", () => {
  const widths = { abc: 3, 漢字: 4, "e\u0301": 1, "。": 2, "🙂": 2, "👩‍💻": 2, "🇩🇪": 2, "👍🏽": 2, "❤️": 2, 한글: 4, "1️⃣": 2, Zoë: 3 };
  for (const [text, width] of Object.entries(widths)) expect(displayWidth(text), text).toBe(width);
});

test("wrapping changes nothing but spaces, and no line is wider than it must be", () => {
  const word = fc.oneof(fc.stringMatching(/^[a-z漢字。]{1,12}$/), fc.constantFrom("gsv auth login", "`a b`", "x".repeat(30)));
  fc.assert(
    fc.property(
      fc.array(word, { maxLength: 20 }),
      fc.integer({ min: 20, max: 60 }),
      fc.integer({ min: 0, max: 4 }),
      (words, columns, indent) => {
        const text = words.join(" ");
        const wrapped = wrapText(text, columns, indent);
        expect(wrapped.replace(/\s+/g, "")).toBe(text.replace(/\s+/g, ""));
        for (const line of wrapped.split("\n")) if (line.trim().includes(" ")) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
      },
    ),
  );
});
