import { expect, test } from "vitest";
import { Escape } from "../terminal/escape.ts";
import { Modes } from "../terminal/modes.ts";

test("~. at the beginning of a line leaves, and anything else is passed on", () => {
  const typed = (...pieces: string[]) => {
    const escape = new Escape();
    const passed = pieces.map((piece) => escape.pass(piece));
    return [passed.map(({ text }) => text).join(""), passed.some(({ isLeaving }) => isLeaving)];
  };
  expect(typed("~.")).toEqual(["", true]);
  expect(typed("ls\r", "~", ".")).toEqual(["ls\r", true]);
  expect(typed("cd ~.\r")).toEqual(["cd ~.\r", false]);
  expect(typed("~~.x\r")).toEqual(["~.x\r", false]);
  expect(typed("~/bin\r~x")).toEqual(["~/bin\r~x", false]);
  expect(typed("~", "\r", "~.")).toEqual(["~\r", true]);
});

test("what a program switched on and left on is switched off", () => {
  const modes = new Modes();
  modes.see("\u001b[?1049h\u001b[?2004h\u001b[?25l text \u001b[?2004l\u001b");
  modes.see("[?10");
  modes.see("00;1006h");
  expect(modes.undo()).toBe("\u001b[?1049l\u001b[?25h\u001b[?1000l\u001b[?1006l\u001b[0m\u001b>");
  expect(modes.undo()).toBe("\u001b[0m\u001b>");
});
