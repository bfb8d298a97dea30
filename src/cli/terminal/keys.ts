// Single keys of a terminal, as they are pressed. Pasted text arrives between two marker keys, so that a line break in it submits
// nothing. The terminal is restored when this is closed, and when the program exits before that.

import { emitKeypressEvents } from "node:readline";
import type { Key } from "./line-editor.ts";

const PASTE_ON = "\u001b[?2004h";
const PASTE_OFF = "\u001b[?2004l";

type KeypressInfo = { name?: string; ctrl?: boolean; meta?: boolean };

/** Returns a function that stops. Bracketed paste is switched on and off on `output`. */
export function onKeys(press: (key: Key) => void, output: NodeJS.WriteStream = process.stdout): () => void {
  const { stdin } = process;
  const onKeypress = (text: string | undefined, { name, ctrl = false, meta = false }: KeypressInfo = {}) =>
    press({ text, name, ctrl, meta });
  const restore = () => {
    if (stdin.isTTY) stdin.setRawMode(false);
    output.write(PASTE_OFF);
  };
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.resume();
  output.write(PASTE_ON);
  stdin.on("keypress", onKeypress);
  process.once("exit", restore);
  return () => {
    stdin.off("keypress", onKeypress);
    process.off("exit", restore);
    restore();
    stdin.pause();
  };
}
