import { expect, test } from "vitest";
import { escapeExceptColours, Screen } from "./screen.ts";

test("colours pass, and all other control sequences are escaped", () => {
  expect(escapeExceptColours("\u001b[1;31mred\u001b[0m\u001b[38:5:1mx\u001b[m")).toBe("\u001b[1;31mred\u001b[0m\u001b[38:5:1mx\u001b[m");
  expect(escapeExceptColours("\u001b[2J\u001b]0;t\u0007\u001b[6n\u001bc\u009b31m\u001b[31\u001b[?25l")).toBe(
    "\\x1b[2J\\x1b]0;t\\x07\\x1b[6n\\x1bc\\x9b31m\\x1b[31\\x1b[?25l",
  );
  expect(escapeExceptColours("a\r\nb\rc\td\u202e")).toBe("a\nb\\x0dc\td\\u{202e}");
});

test("a split sequence is recognized, and styles are reset at the end", () => {
  const written: string[] = [];
  const stream = { isTTY: true, write: (text: string) => written.push(text) } as unknown as NodeJS.WriteStream;
  const screen = new Screen(stream);
  for (const part of ["a\u001b", "[3", "1mb\r", "\n", "\u001b["]) void screen.write(part);
  screen.end();
  expect(written.join("")).toBe("a\u001b[31mb\n\\x1b[\u001b[0m");
});

test("a pipe gets the output unchanged", () => {
  const written: string[] = [];
  const screen = new Screen({ isTTY: false, write: (text: string) => written.push(text) } as unknown as NodeJS.WriteStream);
  void screen.write("\u001b[2J\r");
  screen.end();
  expect(written).toEqual(["\u001b[2J\r"]);
});
