import { expect, test } from "vitest";
import { Escape } from "../terminal/escape.ts";
import { Modes } from "../terminal/modes.ts";

test("~. at the start of a line detaches, and everything else is passed through", () => {
  const passThrough = (...pieces: string[]) => {
    const escape = new Escape();
    const passed = pieces.map((piece) => escape.filterKeys(piece));
    return [passed.map(({ text }) => text).join(""), passed.some(({ isLeaving }) => isLeaving)];
  };
  expect(passThrough("~.")).toEqual(["", true]);
  expect(passThrough("ls\r", "~", ".")).toEqual(["ls\r", true]);
  expect(passThrough("cd ~.\r")).toEqual(["cd ~.\r", false]);
  expect(passThrough("~~.x\r")).toEqual(["~.x\r", false]);
  expect(passThrough("~/bin\r~x")).toEqual(["~/bin\r~x", false]);
  expect(passThrough("~", "\r", "~.")).toEqual(["~\r", true]);
});

test("terminal modes that a program left on are switched off", () => {
  const modes = new Modes();
  modes.track("\u001b[?1049h\u001b[?2004h\u001b[?25l text \u001b[?2004l\u001b");
  modes.track("[?10");
  modes.track("00;1006h");
  expect(modes.takeResetSequence()).toBe("\u001b[?1049l\u001b[?25h\u001b[?1000l\u001b[?1006l\u001b[0m\u001b>");
  expect(modes.takeResetSequence()).toBe("\u001b[0m\u001b>");
});
