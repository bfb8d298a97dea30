// Single keys of a terminal, as they are pressed. What is pasted comes between two keys of its own, so that a line end in it sends
// nothing. The terminal is as it was when this is closed, also where the program ends in between.

import { emitKeypressEvents } from "node:readline";
import type { Key } from "./line-editor.ts";

const PASTE_ON = "\u001b[?2004h";
const PASTE_OFF = "\u001b[?2004l";

type Pressed = { name?: string; ctrl?: boolean; meta?: boolean };

/** Returns the way to stop. `draws` is where the terminal is told how to paste. */
export function onKeys(press: (key: Key) => void, draws: NodeJS.WriteStream = process.stdout): () => void {
  const { stdin } = process;
  const heard = (text: string | undefined, { name, ctrl = false, meta = false }: Pressed = {}) => press({ text, name, ctrl, meta });
  const restore = () => {
    if (stdin.isTTY) stdin.setRawMode(false);
    draws.write(PASTE_OFF);
  };
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.resume();
  draws.write(PASTE_ON);
  stdin.on("keypress", heard);
  process.once("exit", restore);
  return () => {
    stdin.off("keypress", heard);
    process.off("exit", restore);
    restore();
    stdin.pause();
  };
}
